"""Whether a submission can be built with the course's files, and what the compilers say of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar

from grader.contracts.check import CheckKind
from grader.errors import CourseError, NotObservedError
from grader.filenames import meant
from grader.model.observation import LEFT_OUT, MISSING_FILE, NO_RESULT, Case, Observation, Outcome, Quantity
from grader.model.options import option
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.contracts.build import Built, Diagnostic
    from grader.contracts.context import CheckContext

NAMED = 3
"""So many files are named in one sentence."""
PYTHON_3 = "This course runs Python 3; 2to3 and a look at every division bring a program there."


class BuildKind(CheckKind):
    """Run the assignment's build command over the submission with the course's files in place.

    Nothing of the submission runs, and no GPU is needed: kernels are compiled for the GPU that the machine
    has, or else for the compiler's default. What nvcc tells of each kernel (registers, spills, shared memory)
    is kept. What comes out is shown, read-only, to the programs of all items that need this one. A
    submission that cannot be built is held against the reference: where that cannot be built in the same
    place either, the machine lacks something or the course has a mistake, and the item stays open. Where a
    header of `given/` is complained of that the reference does not include, the reference is built with it.
    """

    name: ClassVar[str] = "build"
    builds: ClassVar[bool] = True
    asks_reference: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        warnings_at_most: int | None = option(
            "How many warnings it may have, each counted once. A pragma that has the compiler leave some out "
            "is a flag.",
            judges=True,
            default=None,
        )
        spill_bytes_at_most: int | None = option(
            "How many bytes of registers a kernel may spill, stores and loads together.",
            judges=True,
            default=None,
        )
        compatibility: bool = option(
            "Whether a header may help that nvcc reads first: it gives names that CUDA 13 took away, such as "
            "cudaThreadSynchronize, their new ones.",
            judges=True,
            default=False,
        )
        python: tuple[str, ...] = option(
            "Files that must not be written for Python 2, because a build is worth nothing without them; `*` "
            "and `?` stand for anything. Other Python is looked at where it is used.",
            judges=True,
            default=(),
        )
        on_cpu: bool = option(
            "Whether a machine that lacks nvcc, or what belongs to it, builds for its CPU, for items with "
            "`simulated_inputs`. Where nvcc is and no GPU, it builds both ways without this.",
            default=False,
        )

    def objections(self, options: Options, assignment: str) -> Iterator[tuple[str, str]]:
        """Yield bounds below 0."""
        del assignment
        for key in ("warnings_at_most", "spill_bytes_at_most"):
            most = getattr(options, key)
            if most is not None and most < 0:
                yield key, f"must be 0 or more, got {most}"

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Build it once."""
        try:
            built = context.build()
        except NotObservedError:
            if not options.on_cpu:
                raise
            built = context.build(simulated=True)
        lacks_files = built.outcome is Outcome.NOT_BUILT and _lacks_files(built)
        missing = _missing(built, context) if lacks_files else ""
        tells_cases = built.outcome is Outcome.NOT_BUILT and not missing
        return Observation(
            item=context.item,
            outcome=built.outcome,
            note=_note(built, missing),
            cases=tuple(_cases(built, context)) if tells_cases or built.compatibility else (),
            quantities=_quantities(built),
            facts=_facts(built)
            | ({NO_RESULT: True} if lacks_files else {})
            | ({MISSING_FILE: missing} if missing else {}),
            output=built.output,
            simulated=built.simulated,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if it was built, within the bounds that the rubric sets."""
        del related
        facts = observation.facts
        if facts["compatibility"] and not options.compatibility:
            first = observation.cases[0]
            return Award(fraction=0.0, reason=f"{first.name}: {first.note}")
        old = [
            entry for entry in facts["python_2"] if any(fnmatchcase(entry["file"], p) for p in options.python)
        ]
        if old:
            return Award(fraction=0.0, reason="; ".join(map(_python_2, old[:3])), hint=PYTHON_3)
        missed = list(_beyond(options, facts))
        if missed:
            return Award(fraction=0.0, reason="; ".join(missed))
        silenced = facts["silenced"] if options.warnings_at_most is not None else []
        flags = (f"{silenced[0]}: has the compiler leave warnings out",) if silenced else ()
        return Award(fraction=1.0, reason=_built_in_words(facts), flags=flags)


def _note(built: Built, missing: str) -> str:
    """Return why it was not built; a `missing` file is told first, and then what the tool says of it."""
    if built.outcome is Outcome.OBSERVED:
        return ""
    note = f"{missing}; {_of_tool(built.errors[0])}" if missing else built.note
    replaced = [_replaced(built.replaced)] if built.replaced else []
    return "; ".join((note, *map(_python_2, built.python_2[:1]), *replaced))


def _of_tool(error: Diagnostic) -> str:
    """Return a complaint with its place, or with `make` as who complains, and without make's last word."""
    return str(error) if error.place else f"make: {error.message.removesuffix('Stop.').rstrip(' .')}"


def _lacks_files(built: Built) -> bool:
    """Tell whether all complaints are of files that are not there: no compiler has looked at the code."""
    from grader.harness.diagnoses import LACKED_FILE, diagnose

    diagnoses = [diagnose(error) for error in built.errors]
    return bool(diagnoses) and all(each is not None and each.name == LACKED_FILE for each in diagnoses)


def _missing(built: Built, context: CheckContext) -> str:
    """Return which file was not handed in, and what was meant to be it; empty if the first is none of those.

    What stands in the complaint may be the submission's own text, as in the name of a `#line`.
    """
    from grader.harness.diagnoses import OBJECTS, include_advice, lacked_by, target_without_rule

    if target := target_without_rule(built.errors[0]):
        return "" if LEFT_OUT in built.note else _missing_source(PurePosixPath(target).stem, context)
    name = lacked_by(built.errors[0])
    path = PurePosixPath(name)
    first, there = built.errors[0], {*context.files, *built.course_files}
    if not name or name in context.files or (first.line and include_advice(name, first.file, there)):
        return ""
    if path.suffix[1:] in OBJECTS:
        return _missing_source(path.stem, context)
    try:
        missing = str(context.missing(name).facts[MISSING_FILE])
    except CourseError:  # nobody is asked for a file of exactly this name
        return _missing_source(path.name, context)
    # of files that a pattern accepts one may differ in its capitals
    alike = [file for file in context.files if file.casefold() == name.casefold()]
    near = meant(name, alike)
    return f"{name} was not handed in, but {near[0]} was: {near[1]}" if near else missing


def _missing_source(stem: str, context: CheckContext) -> str:
    """Return that the file of which make names the object was not handed in; empty if it was, or is unknown.

    A rule such as `build/%.o: src/%` does not apply where the source is missing: make names `build/work.c.o`.
    """
    from grader.subject.tools.diagnostics import COMPILED

    for name in (stem, *(f"{stem}{suffix}" for suffix in COMPILED)):
        observation = context.missing(f"*{name}")
        file = PurePosixPath(observation.note.removesuffix(" was not handed in"))
        if file.name == name and str(file) not in context.files:
            return str(observation.facts[MISSING_FILE])
    return ""


def _replaced(files: Sequence[str]) -> str:
    """Return the sentence for a student whose changes to the course's files were not built."""
    more = f" and {len(files) - NAMED} more" if len(files) > NAMED else ""
    named = f"{', '.join(files[:NAMED])}{more}"
    return f"the course's own {named} took the place of what was handed in under that name, and is different"


def _python_2(entry: Mapping[str, Any]) -> str:
    return f"{entry['file']}:{entry['line']}: is written for Python 2 ({entry['message']})"


def _cases(built: Built, context: CheckContext) -> Iterator[Case]:
    from grader.harness.diagnoses import diagnose

    for error in built.errors:
        diagnosis = diagnose(error, context.files, context.dropped, course_files=built.course_files)
        yield Case(
            name=error.place or "the program",
            outcome=Outcome.OBSERVED if built.compatibility else Outcome.NOT_BUILT,
            called=error.source,
            note=error.message + (f" ({diagnosis.hint})" if diagnosis else ""),
        )


def _quantities(built: Built) -> dict[str, Quantity]:
    quantities = {"wall_s": Quantity(value=built.wall_s, unit="s")} if built.wall_s else {}
    quantities |= {f"{what}s": Quantity(value=count, unit=f"{what}s") for what, count in built.counts.items()}
    if built.kernels:
        most = {key: max(kernel[key] for kernel in built.kernels) for key in _OF_KERNELS}
        quantities |= {key: Quantity(value=most[key], unit=unit) for key, unit in _OF_KERNELS.items()}
    if built.sizes:
        quantities["size"] = Quantity(value=sum(built.sizes.values()), unit="bytes")
    return quantities


_OF_KERNELS = {"registers": "registers", "spill_bytes": "bytes", "shared_bytes": "bytes"}
"""What is told of all kernels together: the most that one has."""


def _facts(built: Built) -> dict[str, Any]:
    from grader.harness.diagnoses import diagnose
    from grader.harness.toolchain import shortened

    return {
        "diagnoses": sorted({diagnosis.name for error in built.errors if (diagnosis := diagnose(error))}),
        "warnings": [asdict(entry) for entry in built.diagnostics if entry.severity == "warning"],
        "warning_count": built.counts.get("warning", 0),
        "python_2": [dict(entry) for entry in built.python_2],
        "silenced": list(built.silenced),
        "replaced": list(built.replaced),
        "kernels": [dict(kernel) for kernel in built.kernels],
        "architecture": built.architecture,
        "compatibility": built.compatibility,
        "programs": shortened(built.versions),
    }


def _beyond(options: BuildKind.Options, facts: Mapping[str, Any]) -> Iterator[str]:
    count, most = facts["warning_count"], options.warnings_at_most
    if most is not None and count > most:
        yield f"{count} {_warnings(count)}, and {_allowed(most)}; the first: {_first(facts['warnings'])}"
    most = options.spill_bytes_at_most
    for kernel in facts["kernels"]:
        spilled = kernel["spill_bytes"]
        if most is not None and spilled > most:
            yield f"{kernel['kernel']} spills {spilled} bytes, and {_allowed(most)}"


def _built_in_words(facts: Mapping[str, Any]) -> str:
    target = f" for {facts['architecture']}" if facts["architecture"] else ""
    helped = ", with the help of a header of old names" if facts["compatibility"] else ""
    count = facts["warning_count"]
    warned = f"; {count} {_warnings(count)}, the first: {_first(facts['warnings'])}" if count else ""
    replaced = f"; {_replaced(facts['replaced'])}" if facts["replaced"] else ""
    return f"built{target}{helped}{warned}{replaced}"


def _first(warnings: list[Mapping[str, Any]]) -> str:
    from grader.contracts.build import Diagnostic

    return str(Diagnostic(**warnings[0]))


def _allowed(most: int) -> str:
    if not most:
        return "none is allowed"
    return f"at most {most} {'is' if most == 1 else 'are'} allowed"


def _warnings(count: int) -> str:
    return "warning" if count == 1 else "warnings"
