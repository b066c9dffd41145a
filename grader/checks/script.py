"""Whether a program of the submission runs to its end, and what the numbers are that it prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.checks.printed import CLAIM, beyond, impossible_bounds, last_number, spelled_numbers, unread
from grader.contracts.check import CheckKind
from grader.model.exit_status import ending, sanitizer_summary
from grader.model.observation import NOT_IMPORTED, Observation, Outcome, Quantity
from grader.model.options import ProgramFile, option, refuse
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.contracts.call import Call
    from grader.contracts.context import CheckContext

MOST_STATUS = 255

SANITIZER = "sanitizer"
"""The fact with what a sanitizer says at the end of its report."""


class Script(CheckKind):
    """Run a file as a program, with the course's files beside it, and read named numbers from its output.

    A printed number is the program's own claim, and a program can print whatever it likes. Where points hang
    on it, have it measured by another kind as well.
    """

    name: ClassVar[str] = "script"
    asks_reference: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        file: ProgramFile = option("The Python file to run.")
        arguments: tuple[str, ...] = option("Its command line.", default=())
        wall_s: float = option("How many seconds it may take.", default=60.0, above=0)
        programs: tuple[str, ...] = option(
            "Programs of the machine that it starts, as in [compute-sanitizer]; where one is missing, the "
            "item stays open.",
            default=(),
        )
        numbers: Mapping[str, str] = option(
            "Numbers to read, by name: printed text with {} where the number stands; the last one counts.",
            default_factory=dict,
        )
        at_least: Mapping[str, float] = option(
            "What numbers must reach, by name.", judges=True, default_factory=dict
        )
        at_most: Mapping[str, float] = option(
            "What numbers must not exceed, by name.", judges=True, default_factory=dict
        )
        exit_status: int = option("How it must end.", judges=True, default=0)

        def __post_init__(self) -> None:
            """Refuse bounds of numbers that are not read."""
            refuse(unread(self.numbers, self.at_least, self.at_most), self)

    def objections(self, options: Options, assignment: str) -> Iterator[tuple[str, str]]:
        """Yield bounds that no number keeps, and a status with which no program ends."""
        del assignment
        yield from impossible_bounds(options.at_least, options.at_most)
        if not 0 <= options.exit_status <= MOST_STATUS:
            yield "exit_status", f"a program ends with 0 to {MOST_STATUS}, got {options.exit_status}"

    def remarks(self, options: Options, assignment: str) -> Iterator[tuple[str, str]]:
        """Yield the programs whose names are misspelt."""
        del assignment
        from grader.installed import misspelt_programs

        yield from (("programs", line) for line in misspelt_programs(options.programs))

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Run it once."""
        if options.programs:
            from grader.harness.toolchain import toolchain

            toolchain(options.programs)
        run = context.run(options.file, options.arguments, options.wall_s)
        if run.call.missing_file:
            return context.missing(run.call.missing_file)
        # the word of the program's process, which may be anything
        status = run.call.value if type(run.call.value) is int else None
        numbers = {name: last_number(text, run.output) for name, text in options.numbers.items()}
        return Observation(
            item=context.item,
            outcome=run.call.outcome,
            note=run.call.note,
            quantities={
                "exit_status": Quantity(value=status, taken_by=CLAIM),
                "wall_s": Quantity(value=run.call.wall_s, unit="s"),
                **{name: Quantity(value=value, taken_by=CLAIM) for name, value in numbers.items()},
            },
            facts=_facts(run.call, run.output),
            output=run.output,
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if it ended as it must and every number lies within its bounds."""
        del related
        wrong = list(_wrong(options, observation))
        if wrong:
            return Award(fraction=0.0, reason="; ".join(wrong))
        read = spelled_numbers(options.numbers, observation.quantities)
        return Award(fraction=1.0, reason=f"ran to its end: {', '.join(read)}".removesuffix(": "))


def _facts(call: Call, output: str) -> dict[str, str]:
    if call.outcome is Outcome.OBSERVED:
        summary = sanitizer_summary(output)
        return {SANITIZER: summary} if summary else {}
    return {"traceback": call.traceback} | ({NOT_IMPORTED: ""} if call.missing_name else {})


def _ended(status: int | float | str | None) -> str:
    """Return how the program ended; it may pass on what Python says of a program that it ran itself."""
    if not isinstance(status, int):
        return f"ended with status {status}"
    how = ending(status)
    return f"ended with the status of a program that {how}," if status < 0 else how


def _wrong(options: Script.Options, observation: Observation) -> Iterator[str]:
    values = {name: quantity.value for name, quantity in observation.quantities.items()}
    if values["exit_status"] != options.exit_status:
        summary = observation.facts.get(SANITIZER, "")
        why = f": {summary}" if summary else ""
        yield f"{_ended(values['exit_status'])} instead of {options.exit_status}{why}"
    yield from beyond(options.numbers, values, options.at_least, options.at_most)
