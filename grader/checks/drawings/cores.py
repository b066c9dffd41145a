"""The time of a call over the number of cores, against perfect scaling, the reference and thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from grader.checks.drawings.values import number_of
from grader.checks.interval import median
from grader.model.drawing import CurveLine, Curves, Drawing, Paragraph

if TYPE_CHECKING:
    from grader.model.observation import Observation

Samples = Mapping[str, Sequence[float]]


def curves_over_cores(observation: Observation, at_least: Mapping[str, float]) -> Iterator[Drawing]:
    """Yield the curves of a call that was timed on several numbers of cores, and the numbers left out."""
    times = {
        count: time
        for count in observation.facts.get("cores", ())
        if (time := number_of(observation, f"seconds_{count}"))
    }
    if len(times) > 1:
        samples: Samples = observation.facts.get("samples", {})
        yield _curves(times, samples, {int(count): least for count, least in at_least.items()})
    yield from cores_left_out(observation)


def cores_left_out(observation: Observation) -> Iterator[Paragraph]:
    """Yield a sentence on the numbers of cores that the machine did not have."""
    if counts := observation.facts.get("left_out"):
        missing = ", ".join(map(str, counts))
        yield Paragraph(
            text=f"Not measured, and not held against it: {missing} cores, which this machine did not have."
        )


def _curves(times: Mapping[int, float], samples: Samples, at_least: Mapping[int, float]) -> Curves:
    counts = sorted(times)
    fewest = counts[0]
    reference = {n: median(samples[f"reference_{n}"]) for n in counts if samples.get(f"reference_{n}")}
    lines = [
        CurveLine(
            name="this one",
            role="measured",
            points=tuple((n, times[n]) for n in counts),
            samples=tuple((n, sample) for n in counts for sample in samples.get(str(n), ())),
        ),
        CurveLine(
            name="if twice the cores took half the time",
            role="ideal",
            points=tuple((n, times[fewest] * fewest / n) for n in counts),
        ),
    ]
    if reference:
        lines.append(
            CurveLine(name="the reference", role="reference", points=tuple(sorted(reference.items())))
        )
    factors = (
        f"on {n} cores {times[fewest] / times[n]:.3g} times faster than on {fewest}"
        + (f" ({at_least[n]:.3g} needed)" if n in at_least else "")
        for n in counts[1:]
    )
    return Curves(
        title="Time over cores",
        across="cores",
        unit="s",
        lines=tuple(lines),
        needed=tuple((n, times[fewest] / at_least[n]) for n in counts if n in at_least),
        caption=f"{'; '.join(factors).capitalize()}.",
        quantities=frozenset(f"{name}_{n}" for name in ("seconds", "factor") for n in counts),
    )
