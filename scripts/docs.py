"""Writes the reference parts of docs/, and the limits in hand-outs, from the code: they cannot say else.

A part stands between `<!-- generated: NAME -->` and `<!-- end -->`; the rest of a page is written by people.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from enum import StrEnum
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import click

from grader import hookspecs
from grader.api import check as check_names
from grader.cli.main import COMMANDS, cli
from grader.config import course, evidence_file, rubric_keys
from grader.config.rubric import load_rubric
from grader.config.type_words import describe
from grader.contracts import context as context_contract
from grader.contracts import engine, exporter, platform, report
from grader.contracts.sandbox import Promise
from grader.lms.fill import GradeColumn, Layout
from grader.lms.http import Http
from grader.model import assignment, drawing, evidence, observation, score, submission, trace
from grader.model.options import FunctionName, InputsName, OracleName, ProgramFile, SubmittedFile, UsedItem
from grader.model.rubric import Rubric
from grader.model.view import AudienceView
from grader.plugins import Plugins
from grader.reports import score_json
from grader.scoring.judge import REASONS
from grader.scoring.late import spelled
from grader.selftest import expectations

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PART = re.compile(r"(?<=<!-- generated: )([a-z-]+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)

REQUIRED = "required"
TRACE_VALUES = (trace.Trace, trace.Launch, trace.Transfer, trace.Traffic, trace.DeviceWork)
"""What a kind of check may read of the work of a GPU."""
NAMES = {
    FunctionName: "a function of the submission",
    InputsName: "a function of `inputs.py`",
    OracleName: "a function of `expected.py`",
    ProgramFile: "a file that `accepts` lets in, or of `given/`",
    SubmittedFile: "a file that `accepts` lets in",
    UsedItem: "an item in `uses`",
    tuple[SubmittedFile, ...]: "a list of files that `accepts` lets in",
    tuple[OracleName, ...]: "a list of functions of `expected.py`",
    expectations.AssignmentName | None: "an assignment",
    expectations.RubricName | None: "a rubric",
    expectations.SandboxName | None: "a sandbox",
}
"""What the names in a file of a course are names of."""


def table(*rows: Iterable[str]) -> str:
    """A table of Markdown; the first row is its head."""
    head, *body = (tuple(cell.replace("|", "\\|") for cell in row) for row in rows)
    lines = (head, ("---",) * len(head), *body)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def first_paragraph(thing: object) -> str:
    """What a docstring says before its first empty line, on one line."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def attributes(kind: type) -> Iterator[tuple[str, str, str, str]]:
    """Name, type, default and docstring of each field or member, as its source says them."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    statements = definition.body
    for statement, following in zip(statements, [*statements[1:], None], strict=True):
        doc = ""
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            doc = " ".join(str(following.value.value).split())
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                default = REQUIRED if value is None else default_text(value)
                match value:  # a key of YAML is described where it is declared
                    case ast.Call(func=ast.Name(id="option"), args=[ast.Constant(value=str(text)), *_]):
                        doc = doc or text
                yield name, ast.unparse(annotation), default, doc
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                yield name, "", repr(value), doc


def default_text(value: ast.expr) -> str:
    """A default as source text; a factory by what it makes."""
    text = ast.unparse(value)
    made = re.fullmatch(r"field\(default_factory=(\w+)\)", text)
    return {"dict": "{}", "list": "[]"}.get(made[1], f"{made[1]}()") if made else text


def noun(kind: type, intro: str = "") -> str:
    """One dataclass or enumeration, field by field."""
    if issubclass(kind, StrEnum):
        docs = {name: doc for name, _, _, doc in attributes(kind)}
        rows = ((f"`{member}`", docs[member.name] or REASONS.get(member, "")) for member in kind)
        body = table(("value", "means"), *rows)
    else:
        rows = ((f"`{name}`", f"`{of}`", doc) for name, of, _, doc in attributes(kind))
        body = table(("field", "type", "is"), *rows)
    return f"### {kind.__name__}\n\n{intro or first_paragraph(kind)}\n\n{body}\n"


def keys(kind: type) -> str:
    """The YAML keys that a dataclass accepts."""
    from dataclasses import fields

    from grader.config.decode import keys_of

    own = keys_of(kind)
    rows = [
        (
            f"`{f.name}`",
            NAMES.get(own[f.name].kind) or describe(own[f.name].kind, own[f.name].above),
            REQUIRED if own[f.name].required else yaml_default(f),
            "re-scores" if f.metadata.get("judges") else "observes again",
            f.metadata.get("doc", ""),
        )
        for f in sorted(fields(kind), key=lambda f: not own[f.name].required)
    ]
    judging = any(row[3] == "re-scores" for row in rows)
    head = ("key", "value", "default", "a change", "says")
    return table(*(row if judging else (*row[:3], row[4]) for row in (head, *rows)))


def yaml_default(key: Any) -> str:
    """A key's default as a rubric would write it; nested mappings are described in the text."""
    value = key.default
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, int | float | str) and value != "":
        return f"`{value}`"
    return "`[]`" if value == () else ""


def check_kinds() -> str:
    """Every built-in kind of check with its options."""
    parts = []
    for name, kind in Plugins().checks.items():
        doc = inspect.getdoc(kind) or ""
        parts.append(f"### `{name}`\n\n{doc}\n\n{keys(kind.Options)}\n{keys_below(kind.Options)}")
    return "".join(parts)


def course_keys() -> str:
    """The keys of `course.yaml`, with those of the built-in platforms."""
    platforms = Plugins().platforms
    kind = course.keys_with({name: platform.Options for name, platform in platforms.items()})
    return f"{keys(kind)}\n{keys_below(kind)}"


def engine_keys() -> str:
    """The keys of the settings of each built-in engine."""
    from grader.config.decode import keys_of

    engines = {name: engine.Options for name, engine in Plugins().engines.items() if keys_of(engine.Options)}
    return "".join(
        f"### `engines: {name}:`\n\n{keys(options)}\n{keys_below(options)}"
        for name, options in engines.items()
    )


def keys_below(options: type) -> str:
    """A table for the keys whose values are mappings, or lists of mappings, with keys of their own."""
    from grader.config.decode import keys_of

    names: dict[type, list[str]] = {}
    for name, key in keys_of(options).items():
        for kind in (key.kind, *get_args(key.kind)):
            if is_dataclass(kind) and isinstance(kind, type):
                names.setdefault(kind, []).append(f"`{name}`")
    return "".join(
        f"Below {', '.join(above)}:\n\n{keys(kind)}\n{keys_below(kind)}" for kind, above in names.items()
    )


def promises() -> str:
    """What each sandbox keeps a submission from, the strongest first."""
    layers = Plugins().sandboxes
    rows = (
        (
            promise.value,
            *("yes" if promise in layer.promises else "**no**" for layer in layers),
        )
        for promise in Promise
    )
    return table(("", *(f"`{layer.name}`" for layer in layers)), *rows)


def hooks() -> str:
    """Every hook with its arguments and the four parts of its docstring."""
    parts = []
    for name, function in hooks_of(hookspecs):
        what, _, rest = (inspect.getdoc(function) or "").partition("\n\n")
        answers = re.sub(r"^(\w+):", r"* **\1:**", rest, flags=re.MULTILINE)
        answers = re.sub(r"\n(?!\*)", "\n  ", answers)
        signature = str(inspect.signature(function)).replace("'", "")
        parts.append(f"### {name}\n\n```python\n{name}{signature}\n```\n\n{what}\n\n{answers}\n\n")
    return "".join(parts)


def hooks_of(module: object) -> list[tuple[str, Callable[..., Any]]]:
    """The hook specifications of a module, in its order."""
    return [(name, f) for name, f in vars(module).items() if name.startswith("grader_") and callable(f)]


def commands() -> str:
    """Every command with its arguments and options."""
    context = click.Context(cli)
    parts = [f"### grader\n\n{options(cli)}\n"]
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        parts += [command_text(f"grader {name}", command)]
    return "".join(parts)


def command_text(path: str, command: click.Command) -> str:
    """One command, or a group with the commands below it."""
    if isinstance(command, click.Group):
        return "".join(command_text(f"{path} {name}", sub) for name, sub in below(command))
    arguments = [
        p.make_metavar(click.Context(command)) for p in command.params if isinstance(p, click.Argument)
    ]
    doc = inspect.cleandoc(command.help or "")
    call = " ".join([path, "[OPTIONS]", *arguments])
    return f"### {path}\n\n```\n{call}\n```\n\n{doc}\n\n{options(command)}\n"


def below(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    """The commands of a group, those that exporters make as well."""
    context = click.Context(group, parent=click.Context(cli))
    # our own stand in the order of their source; click's list would be sorted
    for name in dict.fromkeys([*group.commands, *group.list_commands(context)]):
        command = group.get_command(context, name)
        assert command is not None
        yield name, command


def options(command: click.Command) -> str:
    """A table of a command's options; nothing if it has none."""
    rows = [
        (
            " ".join(f"`{opt}`" for opt in p.opts)
            + ("" if p.is_flag else f" {p.make_metavar(click.Context(command))}"),
            p.help or "",
        )
        for p in command.params
        if isinstance(p, click.Option)
    ]
    return table(("option", "does"), *rows) if rows else ""


def reports() -> str:
    """What lies in a results folder when a submission was graded."""
    rows = [(f"`{r.filename}`", first_paragraph(type(r))) for r in Plugins().reports.values()]
    return table(("file", "is"), *rows)


def records() -> str:
    """The lines of `evidence.jsonl`, then the nouns in them."""
    rows = [
        (f"`{name}`", first_paragraph(kind), ", ".join(f"`{field}`" for field, *_ in attributes(kind)))
        for name, kind in evidence_file.RECORDS.items()
    ]
    nouns = (
        submission.Submission,
        evidence.WorkerRun,
        observation.Observation,
        observation.Case,
        observation.Quantity,
        observation.Outcome,
        observation.Fault,
    )
    lines = table(("`record`", "is", "further fields"), *rows)
    return f"The present schema is {evidence.SCHEMA}.\n\n{lines}\n" + "".join(map(noun, nouns))


def scores() -> str:
    """`score.json`, field by field."""
    doc = (inspect.getdoc(score_json) or "").partition("\n\n")[2]
    parts = []
    for paragraph in doc.split("\n\n"):
        head, *lines = re.sub(r"\n {5,}", " ", paragraph).splitlines()
        entries = (line.strip().partition(": ") for line in lines)
        names = (", ".join(f"`{n.strip()}`" for n in name.split(",")) for name, _, _ in entries)
        texts = (line.strip().partition(": ")[2] for line in lines)
        parts.append(f"{head}\n\n{table(('field', 'is'), *zip(names, texts, strict=True))}\n")
    return f"The present schema is {score_json.SCHEMA}.\n\n" + "".join(parts) + noun(score.Standing)


def api() -> str:
    """Every name of `grader.api`, with the first sentence of its docstring where it is defined."""
    parts = []
    for path in sorted((ROOT / "grader" / "api").glob("*.py"), key=lambda path: path.stem):
        name = "grader.api" if path.stem == "__init__" else f"grader.api.{path.stem}"
        module = import_module(name)
        rows = [(f"`{public}`", sentence(path, public)) for public in module.__all__]
        parts.append(f"### {name}\n\n{first_paragraph(module)}\n\n{table(('name', 'is'), *rows)}\n")
    return "".join(parts)


def context() -> str:
    """What `observe` is given: each member of the context and of a subject, with its whole docstring."""
    return "".join(
        f"### {contract.__name__}\n\n{first_paragraph(contract)}\n\n{members(contract)}\n"
        for contract in (context_contract.CheckContext, context_contract.Subject, context_contract.Quiet)
    )


def check_functions() -> str:
    """Every function of `grader.api.check`, with its arguments, and the values that are made for them."""
    parts = []
    for name in check_names.__all__:
        function = getattr(check_names, name)
        if inspect.isfunction(function):
            says = sections(inspect.getdoc(function) or "")
            call = f"{name}{untyped(function)}".replace("'", '"')  # as the formatter of the page writes it
            parts.append(f"### {name}\n\n```python\n{call}\n```\n\n{says}\n\n")
    values = (check_names.Requirement, check_names.Interval, *TRACE_VALUES)
    return "".join((*parts, *map(noun, values)))


def untyped(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function without its types, as its calls need it."""
    signature = inspect.signature(function)
    plain = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return signature.replace(parameters=plain, return_annotation=signature.empty)


def sections(doc: str) -> str:
    """A docstring as Markdown: its paragraphs, and what stands below `Args:` and `Raises:` as lists."""
    parts = []
    for paragraph in doc.split("\n\n"):
        head, _, body = paragraph.partition("\n")
        if head in ("Args:", "Raises:"):
            entries = re.split(r"\n(?=\S)", textwrap.dedent(body))
            named = (" ".join(entry.split()).partition(": ") for entry in entries)
            bullets = "\n".join(f"* `{name}`: {text}" for name, _, text in named)
            parts.append(bullets if head == "Args:" else f"{head}\n\n{bullets}")
        else:
            parts.append(" ".join(paragraph.split()))
    return "\n\n".join(parts)


def members(contract: type) -> str:
    """The public methods and properties of a contract, each with its whole docstring."""
    rows = []
    for name, member in vars(contract).items():
        getter = member.fget if isinstance(member, property) else member
        getter = getter.__func__ if isinstance(getter, classmethod) else getter
        if name.startswith("_") or not inspect.isfunction(getter):
            continue
        takes = "" if isinstance(member, property) else f"({', '.join(parameters(getter))})"
        rows.append((f"`{name}{takes}`", " ".join((inspect.getdoc(getter) or "").split())))
    return table(("has", "does"), *rows)


def contract_with_values(contracts: Iterable[type], values: Iterable[type]) -> str:
    """What plugins implement, with all that it promises, and the values that it takes and gives."""
    parts = []
    for contract in contracts:
        says = "\n\n".join(" ".join(each.split()) for each in (inspect.getdoc(contract) or "").split("\n\n"))
        set_by_it = [(f"`{name}`", f"`{default}`", doc) for name, _, default, doc in attributes(contract)]
        has = table(("attribute", "default", "is"), *set_by_it) if set_by_it else ""
        parts.append(f"### {contract.__name__}\n\n{says}\n\n{has}\n{members(contract)}\n")
    return "".join((*parts, *(noun(value) for value in values)))


def parameters(function: Callable[..., Any]) -> Iterator[str]:
    """The parameters of a method as its calls write them, with `name=default` where one may be left out."""
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        optional = parameter.default is not parameter.empty
        yield f"{parameter.name}={parameter.default!r}" if optional else parameter.name


def sentence(path: Path, name: str) -> str:
    """The first sentence on a name that a module defines or imports, followed to its definition."""
    statements = ast.parse(path.read_text(encoding="utf-8")).body
    for statement, following in zip(statements, [*statements[1:], None], strict=True):
        match statement:
            case ast.ImportFrom(module=str(module), names=names) if name in {n.name for n in names}:
                source = ROOT.joinpath(*module.split("."))
                file = source / "__init__.py" if source.is_dir() else source.with_suffix(".py")
                return sentence(file, name)
            case ast.ClassDef(name=own) | ast.FunctionDef(name=own) if own == name:
                return first_sentence(ast.get_docstring(statement) or "")
            case ast.Assign(targets=[ast.Name(id=own)]) | ast.AnnAssign(target=ast.Name(id=own)):
                if own == name and isinstance(following, ast.Expr):
                    return first_sentence(ast.literal_eval(following.value))
    raise LookupError(f"{path}: {name} has no docstring")


def first_sentence(doc: str) -> str:
    """The first sentence of a docstring on one line."""
    return re.split(r"(?<=\.) ", " ".join(doc.partition("\n\n")[0].split()))[0]


PARTS: dict[str, Callable[[], str]] = {
    "api": api,
    "assignment": lambda: noun(assignment.Assignment),
    "build": lambda: noun(assignment.Build),
    "check-functions": check_functions,
    "check-kinds": check_kinds,
    "commands": commands,
    "context": context,
    "contracts-engine": lambda: contract_with_values(
        (engine.Engine, engine.Session, engine.CountsGpus),
        (
            *(engine.EngineSettings, engine.Order, engine.Records, engine.Waits),
            *(engine.QueueStatus, engine.Ended, engine.EngineFinding),
        ),
    ),
    "contracts-report": lambda: contract_with_values(
        (report.Report,),
        (
            *(AudienceView, drawing.Drawing, drawing.Paragraph, drawing.ValueTable),
            *(drawing.Bars, drawing.Bar),
            *(drawing.Curves, drawing.CurveLine, drawing.Gauge, drawing.Breakdown, drawing.MarkedText),
            *(drawing.Pictures, drawing.Advice),
        ),
    ),
    "course-keys": course_keys,
    "engine-keys": engine_keys,
    "evidence": records,
    "exporter": lambda: contract_with_values(
        (exporter.Worksheet, exporter.ResultsFile),
        (Layout, GradeColumn, exporter.Grade, exporter.FilledSheet, exporter.RowResult, exporter.RowOutcome),
    ),
    "expectation-keys": lambda: keys(expectations.Expectation),
    "hooks": hooks,
    "item-keys": lambda: keys(rubric_keys.ItemKeys),
    "late-keys": lambda: keys(rubric_keys.LateKeys),
    "limits": lambda: "".join(
        table(
            ("limit", "default", "is"),
            *((f"`{name}`", f"`{default}`", doc) for name, _, default, doc in attributes(assignment.Limits)),
        )
    ),
    "platform": lambda: contract_with_values(
        (platform.Platform, Http),
        (
            platform.Target,
            platform.PlatformGrade,
            platform.Person,
            platform.Change,
            platform.Receipt,
            platform.Answer,
        ),
    ),
    "promises": promises,
    "reports": reports,
    "rubric-keys": lambda: keys(rubric_keys.RubricKeys),
    "score": scores,
}


def own_limits(of: assignment.Assignment) -> str:
    """What a program of one assignment may use, as students read it in the hand-out."""
    limits = of.limits
    rows = [
        ("the import of a file", f"{limits.import_wall_s:g} seconds"),
        ("one call of a function", f"{limits.call_wall_s:g} seconds"),
        ("memory, all of its processes together", _size(limits.memory_mb)),
        ("memory of the GPUs that is taken when a call returns", _size(limits.gpu_memory_mb)),
        ("processes and threads at a time", f"{limits.processes}"),
        ("a file that it writes, which must be below `/tmp`", _size(limits.file_mb)),
        ("what a call returns", _size(limits.result_mb)),
    ]
    if of.build:
        rows.append(("building", f"{of.build.wall_s:g} seconds and {_size(of.build.memory_mb)}"))
    return table(("of your program", "at most"), *rows)


def own_points(graded: Rubric) -> str:
    """Describe deadline, late rule and points of one rubric, as students read them in the hand-out."""
    lines = [f"**{graded.points:g} points**"]
    if graded.due:
        offset = f"{graded.due:%z}"
        lines[0] += f", due {graded.due.day} {graded.due:%B %Y, %H:%M} (UTC{offset[:3]}:{offset[3:]})"
        rule = spelled(graded.late)
        lines.append(f"Late: {rule}." if rule else "Lateness costs nothing by itself; ask your course.")
    lines[0] += "."
    counts = {"earns": "", "bonus": " (bonus)", "penalty": " (penalty)"}
    rows = [
        (item.title, f"{item.points:g}{counts[item.counts]}")
        for item in graded.items
        if item.visible != "never"
    ]
    return "\n".join(lines) + "\n\n" + table(("what is looked at", "points"), *rows)


def _size(mib: int) -> str:
    return f"{mib // 1024} GiB" if mib % 1024 == 0 else f"{mib} MiB"


Parts = Mapping[str, Callable[[], str]]


def pages() -> Iterator[tuple[Path, Parts]]:
    """Every page with parts that are generated, and what these are."""
    for path in sorted(DOCS.rglob("*.md")):
        yield path, PARTS
    plugins = Plugins(ROOT)
    for name, folder in sorted(plugins.assignment_folders.items()):
        if (path := folder / "handout.md").is_file():
            graded = load_rubric(
                ROOT / "rubrics" / f"{name}.yaml",
                kinds=plugins.checks,
                assignments=plugins.assignment_folders,
            )
            yield (
                path,
                {
                    "own-limits": partial(own_limits, plugins.assignments[name]),
                    "own-points": partial(own_points, graded),
                },
            )


def renewed(page: str, parts: Parts = PARTS) -> str:
    """A page with its generated parts as the code is now.

    Raises:
        KeyError: it has a part of a name that is not known.
    """

    def part(found: re.Match[str]) -> str:
        text = re.sub(r"\n{3,}", "\n\n", parts[found[1]]()).strip()
        return f"{found[1]}{found[2]}\n{text}\n\n"

    return PART.sub(part, page)


def main(arguments: list[str] | None = None) -> int:
    """Renew what is stale, or with `--check` only name it and return 1 if there is any."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if a page is stale")
    check = parser.parse_args(arguments).check
    stale = 0
    for path, parts in pages():
        text = path.read_text(encoding="utf-8")
        if (now := renewed(text, parts)) != text:
            stale += 1
            print(f"{path.relative_to(ROOT)}: {'stale; run scripts/docs.py' if check else 'written'}")
            if not check:
                path.write_text(now, encoding="utf-8")
    return int(check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
