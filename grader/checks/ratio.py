"""The ratio of two functions' times in alternating rounds, without rounds that disturbed one side only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.checks.interval import CONFIDENCE, Interval, median, median_interval
from grader.checks.waiting import NOT_TIMED, TRIED_AGAIN, waited
from grader.model.magnitude import counted

MARGIN = 1.5
"""A machine on which the reference itself does not reach this many thresholds cannot decide."""
UNDISTURBED = 1.1
"""A loop slower than 1.1 times its fastest sample was disturbed: on a quiet machine samples vary by 2 %
(docs/measurements.md, Verdicts)."""
UNDISTURBED_ON_GPU, GRACE_S = 1.5, 0.0005
"""A GPU call slower than 1.5 times its fastest sample + 0.5 ms was disturbed: calls of 2 ms vary by that much
(docs/measurements.md, Verdicts)."""

LOOP, QUICK = "reference_over", "reference_of"
"""The reference's functions, by whose times a round counts as undisturbed: no submission can change them."""

BASELINE = "baseline"
"""The slow function that the ratio is taken over: in each round the faster one of the student's and ours."""

Samples = Mapping[str, Sequence[float]]
"""Seconds of each round by whose function it was: `of`, `over`, `reference_of`, `reference_over`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """The time of the slow function over that of the fast one, with an interval of its median.

    Where the fast one computes on a GPU, only rounds count in which neither side was disturbed. The sibling
    hyperthread of a core may belong to another virtual machine: a loop takes twice its time then, while the
    kernel counts it as computing. A GPU is not disturbed by that, so the ratio would be too high. And all
    GPUs of a machine share one driver: while programs start, end and allocate on others, a call on this one
    takes many times its time, so the ratio would be too low.

    With too few undisturbed rounds the interval spans all that is possible. Its lower end is the fast
    function's time against the loop's fastest sample. Its upper end divides each call on the GPU by the
    reference's in the same round over the reference's fastest sample.
    """

    interval: Interval
    undisturbed: int
    """Rounds that count."""
    disturbance: str = ""
    """A clause on the disturbed rounds, if too few others are left to decide by them alone."""

    def reaches(self, threshold: float) -> bool | None:
        """Return True above the threshold, False below, None if the interval contains it."""
        if self.interval.low >= threshold:
            return True
        return False if self.interval.high < threshold else None

    def noise(self, threshold: float) -> str:
        """Return why the points stay open: disturbed rounds leave it unclear; empty if they do not."""
        if not self.disturbance or self.reaches(threshold) is not None:
            return ""
        low, high = number(self.interval.low), number(self.interval.high)
        return (
            f"{NOT_TIMED}: {self.disturbance}; {threshold:g} lies within what is possible, {low} to {high}; "
            f"{TRIED_AGAIN}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRatio:
    """The ratios of the submission and of the reference, whatever the threshold is."""

    ratio: Ratio
    reference: Ratio
    """The reference's own."""
    waits_s: tuple[float, float] | None = None
    """Where the slow function waited: for how long it computes, and how long it takes."""
    slower: float = 1.0
    """How many times slower than the reference's the slow function is; below 1 where it is faster."""
    fast_s: float
    reference_fast_s: float
    """Seconds of the fast function, in the middle, and of the reference's."""


def measured(
    samples: Samples, cpu: Samples, first_s: Mapping[str, float], *, undisturbed_rounds: int
) -> MeasuredRatio:
    """Take the ratio over the faster one of both slow functions, round by round.

    So neither a wait nor needless work makes a slow function worth more than the reference's.

    Args:
        samples: seconds by the clock on the wall.
        cpu: CPU seconds, likewise.
        first_s: seconds of the calls that warmed up; they tell how quick a call can be here.
        undisturbed_rounds: how many rounds must be undisturbed by the reference's times; 0 where nothing
            computes on a GPU, and all rounds count.
    """
    times = _times(samples, cpu)
    waits = waited(median(samples["over"]), median(times["over"]))
    return MeasuredRatio(
        ratio=_ratio("of", BASELINE, times, first_s, undisturbed_rounds),
        reference=_ratio("reference_of", LOOP, times, first_s, undisturbed_rounds),
        waits_s=(median(times["over"]), median(samples["over"])) if waits else None,
        slower=median([a / b for a, b in zip(times["over"], times[LOOP], strict=True)]),
        fast_s=median(times["of"]),
        reference_fast_s=median(times[QUICK]),
    )


def decided(
    samples: Samples, cpu: Samples, first_s: Mapping[str, float], *, at_least: float, undisturbed_rounds: int
) -> bool:
    """Tell whether further rounds could not change the verdict."""
    return (
        _ratio("of", BASELINE, _times(samples, cpu), first_s, undisturbed_rounds).reaches(at_least)
        is not None
    )


def number(ratio: float) -> str:
    """Format three digits, and all of those before the point."""
    return f"{ratio:.3g}" if ratio < 1000 else f"{ratio:,.0f}"


def no_faster(threshold: float) -> str:
    """Return the remark on a threshold of 1 or less."""
    return f"a program that is no faster reaches {threshold:g}, too; write more than 1, unless that is meant"


def median_in_words(counting: int, timed: float) -> str:
    """Say what a ratio and its bounds are, of so many rounds that count among those that were timed."""
    rounds = counted(counting, "round")
    of_all = f"{rounds} that nothing disturbed, of {timed:g}" if timed > counting else rounds
    return f"the median of {of_all}; with {100 * CONFIDENCE:g} % certainty it lies between these bounds"


def _times(samples: Samples, cpu: Samples) -> Samples:
    """Return the seconds that count in each round, and the `BASELINE`, chosen for each round by itself.

    So a program that is slow in some rounds only cannot move the interval of the median.
    """
    times = _computing(samples, cpu)
    return {**times, BASELINE: [min(pair) for pair in zip(times["over"], times[LOOP], strict=True)]}


def _computing(samples: Samples, cpu: Samples) -> Samples:
    """Return CPU time in place of wall time for a slow function that only computes.

    The reference's decides whether it is one. On a busy machine it waits for its core, and the wait would
    make the fast function look faster than it is.
    """
    if waited(median(samples[LOOP]), median(cpu[LOOP])):
        return samples
    return dict(samples) | {
        side: [min(pair) for pair in zip(samples[side], cpu[side], strict=True)] for side in ("over", LOOP)
    }


def _ratio(
    fast: str, slow: str, times: Samples, first_s: Mapping[str, float], undisturbed_rounds: int
) -> Ratio:
    within = [b / a for a, b in zip(times[fast], times[slow], strict=True)]
    if not undisturbed_rounds:
        return Ratio(interval=median_interval(within), undisturbed=len(within))
    least_s = {side: _least_s(side, times, first_s) for side in ("over", LOOP, QUICK)}
    least_s[BASELINE] = min(least_s["over"], least_s[LOOP])
    # by the reference's calls alone: a program that slows its own loop must not choose the rounds that count
    most_s = {LOOP: UNDISTURBED * least_s[LOOP], QUICK: UNDISTURBED_ON_GPU * least_s[QUICK] + GRACE_S}
    in_time = {side: {n for n, s in enumerate(times[side]) if s <= most} for side, most in most_s.items()}
    loops, on_gpu = in_time[LOOP], in_time[QUICK]
    undisturbed = loops & on_gpu
    if len(undisturbed) >= undisturbed_rounds:
        return Ratio(interval=median_interval([within[n] for n in undisturbed]), undisturbed=len(undisturbed))
    sure = median_interval(
        [within[n] for n in loops]
        if len(loops) >= undisturbed_rounds
        else [least_s[slow] / a for a in times[fast]]
    )
    if len(on_gpu) >= undisturbed_rounds:
        high = median_interval([within[n] for n in on_gpu]).high
    else:
        high = max(
            ratio * max(1.0, s / least_s[QUICK]) for ratio, s in zip(within, times[QUICK], strict=True)
        )
    return Ratio(
        interval=Interval(low=sure.low, middle=sure.middle, high=max(sure.high, high)),
        undisturbed=len(undisturbed),
        disturbance=(
            f"{len(within) - len(undisturbed)} of {len(within)} rounds were disturbed by something that "
            "cannot be seen "
            f"(the slow function can take {least_s[slow]:.3g} s here, the reference on the GPU "
            f"{least_s[QUICK]:.3g} s)"
        ),
    )


def _least_s(side: str, times: Samples, first_s: Mapping[str, float]) -> float:
    """Return the fastest sample; the warm-up call counts if it was faster, for it may have compiled."""
    return min(*times[side], first_s.get(side, times[side][0]))
