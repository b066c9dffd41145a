"""Whether a program of the hand-in runs to its end, and what the numbers are that it prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.model.observation import Observation, Outcome, Quantity
from grader.model.options import option
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.bench.bench import Bench

NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
PLACE = "{}"
CLAIM = "subject"
"""What a program prints is what it claims; it is not measured by us."""


class Script:
    """Run a file as a program, with the course's files beside it, and read named numbers from its output.

    A printed number is the program's own claim, and a program can print whatever it likes. Where points hang
    on it, have it measured by another kind as well.
    """

    name: ClassVar[str] = "script"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        file: str = option("The file to run.")
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
            for name in (*self.at_least, *self.at_most):
                if name not in self.numbers:
                    raise ValueError(
                        f"{name}: is not among the numbers; say in `numbers` where it is printed"
                    )
            for name, text in self.numbers.items():
                if text.count(PLACE) != 1:
                    raise ValueError(f"numbers.{name}: must hold {PLACE} once, where the number is printed")

    def observe(self, options: Options, bench: Bench) -> Observation:
        """Run it once."""
        if options.programs:
            from grader.bench.toolchain import toolchain

            toolchain(options.programs)
        run = bench.run(options.file, options.arguments, options.wall_s)
        numbers = {name: _last(text, run.output) for name, text in options.numbers.items()}
        return Observation(
            item=bench.item,
            outcome=run.call.outcome,
            note=run.call.note,
            quantities={
                "exit_status": Quantity(value=run.call.value, taken_by=CLAIM),
                "wall_s": Quantity(value=run.call.wall_s, unit="s"),
                **{name: Quantity(value=value, taken_by=CLAIM) for name, value in numbers.items()},
            },
            facts={"traceback": run.call.traceback} if run.call.outcome is not Outcome.OBSERVED else {},
            output=run.output,
            seed=bench.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if it ended as it must and every number lies within its bounds."""
        del related
        wrong = list(_wrong(options, observation))
        if wrong:
            return Award(fraction=0.0, reason="; ".join(wrong))
        read = (f"{name} {observation.quantities[name].value}" for name in options.numbers)
        return Award(fraction=1.0, reason=f"ran to its end: {', '.join(read)}".removesuffix(": "))


def _wrong(options: Script.Options, observation: Observation) -> Iterator[str]:
    seen = {name: quantity.value for name, quantity in observation.quantities.items()}
    if seen["exit_status"] != options.exit_status:
        yield f"ended with status {seen['exit_status']} instead of {options.exit_status}"
    for name, text in options.numbers.items():
        value = seen[name]
        if not isinstance(value, float):
            yield f"printed nothing of the form “{text.replace(PLACE, '…')}”"
            continue
        if value < options.at_least.get(name, value):
            yield f"{name} is {value:g}, less than {options.at_least[name]:g}"
        if value > options.at_most.get(name, value):
            yield f"{name} is {value:g}, more than {options.at_most[name]:g}"


def _last(text: str, output: str) -> float | None:
    """The number that stands at the place of `{}` where the output holds this text for the last time."""
    before, _, after = (re.escape(part) for part in text.partition(PLACE))
    found = re.findall(
        before.replace(r"\ ", r"\s+") + r"\s*" + NUMBER + r"\s*" + after.replace(r"\ ", r"\s+"), output
    )
    return float(found[-1]) if found else None
