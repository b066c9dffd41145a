"""Bounds on how fast a call can be: the reference in the same rounds, and the bus to the GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

from grader.checks.interval import median

if TYPE_CHECKING:
    from grader.checks.ratio import MeasuredRatio
    from grader.contracts.call import InputCase

CROSSING = "crossing"
"""Under which name the bytes that cross the bus, and its bandwidth, stand among the facts."""

IDENTITY = "identity_s"
"""Likewise the seconds that handing over a result once more took, round by round."""

_FLOAT_BITS = 16
"""A program may copy floats in the coarsest precision there is, and convert them on either side."""


def crossing(case: InputCase, result: Any, bus_bytes_per_s: float) -> dict[str, float]:
    """Return what must cross the bus in the direction that carries more, and how much the bus carries.

    Inputs and results lie in the memory of the host, so a GPU that computes the one from the other gets
    the former and gives the latter. Both directions may be in use at a time.
    """
    inputs = fewest_bytes((*case.args, *case.kwargs.values()))
    return {"bytes": max(inputs, fewest_bytes(result)), "bytes_per_s": bus_bytes_per_s}


def fewest_bytes(value: Any) -> float:
    """Return the bytes of all arrays in a value, packed as tightly as any program would pack them.

    Integers take the bits of their range, floats those of half precision; texts and single numbers nothing.
    """
    import numpy as np

    if isinstance(value, Mapping):
        return fewest_bytes(tuple(value.values()))
    if isinstance(value, list | tuple):
        return sum(map(fewest_bytes, value))
    if not isinstance(value, np.ndarray) or value.size < 2:
        return 0.0
    if value.dtype.kind in "iu":
        bits = (int(value.max()) - int(value.min())).bit_length()
    else:
        bits = {"b": 1, "f": _FLOAT_BITS, "c": 2 * _FLOAT_BITS}.get(value.dtype.kind, 0)
    return value.size * bits / 8


def fewest_result_bytes(returned: Any, expected: Any) -> float:
    """Return the fewest bytes of a right result, of the returned or the expected arrays, whichever are fewer.

    A program that copied an array may return lists where an array is expected: they count as that array.
    """
    from grader.harness.structure import array_of, leaves

    arrays = (leaf for leaf in leaves(returned, expected) if hasattr(leaf[2], "shape"))
    return sum(
        min(fewest_bytes(target), fewest_bytes(array_of(got, target.shape, path)))
        for path, got, target in arrays
    )


def implausible(measurement: MeasuredRatio, facts: Mapping[str, Any], *, times: float) -> str:
    """Say why a ratio cannot be believed before a person has looked; empty if it can.

    Args:
        measurement: what the same rounds tell of the fast function, and of the reference's.
        facts: those of the observation; `CROSSING` is left out where the bandwidth is not known.
        times: how many times as fast as the reference's the fast function may be.
    """
    if IDENTITY not in facts:
        return ""  # an earlier version did not keep how far a time may be off
    most_s = measurement.fast_s + _resolution_s(facts[IDENTITY])
    if times * most_s < measurement.reference_fast_s:
        return (
            f"a call takes {most_s:.2g} s at most and the reference's {measurement.reference_fast_s:.2g} s "
            f"in the same rounds; more than {times:g} times as fast is not believed"
        )
    bus = facts.get(CROSSING)
    if bus and most_s < (least_s := bus["bytes"] / bus["bytes_per_s"]):
        return (
            f"a call takes {most_s:.2g} s at most, and to copy its {bus['bytes']:,.0f} bytes to or from "
            f"the GPU takes {least_s:.2g} s at {bus['bytes_per_s'] / 1e9:.3g} GB/s"
        )
    return ""


def _resolution_s(identity_s: Sequence[float]) -> float:
    """Return how far the middle one of so many times may be off because handing over a result varies.

    What a call takes is one handing over less another one: twice the standard error of that, by the median
    of absolute deviations (times 1.4826 for a normal distribution), a median's being 1.2533 times a mean's.
    It is told by the reference's own calls; a program cannot make it larger and so be believed.
    """
    middle = median(identity_s)
    deviation_s = 1.4826 * median([abs(seconds - middle) for seconds in identity_s])
    return 2 * 1.2533 * deviation_s * sqrt(2 / len(identity_s))
