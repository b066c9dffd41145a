"""Whether the seconds that a harness gives hold the kernels of a mini-batch, by an observer's records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.api.check import (
    Award,
    CheckKind,
    FunctionName,
    InputsName,
    Observation,
    Outcome,
    Quantity,
    Trace,
    award_given,
    cases_of,
    failed_observation,
    option,
    to_plain,
)
from grader.checks.drawings.gpu import gpu_drawings
from grader.checks.watched import WATCHED, unrecorded, watched_of
from grader.model.trace import Watched

from .claims import claimed

if TYPE_CHECKING:
    from grader.api.check import CheckContext, Drawing

CLAIM = "subject"
CLAIMED, KERNELS = "claimed_s", "kernels_of_a_mini_batch_s"


class HoldsKernels(CheckKind):
    """Let a harness time a network on a GPU under observation, and compare with how long its kernels ran.

    A mini-batch cannot take less time than its kernels. Who reads a clock without waiting for the GPU says
    how long it took to ask for them, which is a small part of it where the network is heavy. What is left out
    by a harness that divides by one mini-batch too many, or takes a median, is no reason to say so.
    """

    name: ClassVar[str] = "holds_kernels"
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The course's driver that asks the harness, as module.function.")
        inputs: InputsName = option("The family of inputs; its only case is asked for.")
        share_at_least: float = option(
            "The share of a mini-batch's kernels' time that the harness must give.",
            default=0.5,
            judges=True,
            above=0,
        )

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Ask once, under observation."""
        (case,) = cases_of(context, options.inputs)
        module, _, function = options.of.rpartition(".")
        with context.subject(module, observed=True) as subject:
            usable = subject.imported.outcome is Outcome.OBSERVED
            call = subject.call(function, case) if usable else subject.imported
            output = subject.output
        if call.outcome is not Outcome.OBSERVED:
            return failed_observation(context, call, options.of)
        trace = call.trace or Trace(source="none", complete=False, problem="no observer answered")
        seconds, steps = claimed(call.value)
        quantities = {"mini_batches": Quantity(value=steps, taken_by=CLAIM)}
        if seconds is not None:
            quantities[CLAIMED] = Quantity(value=seconds, unit="s", taken_by=CLAIM)
        if steps and (busy := _busy_s(trace)) is not None:
            quantities[KERNELS] = Quantity(value=busy / steps, unit="s")
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            quantities=quantities,
            facts={WATCHED: to_plain(Watched(trace=trace))},
            output=output,
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if the kernels fit in; undecided where nobody saw how long they ran."""
        del related
        if given := award_given(observation):
            return given
        watched = watched_of(observation.facts)
        if unseen := _unseen(watched, observation.quantities):
            return unseen
        of = {name: float(quantity.value or 0.0) for name, quantity in observation.quantities.items()}
        if CLAIMED not in of:
            return Award(fraction=0.0, reason="the harness gives no number of seconds above 0")
        if KERNELS not in of:
            return Award(fraction=0.0, reason="no mini-batch was trained on the GPU")
        said, busy = of[CLAIMED], of[KERNELS]
        told = f"the harness says {said:.3g} s, and the kernels of a mini-batch ran for {busy:.3g} s"
        if said >= options.share_at_least * busy:
            return Award(fraction=1.0, reason=told)
        reason = f"{told}: the clock was read before the GPU was done"
        hint = "Call torch.cuda.synchronize(device) before you start the clock and before you stop it."
        return Award(fraction=0.0, reason=reason, hint=hint)

    def show(self, options: Options, observation: Observation) -> Iterator[Drawing]:
        """Draw what the GPU did."""
        del options
        return gpu_drawings(observation)


def _unseen(watched: Watched | None, quantities: Mapping[str, Quantity]) -> Award | None:
    """Why nothing can be said; None if something can."""
    if watched is None or not watched.trace.complete:
        return unrecorded("what the GPU did could not be observed", watched)
    trained = watched.trace.launch_count and quantities["mini_batches"].value
    if trained and KERNELS not in quantities:
        reason = f"{watched.trace.source} does not tell how long kernels ran"
        return Award(fraction=0.0, reason=reason, undecided=True, again=True)
    return None


def _busy_s(trace: Trace) -> float | None:
    """How long all kernels ran together, in seconds; None where that is not told."""
    times = [work.seconds for work in trace.devices if work.kernels]
    return None if None in times or not times else sum(time for time in times if time is not None)
