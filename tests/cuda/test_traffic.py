"""What GPUs count of their bus is read for each of an item's, and told only where all of them count."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from grader.cuda import nvml
from grader.cuda.traffic import BusBytes, moved_between


class Library:
    """NVML with two GPUs, the second of which cannot count."""

    def ask(self, function, *arguments):
        if function == "nvmlDeviceGetHandleByUUID":
            return arguments[0] if arguments[0] in ("GPU-1", "GPU-2") else None
        uuid, fields = arguments
        assert (function, fields) == ("nvmlDeviceGetFieldValues", [197, 198])
        return [
            SimpleNamespace(nvmlReturn=3 * (uuid == "GPU-2"), value=SimpleNamespace(ullVal=count))
            for count in (77, 88)
        ]


@pytest.mark.parametrize(
    ("uuids", "counts"), [(["GPU-1"], ((77, 88),)), (["GPU-1", "GPU-2"], None), (["GPU-3"], None), ([], ())]
)
def test_a_count_for_each_gpu_or_none(monkeypatch, uuids, counts):
    monkeypatch.setattr(nvml, "load", lambda: (Library(), ""))
    assert BusBytes(tuple(uuids))() == counts


def test_without_nvml_nobody_counts(monkeypatch):
    monkeypatch.setattr(nvml, "load", lambda: (None, "no driver"))
    assert BusBytes(("GPU-1",))() is None


def test_between_two_readings_counters_may_begin_anew():
    assert moved_between(((10, 1), (2**32 - 5, 2)), ((15, 4), (7, 9))) == (5 + 12, 3 + 7)
    assert moved_between(None, ((1, 1),)) is None
    assert moved_between(((1, 1),), None) is None
