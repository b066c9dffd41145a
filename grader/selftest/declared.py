"""Mistakes of a course that its files show: names that fit nothing, limits that nothing meets."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from grader.config.accepted import names_of, unaccepted
from grader.config.built import MAKEFILES
from grader.config.course import Course
from grader.config.facts import (
    absent_imports,
    files_imported,
    import_place,
    reference_imports,
    variables_read,
)
from grader.config.problem import Remark, closest, has_more_words, suggestion
from grader.config.type_words import quoted
from grader.coursesyntax import joined_texts, parsed
from grader.filenames import plain_pattern
from grader.files import show_path
from grader.grading.declaration import argument_places, files_below, refusals, unfit_accepts
from grader.installed import is_installed, misspelt, misspelt_programs, not_installed
from grader.intake.accept import accepted
from grader.intake.junk import junk_part
from grader.model.assignment import Assignment
from grader.plugins import Plugins

FILE = "assignment.py"
_RULE = re.compile(r"^([^\s:=#][^:=#\n]*):(?!=)", re.MULTILINE)
"""A rule of a Makefile, up to its colon."""
_WHOLE = re.compile(r".*[\w*}]\n[\w*{-]", re.DOTALL)
"""The end of a name and the beginning of another one."""


def static_problems(course: Course, plugins: Plugins, only: str | None = None) -> Iterator[str]:
    """Yield the problems of a course's extensions and of its assignments' declarations; no code of it runs.

    With `only`, those of this assignment.
    """
    yield from course.extensions_for_nobody(only)
    if only is None:
        yield from _undeclared(course, plugins)
    names = [name for name in plugins.assignments if only in (None, name)]
    for team in course.roster.teams:
        for name in names:
            if line := course.roster.team_objection(team, name, plugins.assignments[name].team_at_most):
                yield line
    for name in names:
        yield from declaration_problems(plugins.assignments[name], plugins.assignment_folders[name])


def _undeclared(course: Course, plugins: Plugins) -> Iterator[str]:
    """Yield the folders that hold an assignment that nothing declares."""
    for folder in sorted(course.folder.glob("assignments/*/")):
        files = [path.name for path in folder.glob("*.py")]
        if {"inputs.py", "expected.py"} & {*files} and FILE not in files:
            near = closest(FILE, files)
            advice = f"rename {near}" if near else "write it"
            yield f"{show_path(folder)}: has no {FILE}, so that nothing declares it; {advice}"
        elif FILE in files and folder.name not in plugins.assignment_folders:
            why = "declares no assignment; has grader_assignments a return and an @hookimpl?"
            yield f"{show_path(folder / FILE)}: {why}"


def declaration_problems(assignment: Assignment, folder: Path) -> Iterator[str]:
    """Yield what of a declaration does not fit the folder, each as a line with file, cause and remedy."""
    file = folder / FILE
    place_of = argument_places(file, assignment.name)
    joined = [*_joined_names(assignment, file)]
    yield from (f"{show_path(file)}:{line}: {field}: {message}" for field, line, message in joined)
    consequences = {field for field, *_ in joined}
    if "accepts" in consequences:
        consequences.add("requires")
    for field, message in _problems(assignment, folder):
        if field in consequences:
            continue
        text = f"{place_of(field)}: {field}: {message}"
        yield Remark(text) if isinstance(message, Remark) else text
    yield from _wrong_imports(assignment, folder)
    yield from _starter_remarks(folder)
    for line in reference_imports(folder / "expected.py"):
        why = "imports the reference, which must not be its own oracle; work the answer out otherwise"
        yield f"{show_path(folder / 'expected.py')}:{line}: {why}"


def _starter_remarks(folder: Path) -> Iterator[Remark]:
    """Yield the functions of a starter that the same file of the reference has under a similar name."""
    for file in files_below(folder / "starter"):
        if not file.endswith(".py"):
            continue
        starter, reference = (_functions(folder / part / file) for part in ("starter", "reference"))
        for name in sorted(starter.keys() - reference.keys()):
            if near := closest(name, reference.keys() - starter.keys()):
                place = f"{show_path(folder / 'starter' / file)}:{starter[name]}"
                yield Remark(f"{place}: {name}: the reference has no such function; did you mean {near}?")


def _functions(file: Path) -> dict[str, int]:
    """Return the functions and classes at the top level of a Python file, each with its line."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name: node.lineno for node in parsed(file).body if isinstance(node, kinds)}


def _joined_names(assignment: Assignment, file: Path) -> Iterator[tuple[str, int, str]]:
    """Yield the fields in which two names are one because no comma stands between, with line and message.

    A text may be written in parts on purpose: the name of a file of the reference, and one of which a part
    ends or begins with a sign, as `src/`.
    """
    build = assignment.build
    tuples = (
        ("accepts", assignment.accepts),
        ("gpu_kinds", assignment.gpu_kinds),
        *(("preloads", names) for names in assignment.preloads.values()),
        *(("requires", names) for names in assignment.requires.values()),
        *(("build", names) for names in ((build.command, build.products, build.programs) if build else ())),
    )
    fields = {name: field for field, names in tuples for name in names}
    for file_of_reference in files_below(file.parent / "reference"):
        fields.pop(file_of_reference, "")
    for line, parts in joined_texts(file):
        text = "".join(parts)
        if text in fields and all(_WHOLE.match(first + "\n" + second) for first, second in pairwise(parts)):
            written = ", ".join(map(repr, parts))
            yield fields[text], line, f"{text!r} has no comma between its parts; write {written}"


def _wrong_imports(assignment: Assignment, folder: Path) -> Iterator[str]:
    """Yield the imports of `given/` that the reference alone has, and those of both that nobody has.

    One that is not misspelt is a remark: another machine may have it.
    """
    had = [Path(file).stem for part in ("given", "reference") for file in files_below(folder / part)]
    made = assignment.build.products if assignment.build else ()
    for name, place in absent_imports(folder, made).items():
        if accepted([f"{name}.py"], assignment.accepts):
            yield f"{place}: imports {name}.py, which is handed in, and reference/ has none; write it"
        elif message := misspelt(name, had):
            yield f"{place}: {message}"
        else:
            yield from (Remark(f"{place}: {line}") for line in not_installed([name]))
    imported = files_imported(folder, assignment).values()
    for file in sorted({file for files in imported for file in files}):
        if message := unaccepted(file, assignment, folder):
            place = import_place(folder, file.removesuffix(".py").partition("/")[0])
            yield f"{place}: import: {message}"


def _problems(assignment: Assignment, folder: Path) -> Iterator[tuple[str, str]]:
    reference = files_below(folder / "reference")
    given = files_below(folder / "given")
    if not assignment.title.strip():
        yield "title", "is empty; write what students call it"
    refused = [*refusals(assignment, folder)]
    yield from refused
    yield from (("accepts", message) for message in _accepts_problems(assignment, folder, reference))
    yield from _modules(assignment, modules_of(folder))
    if message := _makefile_objection(assignment, given) or _target_objection(assignment, folder / "given"):
        yield "build", message
    if assignment.build:
        named = (("programs", assignment.build.programs), ("command", assignment.build.command[:1]))
        yield from ((field, Remark(line)) for field, names in named for line in misspelt_programs(names))
        variable = assignment.build.variable
        for name, place in ((n, at) for read in variables_read(folder).values() for n, at in read.items()):
            if name != variable and closest(name, [variable]):
                yield "variable", f"{place} reads {name}; write one name in both"
    if reference and "requires" not in dict(refused):
        yield from (("requires", message) for message in _requires_problems(assignment, reference, given))


def _accepts_problems(assignment: Assignment, folder: Path, reference: tuple[str, ...]) -> Iterator[str]:
    """Yield what makes the files that are handed in others than those of the reference."""
    if message := unfit_accepts(assignment, folder):
        yield message
    if not reference:
        yield "reference/ holds no files; write the solution there, which must earn everything"
    for pattern in assignment.accepts:
        if message := _pattern_objection(pattern):
            yield f"{quoted(pattern)} {message}"
    misnamed = [*_misspelt([plain_pattern(pattern) for pattern in assignment.accepts], reference)]
    yield from misnamed or _named_by_make(assignment, folder, reference)


def _requires_problems(
    assignment: Assignment, reference: tuple[str, ...], given: tuple[str, ...]
) -> Iterator[str]:
    """Yield the files of `requires` that the reference lacks, but for those of which `accepts` tells."""
    named = names_of([name for names in assignment.requires.values() for name in names])
    others = [file for file in reference if file not in (*named, *assignment.accepts, *given)]
    left_out = {*reference} - {*accepted(reference, assignment.accepts).values()}
    for file in dict.fromkeys(named):
        if file in (*reference, *given) or (file in assignment.accepts and closest(file, left_out)):
            continue
        near = closest(file, others)
        modules = [module for module, names in assignment.requires.items() if file in names]
        advice = f"rename {near} there to {file}" if near else "write it"
        lost = f"without which what calls {' or '.join(modules)} earns nothing"
        yield f"reference/ has no {quoted(file)}, {lost}; {advice}"


def _named_by_make(assignment: Assignment, folder: Path, reference: tuple[str, ...]) -> Iterator[Remark]:
    """Yield files that students hand in, that the course's Makefile names, and that the reference lacks."""
    given = files_below(folder / "given")
    makefile = next((name for name in MAKEFILES if name in given), "")
    if not makefile or not reference:
        return
    text = (folder / "given" / makefile).read_text(errors="replace")
    for name in names_of(assignment.accepts):
        is_named = re.search(rf"(?:^|[\s=(,:]|\./){re.escape(name)}(?:$|[\s),:])", text, re.MULTILINE)
        if name and is_named and name not in (*reference, *given):
            yield Remark(f"given/{makefile} names {name}, and reference/ has none; write it")


def _makefile_objection(assignment: Assignment, given: tuple[str, ...]) -> str:
    """Return a message if `make` would find no Makefile, be it the course's or a student's."""
    build = assignment.build
    if build is None or Path(build.command[0]).name != "make":
        return ""
    options = ("-f", "-C", "--file", "--makefile", "--directory")
    elsewhere = any(word.startswith(options) for word in build.command)
    if elsewhere or set(MAKEFILES) & set(given) or accepted(MAKEFILES, assignment.accepts):
        return ""
    return "make finds no Makefile, for given/ has none and accepts lets none in; write given/Makefile"


def _target_objection(assignment: Assignment, given: Path) -> str:
    """Return a message if a target that `make` is given has no rule in the course's Makefile."""
    build = assignment.build
    makefile = next((given / name for name in MAKEFILES if (given / name).is_file()), None)
    if build is None or makefile is None or build.command[0] != "make":
        return ""
    text = makefile.read_text(errors="replace")
    rules = {name for line in _RULE.findall(text) for name in line.split()} - {".PHONY"}
    if "include" in text or any({"$", "%"} & {*name} for name in rules):  # make alone knows the rest
        return ""
    for word in build.command[1:]:
        if not word.startswith("-") and "=" not in word and word not in rules:
            return f"command: {makefile.name} has no rule for {quoted(word)}; {suggestion(word, rules)}"
    return ""


def _pattern_objection(pattern: str) -> str:
    """Return what keeps a pattern of `accepts` from meaning what it seems to."""
    objections = {
        "stands for no more than with a single *; name each folder, as in src/*.py": "**" in pattern,
        "has brackets, which stand for themselves here; give a pattern for each form": {*"{}[]"} & {*pattern},
        "is never accepted, as archives inside and products of builds are not": junk_part(pattern),
    }
    return next((message for message, applies in objections.items() if applies), "")


def _misspelt(accepts: Sequence[str], reference: tuple[str, ...]) -> Iterator[str]:
    """Yield a message for each name in `accepts` that the reference has in another spelling."""
    fitting = accepted(reference, accepts)
    left_out = {*reference} - {*fitting.values()}
    for name in names_of(accepts) if fitting else ():
        if name not in fitting and (near := closest(name, left_out)):
            yield f"reference/ has no {quoted(name)}; rename {near} there to {name}, or write {near}"


def _modules(assignment: Assignment, modules: set[str]) -> Iterator[tuple[str, str]]:
    for field, named in (("preloads", assignment.preloads), ("requires", assignment.requires)):
        for module in named:
            others = [name for name in modules if name not in named and not has_more_words(module, name)]
            if module not in modules and (near := closest(module, others)):
                either = f"rename {near}.py to {module}.py, or write {near}"
                advice = either if f"{module}.py" in assignment.accepts else f"did you mean {near}?"
                yield field, f"no file is called {module}.py; {advice}"
    let_in: list[str] = []
    absent: list[str] = []
    for module in dict.fromkeys(name for names in assignment.preloads.values() for name in names):
        top = module.partition(".")[0]
        if accepted([f"{top}.py"], assignment.accepts):
            if top in modules or f"{top}.py" in assignment.accepts:
                yield "preloads", f"{top}.py is handed in, and only modules that are not can be preloaded"
            else:
                let_in.append(f"{top}.py")
            continue
        if top in modules:
            why = "is a file of the course, and only packages can be preloaded; take it out of preloads"
            yield "preloads", f"{top}.py {why}"
        elif message := misspelt(module, modules):
            yield "preloads", message
        elif not is_installed(top):
            absent.append(top)
    yield from (("preloads", Remark(line)) for line in not_installed(absent))
    if let_in:
        patterns = [pattern for pattern in assignment.accepts if accepted(let_in, [pattern])]
        lets_in = f"{quoted(patterns[0])} lets in {' and '.join(dict.fromkeys(let_in))}, too"
        yield "accepts", f"{lets_in}, which is preloaded; name the files that are handed in"


def modules_of(folder: Path) -> set[str]:
    """Return the modules that files of the reference and of `given/` are."""
    files = (*files_below(folder / "reference"), *files_below(folder / "given"))
    return {Path(file).stem for file in files if file.endswith(".py")}
