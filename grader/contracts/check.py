"""The contract of a check kind: `observe` looks, `award` judges, `show` draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:  # a worker draws nothing
    from grader.contracts.context import CheckContext
    from grader.model.drawing import Drawing
    from grader.model.observation import Observation
    from grader.model.score import Award

SIMULATED_INPUTS = "simulated_inputs"
"""The option of a kind with the family that is called with where a simulator stands in for GPUs."""


class CheckKind(ABC):
    """One kind of check.

    The module is imported by the host for `Options`, `award` and `show`; numpy, numba, torch and the like are
    imported inside `observe`.
    """

    name: ClassVar[str]
    """The value of `check:` in a rubric."""
    Options: ClassVar[type]
    """The YAML keys: a frozen dataclass of `grader.model.options.option` fields, nested in the class."""
    timed: ClassVar[bool] = False
    """Whether `observe` takes times that decide, so that the item has cores for itself: as many as the
    assignment's limits say, or the option `cores` names."""
    shares_gpu: ClassVar[bool] = False
    """Whether nobody can earn more for having another program beside theirs on a GPU, so that items may be
    observed there side by side; what does not earn everything so is observed once more, alone."""
    tool: ClassVar[str] = ""
    """The tool of `grader/subject/tools/` that `observe` runs, so that its server is started early."""
    by_hand: ClassVar[bool] = False
    """Whether a person may give the points instead; see `grader.checks.by_hand.award_given`."""
    builds: ClassVar[bool] = False
    """Whether `observe` has the submission built, so that the assignment must say how."""
    one_case: ClassVar[bool] = False
    """Whether the family `inputs` must give exactly one case."""
    asks_reference: ClassVar[bool] = False
    """Whether `observe` is called once more where points are lost, with the reference in the submission's
    place and the same inputs: where these lose points too, the course is at fault and the item stays open.
    A reference without the file that the item is about tells nothing."""
    related_optional: ClassVar[bool] = False
    """Whether the item need not wait for the items in `uses`: `related` leaves out those not observed."""

    def complete(self, options: Any, others: Sequence[Any], *, points: float) -> Any:
        """Return the options of an item with what follows from those of all items of this kind in the rubric.

        `points` are the item's.

        Raises:
            ValueError: they do not go together.
        """
        del others, points
        return options

    def objections(self, options: Any, assignment: str) -> Iterable[tuple[str, str]]:
        """Yield what can be told of an item's options, and of the files of its assignment, before any run.

        Each is a key and a sentence on what is wrong and what to write: a bound that nothing can reach, a
        pattern that fits everything. A rubric with one is refused, so only what is certainly a mistake.

        Args:
            options: the item's, whose `__post_init__` has passed.
            assignment: the path of the assignment's folder.
        """
        del options, assignment
        return ()

    def remarks(self, options: Any, assignment: str) -> Iterable[tuple[str, str]]:
        """Yield what of an item's options may not be meant, such as a threshold that everybody reaches.

        Each is a key and a sentence, as in `objections`; but the rubric is accepted, and only
        `grader course check` prints them.
        """
        del options, assignment
        return ()

    def gpus_needed(self, options: Any) -> int:
        """Return how many GPUs the `devices` of an item with these options must give; by default 0."""
        del options
        return 0

    def simulates(self, options: Any) -> bool:
        """Tell whether a stand-in may take the place of a GPU in an item with these options.

        By default where the options have a key `simulated_inputs` and it names a family, which `observe`
        then calls with in place of `inputs` (`context.simulated`).
        """
        return bool(getattr(options, SIMULATED_INPUTS, None))

    @abstractmethod
    def observe(self, options: Any, context: CheckContext) -> Observation:
        """Look, in the worker only. Whatever the student's program does ends in an outcome.

        An exception that leaves this method is a fault of ours: the item becomes `not_observed`.
        """

    @abstractmethod
    def award(self, options: Any, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """Judge: pure arithmetic over an observation whose outcome is `observed`, perhaps months later.

        `related` holds the observations of the items named in `uses`: of all of them, unless the kind is
        `related_optional`.
        """

    def show(self, options: Any, observation: Observation) -> Iterable[Drawing]:
        """Draw the evidence as plain values, which every report renders; by default nothing.

        Called for any outcome, perhaps months later, and also with an observation of which all but the
        outcome was removed, because the reader may not know it.
        """
        del options, observation
        return ()

    def show_beside(
        self, options: Any, observation: Observation, related: Mapping[str, Observation]
    ) -> Iterable[Drawing]:
        """Draw the evidence beside that of the items named in `uses`, as far as it is there.

        By default nothing. What only staff may know is drawn `for_staff`.
        """
        del options, observation, related
        return ()


@dataclass(frozen=True, slots=True)
class DeferredKind:
    """A kind whose module is imported when a rubric names it.

    Importing all built-in kinds takes longer than importing everything else that grades one submission.
    """

    name: str
    """The `name` of the class."""
    place: str
    """`package.module:Class`."""
