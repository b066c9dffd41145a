"""Whether the files that were asked for were handed in, and what came beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from grader.checks.by_hand import award_given
from grader.checks.requirements import Requirement, award_requirements
from grader.checks.tools import BLANK, read_report
from grader.contracts.check import CheckKind
from grader.contracts.context import REFERENCE
from grader.filenames import meant
from grader.intake.junk import junk_part
from grader.model.observation import MISSING_FILE, SEVERAL_MISSING, Case, Observation, Outcome, Quantity
from grader.model.options import SubmittedFile, option
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.contracts.context import CheckContext

MB = 2**20
NAMED_AT_MOST = 10
MOST_OPENED = 4
"""PDFs that are opened of those that fit one pattern."""


class Files(CheckKind):
    """Look at the names and sizes of what was handed in; nothing runs.

    A required file counts if it is there under exactly this name and is not empty. With `pdf: opened` a PDF
    is opened as well: a text, a Word file or an empty page under its name does not count. Of those that fit a
    pattern the first four are opened. What tools leave behind (`__pycache__`, `.DS_Store`, build products,
    archives in it) is never held against anybody.
    """

    name: ClassVar[str] = "files"
    asks_reference: ClassVar[bool] = True
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        required: tuple[SubmittedFile, ...] = option(
            "Files that must be there; `*` and `?` stand for anything, and one file that fits is enough."
        )
        pdf: Literal["named", "opened"] = option(
            "What a required file must be whose name ends in .pdf, where none of another ending fits, too: "
            "only named so, or a PDF that opens and shows something.",
            default="named",
        )
        extra: Literal["ignored", "noted", "costs"] = option(
            "What other files mean: nothing, a note for a person, or one more requirement that is not met.",
            judges=True,
            default="noted",
        )
        max_mb: float | None = option(
            "The size in MiB that all accepted files together may have; one more requirement.",
            judges=True,
            above=0,
            default=None,
        )
        credit: Literal["all", "per_case"] = option(
            "Whether every requirement must be met, or each earns its share.", judges=True, default="all"
        )

    def objections(self, options: Options, assignment: str) -> Iterator[tuple[str, str]]:
        """Yield patterns that fit whatever is handed in, and what the reference does not meet."""
        sizes = _sizes(Path(assignment, REFERENCE))
        if not options.required and options.extra != "costs" and options.max_mb is None:
            yield "required", "asks for nothing, so everybody earns it; name a file"
        for pattern in options.required:
            near = [file for file in sizes if file.casefold() == pattern.casefold()]
            if set(pattern) <= {"*", "?", "/"}:
                yield "required", f"{pattern} fits any file; name one, as in *.py"
            elif near and not any(fnmatchcase(file, pattern) for file in sizes):
                yield "required", f"the reference has no {pattern}, but {near[0]}; write that"
        size_mb = sum(sizes.values()) / MB
        if options.max_mb is not None and size_mb > options.max_mb:
            message = f"the files of the reference have {size_mb:.1f} MiB together; allow more"
            yield "max_mb", message

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Compare names; the sizes are those of the unpacked files."""
        sizes = {file: context.size(file) for file in context.files}
        extra = tuple(file for file in context.dropped if not junk_part(file))
        others = [file for file in sizes if not any(fnmatchcase(file, one) for one in options.required)]
        cases = []
        for pattern in options.required:
            case = _look(pattern, sizes, (*others, *extra))
            present = [file for file in sizes if sizes[file] and fnmatchcase(file, pattern)]
            if options.pdf == "opened" and present and all(map(_is_pdf, present)):
                opened = _opened(context, case, present)
                if isinstance(opened, Observation):
                    return opened
                case = opened
            cases.append(case)
        facts: dict[str, Any] = {"extra": list(extra)}
        if absent := [case.note for case in cases if not case.returned]:
            facts[MISSING_FILE] = SEVERAL_MISSING.join(absent)
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            cases=tuple(cases),
            quantities={"size": Quantity(value=sum(sizes.values()), unit="bytes")},
            facts=facts,
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if every requirement is met, or with `credit: per_case` the share of them that are."""
        del related
        if by_hand := award_given(observation):
            return by_hand
        requirements = [Requirement(met=_met(case), missed=case.note) for case in observation.cases]
        extra = tuple(map(str, observation.facts["extra"]))
        named = f"nobody asked for {_listed(extra)}"
        if options.extra == "costs":
            requirements.append(Requirement(met=not extra, missed=named))
        if options.max_mb is not None:
            size_mb = float(observation.quantities["size"].value or 0) / MB
            missed = f"the files have {size_mb:.1f} MiB together, and may have {options.max_mb:g}"
            requirements.append(Requirement(met=size_mb <= options.max_mb, missed=missed))
        flags = (named,) if extra and options.extra == "noted" else ()
        return award_requirements(requirements, credit=options.credit, flags=flags)


def _sizes(folder: Path) -> dict[str, int]:
    """Return the sizes of the files below a folder, by their paths in it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}
    return {file: size for file, size in sizes.items() if not junk_part(file)}


def _look(pattern: str, sizes: Mapping[str, int], others: tuple[str, ...]) -> Case:
    present = [file for file in sizes if fnmatchcase(file, pattern)]
    filled = any(sizes[file] for file in present)
    note = ""
    if not present:
        near = meant(pattern, others, sizes)
        # in the words of the items that need the file, so that one sentence on the card adds up what it costs
        note = f"{pattern} was not handed in" + (f", but {near[0]} was: {near[1]}" if near else "")
    elif not filled:
        note = f"{present[0]} is empty"
    return Case(
        name=pattern,
        outcome=Outcome.OBSERVED,
        agrees={"there": True, "filled": filled} if present else {"there": False},
        returned=", ".join(present),
        note=note,
    )


def _is_pdf(file: str) -> bool:
    """Tell whether a file is a PDF by its name."""
    return file.lower().endswith(".pdf")


def _opened(context: CheckContext, case: Case, files: Sequence[str]) -> Case | Observation:
    """The same case, where one of these files must be a PDF that shows something; or a fault of ours.

    Each is opened in a sandbox, which may take all of its time, so that no more than the first ones are.
    """
    looked: list[Case] = []
    for file in files[:MOST_OPENED]:
        report = read_report(context, file)
        if isinstance(report, Observation):
            return report
        problem = report.get("problem") or (BLANK if report["blank"] else "")
        if problem:
            looked.append(replace(case, agrees={**case.agrees, "opens": False}, note=f"{file} {problem}"))
        elif report["unread"] and not report.get("pages"):
            looked.append(replace(case, note=f"{file}: {report['unread']}"))
        else:
            return replace(case, agrees={**case.agrees, "opens": True})
    # what may be right, and cannot be opened here, is left to a person
    case = next((each for each in looked if all(each.agrees.values())), looked[0])
    left_out = f"; {len(files)} PDFs fit, and the first {MOST_OPENED} are opened"
    return replace(case, note=case.note + left_out) if len(files) > MOST_OPENED else case


def _met(case: Case) -> bool | None:
    """Whether a file is what it must be; None if it is there and cannot be opened here."""
    if not all(case.agrees.values()):
        return False
    return None if case.note else True


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - NAMED_AT_MOST
    return ", ".join(names[:NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "")
