"""An observer's record as it comes out of a child, read with suspicion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.model.trace import DeviceWork, Exchanged, Launch, Site, Trace, Traffic, Transfer
from grader.subject.wire import Malformed

TEXT = 200
ENTRIES = 2000
"""No honest observer sends longer text or longer lists: what comes is from the program's own process."""
LARGEST = 2**63


def read_trace(plain: Any) -> Trace:
    """A trace of its plain JSON.

    Raises:
        Malformed: it is not what an observer of ours sends.
    """
    document = _mapping(plain)
    framework = document.get("framework_launches")
    return Trace(
        source=_text(document["source"]),
        complete=document["complete"] is True,
        problem=_text(document["problem"]),
        launches=_launches(document["launches"]),
        launch_count=_count(document["launch_count"]),
        framework_launches=None if framework is None else _launches(framework),
        copies=_traffic(document["copies"]),
        devices=_devices(document["devices"]),
        transfers=_transfers(document["transfers"]),
        allocations=_traffic(document["allocations"]),
        sites=_sites(document["sites"]),
        frees=_counts(document["frees"]),
        peak_bytes=_count_or_none(document["peak_bytes"]),
        synchronisations=_count_or_none(document["synchronisations"]),
        api=_counts(document["api"]),
        api_before=_counts(document["api_before"]),
        unrecorded=_count(document["unrecorded"]),
        unseen=tuple(map(_text, _list(document["unseen"]))),
        exchange=_exchange(document["exchange"]),
    )


def _exchange(plain: Any) -> Exchanged | None:
    if plain is None:
        return None
    document = _mapping(plain)
    return Exchanged(
        arrays=_count(document["arrays"]),
        problem=_text(document["problem"]),
        written=document["written"] is True,
        carrying=tuple(map(_count, _list(document["carrying"]))),
    )


def _launches(plain: Any) -> tuple[Launch, ...]:
    return tuple(
        Launch(
            kernel=_text(entry["kernel"]),
            grid=_dim3(entry["grid"]),
            block=_dim3(entry["block"]),
            shared_bytes=_count(entry["shared_bytes"]),
            seconds=_seconds(entry["seconds"]),
            device=_count(entry["device"]),
            stream=_count(entry["stream"]),
            asked_s=_seconds(entry["asked_s"]),
            began_s=_seconds(entry["began_s"]),
        )
        for entry in map(_mapping, _list(plain))
    )


def _traffic(plain: Any) -> Mapping[str, Traffic]:
    return {
        _text(name): Traffic(
            count=_count(entry["count"]), bytes=_count(entry["bytes"]), seconds=_seconds(entry["seconds"])
        )
        for name, entry in _mapping(plain).items()
    }


def _devices(plain: Any) -> tuple[DeviceWork, ...]:
    return tuple(
        DeviceWork(
            device=_count(entry["device"]),
            kernels=_count(entry["kernels"]),
            seconds=_seconds(entry["seconds"]),
            peak_bytes=_count_or_none(entry["peak_bytes"]),
        )
        for entry in map(_mapping, _list(plain))
    )


def _transfers(plain: Any) -> tuple[Transfer, ...]:
    return tuple(
        Transfer(
            source=_count_or_none(entry["source"]),
            target=_count_or_none(entry["target"]),
            count=_count(entry["count"]),
            bytes=_count(entry["bytes"]),
            seconds=_seconds(entry["seconds"]),
        )
        for entry in map(_mapping, _list(plain))
    )


def _sites(plain: Any) -> tuple[Site, ...]:
    return tuple(
        Site(
            function=_text(entry["function"]),
            library=_text(entry["library"]),
            count=_count(entry["count"]),
            bytes=_count(entry["bytes"]),
        )
        for entry in map(_mapping, _list(plain))
    )


def _counts(plain: Any) -> Mapping[str, int]:
    return {_text(name): _count(number) for name, number in _mapping(plain).items()}


def _dim3(plain: Any) -> tuple[int, ...]:
    if type(plain) is not list or len(plain) != 3:
        raise Malformed("a grid or block has three sides")
    return tuple(map(_count, plain))


def _count(plain: Any) -> int:
    if type(plain) is not int or not 0 <= plain < LARGEST:
        raise Malformed("a count was expected")
    return plain


def _count_or_none(plain: Any) -> int | None:
    return None if plain is None else _count(plain)


def _seconds(plain: Any) -> float | None:
    if plain is None:
        return None
    if type(plain) not in (int, float) or not 0 <= plain < LARGEST:
        raise Malformed("seconds were expected")
    return float(plain)


def _text(plain: Any) -> str:
    if type(plain) is not str:
        raise Malformed("text was expected")
    return plain[:TEXT]


def _list(plain: Any) -> list[Any]:
    if type(plain) is not list or len(plain) > ENTRIES:
        raise Malformed("a list was expected")
    return plain


def _mapping(plain: Any) -> dict[str, Any]:
    if type(plain) is not dict or len(plain) > ENTRIES:
        raise Malformed("a mapping was expected")
    return plain
