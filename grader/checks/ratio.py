"""How many times faster, from alternating rounds: and not because something slowed one side or the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.checks.interval import Interval, median, median_interval
from grader.checks.waiting import waited

MARGIN = 1.5
"""A machine on which the reference itself does not reach this many thresholds cannot decide."""
CALM = 1.1
"""A loop that takes so many times its least was slowed; on a quiet machine it takes the same within 2 %."""
CALM_ON_GPU, GRACE_S = 1.5, 0.0005
"""So was a call on a GPU that takes so many times its least, and that much more; calls of 2 ms differ so."""

LOOP, QUICK = "reference_over", "reference_of"
"""Whose own times tell what was slowed: no submission can do anything about them."""

BASELINE = "baseline"
"""The slow function that the ratio is taken over: in each round the faster one of the student's and ours."""

Samples = Mapping[str, Sequence[float]]
"""Seconds of each round by whose function it was: `of`, `over`, `reference_of`, `reference_over`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """How many times the slow function takes the time of the fast one.

    Where the fast one computes on a GPU, rounds in which one side was slowed are left out.

    A core has neighbours that we cannot see: its other thread may belong to another virtual machine, and then
    a loop takes twice its time while the kernel counts it as computing. A GPU is not slowed by that, so the
    ratio would be given away. And all GPUs of a machine share one driver: while programs begin, end and
    allocate on others, a call on this one takes many times its time, and the points would be taken away.

    If too few rounds are left, the interval reaches from what is sure to what may be. Sure is what the fast
    one is over the least that the loop ever took. Where the GPU's calls were slowed, it may be as much faster
    as the reference's call was in that round than the least that it ever took.
    """

    interval: Interval
    calm: int
    """How many rounds are left."""
    slowed: str = ""
    """What to say of it if these are too few to go by them alone."""

    def reaches(self, threshold: float) -> bool | None:
        """Whether it is clearly so much, or clearly not; None if it lies between."""
        if self.interval.low >= threshold:
            return True
        return False if self.interval.high < threshold else None

    def noise(self, threshold: float) -> str:
        """What to say where it may be so much, or so little, only because a side was slowed; else empty."""
        if not self.slowed or self.reaches(threshold) is not None:
            return ""
        low, high = number(self.interval.low), number(self.interval.high)
        return (
            f"noisy: {self.slowed}; {threshold:g} lies between what is sure, {low}, and what may be, {high}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRatio:
    """What the samples say, whatever is asked for."""

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
    samples: Samples, cpu: Samples, first_s: Mapping[str, float], *, calm_rounds: int
) -> MeasuredRatio:
    """The ratio over the faster one of both slow functions, round by round.

    So no wait and no work that is not needed makes a slow function worth more than the reference's.

    Args:
        samples: seconds by the clock on the wall.
        cpu: CPU seconds, likewise.
        first_s: seconds of the calls that warmed up; they tell how quick a call can be here.
        calm_rounds: how many rounds must be left without those in which the reference was slowed; 0 where
            nothing computes on a GPU, and all rounds count.
    """
    times = _times(samples, cpu)
    waits = waited(median(samples["over"]), median(times["over"]))
    return MeasuredRatio(
        ratio=_ratio("of", BASELINE, times, first_s, calm_rounds),
        reference=_ratio("reference_of", LOOP, times, first_s, calm_rounds),
        waits_s=(median(times["over"]), median(samples["over"])) if waits else None,
        slower=median([a / b for a, b in zip(times["over"], times[LOOP], strict=True)]),
        fast_s=median(times["of"]),
        reference_fast_s=median(times[QUICK]),
    )


def decided(
    samples: Samples, cpu: Samples, first_s: Mapping[str, float], *, at_least: float, calm_rounds: int
) -> bool:
    """Whether further rounds could not change the verdict."""
    return _ratio("of", BASELINE, _times(samples, cpu), first_s, calm_rounds).reaches(at_least) is not None


def number(ratio: float) -> str:
    """Three digits, and all of those before the point."""
    return f"{ratio:.3g}" if ratio < 1000 else f"{ratio:,.0f}"


def _times(samples: Samples, cpu: Samples) -> Samples:
    """What counts of each round, and the `BASELINE`, which is chosen in each round by itself.

    A program that is slow in some rounds only cannot move the median's interval then.
    """
    times = _computing(samples, cpu)
    return {**times, BASELINE: [min(pair) for pair in zip(times["over"], times[LOOP], strict=True)]}


def _computing(samples: Samples, cpu: Samples) -> Samples:
    """Where the slow function is a loop that does nothing but compute, it is given its CPU time alone.

    Whether it is one, the reference's tells. On a machine where other work runs it waits for its core, and
    the wait would make the fast function look faster than it is.
    """
    if waited(median(samples[LOOP]), median(cpu[LOOP])):
        return samples
    return dict(samples) | {
        side: [min(pair) for pair in zip(samples[side], cpu[side], strict=True)] for side in ("over", LOOP)
    }


def _ratio(fast: str, slow: str, times: Samples, first_s: Mapping[str, float], calm_rounds: int) -> Ratio:
    within = [b / a for a, b in zip(times[fast], times[slow], strict=True)]
    if not calm_rounds:
        return Ratio(interval=median_interval(within), calm=len(within))
    least_s = {side: _least_s(side, times, first_s) for side in ("over", LOOP, QUICK)}
    least_s[BASELINE] = min(least_s["over"], least_s[LOOP])
    # by our own calls alone: a program that slows its own loop must not choose the rounds that count
    most_s = {LOOP: CALM * least_s[LOOP], QUICK: CALM_ON_GPU * least_s[QUICK] + GRACE_S}
    quiet = {side: {n for n, s in enumerate(times[side]) if s <= most} for side, most in most_s.items()}
    loops, on_gpu = quiet[LOOP], quiet[QUICK]
    calm = loops & on_gpu
    if len(calm) >= calm_rounds:
        return Ratio(interval=median_interval([within[n] for n in calm]), calm=len(calm))
    sure = median_interval(
        [within[n] for n in loops] if len(loops) >= calm_rounds else [least_s[slow] / a for a in times[fast]]
    )
    if len(on_gpu) >= calm_rounds:
        high = median_interval([within[n] for n in on_gpu]).high
    else:
        high = max(one * max(1.0, s / least_s[QUICK]) for one, s in zip(within, times[QUICK], strict=True))
    return Ratio(
        interval=Interval(low=sure.low, middle=sure.middle, high=max(sure.high, high)),
        calm=len(calm),
        slowed=(
            f"{len(within) - len(calm)} of {len(within)} rounds were slowed by something that cannot be seen "
            f"(the slow function can take {least_s[slow]:.3g} s here, the reference on the GPU "
            f"{least_s[QUICK]:.3g} s)"
        ),
    )


def _least_s(side: str, times: Samples, first_s: Mapping[str, float]) -> float:
    """The call that warmed up counts if it was quicker; one that compiled, or read a file, was not."""
    return min(*times[side], first_s.get(side, times[side][0]))
