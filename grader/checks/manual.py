"""Points that a person gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.checks.by_hand import award_given
from grader.checks.judged import JudgedOptions
from grader.checks.points_drawings import points_drawings
from grader.config.points_file import WAITS
from grader.contracts.check import CheckKind
from grader.matching.criteria import require_worth
from grader.model.drawing import Drawing, MarkedText
from grader.model.observation import Observation, Outcome
from grader.model.options import SubmittedFile, option
from grader.model.rubric import MANUAL
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.contracts.context import CheckContext


class Manual(CheckKind):
    """Wait until a person has looked: the points are open, and come from a table or `grader review`.

    Nothing runs, and no worker is started for it. What was given stays with the submission that was looked
    at: a new one waits again.
    """

    name: ClassVar[str] = MANUAL
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options(JudgedOptions):
        """The YAML keys."""

        asks: str = option(
            "What the person should look at; stands beside the empty points in the exported table.",
            judges=True,
            default="",
        )

        reads: SubmittedFile = option(
            "The file that the person reads, such as report.pdf; `*` stands for anything, as in *.py.",
            judges=True,
            default=SubmittedFile(""),
        )

        @property
        def documents(self) -> str:
            """The pattern of the files to read."""
            return self.reads

        @property
        def request(self) -> str:
            """The request to the person."""
            return self.asks

    def complete(self, options: Options, others: Sequence[Options], *, points: float) -> Options:
        """Return the options as they are, if the criteria are worth the item's points."""
        del others
        require_worth(options.criteria, points)
        return options

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Say that it waits."""
        del options
        return Observation(item=context.item, outcome=Outcome.NOT_OBSERVED, note=WAITS, seed=context.seed)

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """Award what the person gave."""
        del related
        waits = Award(fraction=0.0, reason=WAITS, undecided=True)
        return award_given(observation, options.criteria) or waits

    def show(self, options: Options, observation: Observation) -> Iterable[Drawing]:
        """Draw the model answer, and the points of each criterion."""
        if options.model:
            yield MarkedText(title="Model answer", text=options.model)
        yield from points_drawings(options.criteria, observation)
