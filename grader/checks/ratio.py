"""How many times faster, from alternating rounds: what is sure, and what neighbours may have added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.checks.interval import Interval, median, median_interval
from grader.checks.waiting import waited

MARGIN = 1.5
"""A machine on which the reference itself does not reach this many thresholds cannot decide."""
CALM = 1.1
"""From here on a loop was slowed: on a quiet machine it takes the same time again, within some per cent."""

Samples = Mapping[str, Sequence[float]]
"""Seconds of each round by whose function it was: `of`, `over`, `reference_of`, `reference_over`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """How many times the slow function takes the time of the fast one."""

    within: Interval
    """Of the two times of each round: what disturbs one disturbs both."""
    sure: Interval
    """Over the least that the slow one ever took, where the fast one computes on a GPU; else as `within`.

    A core has neighbours that we cannot see: the other thread of the same core may belong to another virtual
    machine, and then the loop takes twice its time while the kernel counts it as computing. A GPU is not
    slowed by that, so the loop alone is, and the ratio would be given away.
    """
    slowed: float
    """How many times its least the slow one took, in the middle; 1 where no GPU computes."""

    @property
    def told(self) -> Interval:
        """The cautious middle, and all that it may be."""
        return Interval(low=self.sure.low, middle=self.sure.middle, high=self.within.high)

    def reaches(self, threshold: float) -> bool | None:
        """Whether it is clearly so much, or clearly not; None if more rounds could tell."""
        if self.sure.low >= threshold:
            return True
        return False if self.within.high < threshold else None

    def given_away(self, threshold: float) -> bool:
        """Whether it may be so much only because neighbours slowed the loop."""
        return self.slowed > CALM and self.sure.high < threshold <= self.within.high

    def noise(self, threshold: float) -> str:
        """What to say then; empty if it is not so."""
        if not self.given_away(threshold):
            return ""
        return (
            f"noisy: the slow function took {self.slowed:.3g} times the least that it took here: something "
            f"that cannot be seen slowed its core down; {threshold:g} lies between what is sure, "
            f"{number(self.sure.middle)}, and what was seen, {number(self.within.middle)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What the samples say, whatever is asked for."""

    ratio: Ratio
    reference: Ratio
    """The reference's own."""
    waits_s: tuple[float, float] | None = None
    """Where the slow function waited: for how long it computes, and how long it takes."""
    slower: float = 1.0
    """How many times slower than the reference's the slow function is, if that one was taken; else 1."""


def measured(
    samples: Samples, cpu: Samples, first_s: Mapping[str, float], *, band: float, gpu: bool
) -> Measured:
    """The ratio over the hand-in's own slow function, or over the reference's where that one is too slow.

    Args:
        samples: seconds by the clock on the wall.
        cpu: CPU seconds, likewise.
        first_s: seconds of the calls that warmed up; they tell how quick a loop can be here.
        band: how many times slower than the reference's the slow function may be.
        gpu: whether the fast functions compute on a GPU.
    """
    times = _computing(samples, cpu)
    waits = waited(median(samples["over"]), median(times["over"]))
    slower = median([a / b for a, b in zip(times["over"], times["reference_over"], strict=True)])
    baseline = "reference_over" if slower > band else "over"
    return Measured(
        ratio=_ratio("of", baseline, times, first_s, gpu=gpu),
        reference=_ratio("reference_of", "reference_over", times, first_s, gpu=gpu),
        waits_s=(median(times["over"]), median(samples["over"])) if waits else None,
        slower=slower if slower > band else 1.0,
    )


def decided(
    samples: Samples, cpu: Samples, first_s: Mapping[str, float], *, at_least: float, gpu: bool
) -> bool:
    """Whether further rounds could not change the verdict, whichever slow function is taken."""
    times = _computing(samples, cpu)
    ratios = (_ratio("of", baseline, times, first_s, gpu=gpu) for baseline in ("over", "reference_over"))
    return all(ratio.reaches(at_least) is not None for ratio in ratios)


def number(ratio: float) -> str:
    """Three digits, and all of those before the point."""
    return f"{ratio:.3g}" if ratio < 1000 else f"{ratio:,.0f}"


def _computing(samples: Samples, cpu: Samples) -> Samples:
    """Where the slow function is a loop that does nothing but compute, it is given its CPU time alone.

    Whether it is one, the reference's tells. On a machine where other work runs it waits for its core, and
    the wait would make the fast function look faster than it is.
    """
    loop = "reference_over"
    if waited(median(samples[loop]), median(cpu[loop])):
        return samples
    return dict(samples) | {
        side: [min(pair) for pair in zip(samples[side], cpu[side], strict=True)] for side in ("over", loop)
    }


def _ratio(fast: str, slow: str, times: Samples, first_s: Mapping[str, float], *, gpu: bool) -> Ratio:
    within = median_interval([b / a for a, b in zip(times[fast], times[slow], strict=True)])
    if not gpu:
        return Ratio(within=within, sure=within, slowed=1.0)
    # the first call only counts if it was quicker: one that compiled, or read a file, was not
    least_s = min(*times[slow], first_s.get(slow, times[slow][0]))
    sure = median_interval([least_s / a for a in times[fast]])
    return Ratio(within=within, sure=sure, slowed=median(times[slow]) / least_s)
