"""What GPUs count of their bus is read for each of an item's, and told only where all of them count."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from grader.cuda import nvml
from grader.cuda.traffic import SentBytes, sent_between


class Library:
    """NVML with two GPUs, the second of which cannot count."""

    def ask(self, function, *arguments):
        if function == "nvmlDeviceGetHandleByUUID":
            return arguments[0] if arguments[0] in ("GPU-1", "GPU-2") else None
        (uuid, (field,)) = arguments
        assert (function, field) == ("nvmlDeviceGetFieldValues", 197)
        return [SimpleNamespace(nvmlReturn=3 * (uuid == "GPU-2"), value=SimpleNamespace(ullVal=77))]


@pytest.mark.parametrize(
    ("uuids", "counts"), [(["GPU-1"], (77,)), (["GPU-1", "GPU-2"], None), (["GPU-3"], None), ([], ())]
)
def test_a_count_for_each_gpu_or_none(monkeypatch, uuids, counts):
    monkeypatch.setattr(nvml, "load", lambda: (Library(), ""))
    assert SentBytes(tuple(uuids))() == counts


def test_without_nvml_nobody_counts(monkeypatch):
    monkeypatch.setattr(nvml, "load", lambda: (None, "no driver"))
    assert SentBytes(("GPU-1",))() is None


def test_between_two_readings_counters_may_begin_anew():
    assert sent_between((10, 2**32 - 5), (15, 7)) == 5 + 12
    assert sent_between(None, (1,)) is None
    assert sent_between((1,), None) is None
