"""The observer stands beside every call, and gives records of them when it is asked."""

from __future__ import annotations

import pytest

from grader.subject.cuda_driver import CudaError
from grader.subject.observer import observer as module
from grader.subject.observer.observer import Observer
from grader.subject.observer.record import Record


class PlayedSource:
    """Records nothing but how many calls there were; what is in `breaks` raises."""

    name = "cupti"

    def __init__(self, *breaks):
        self.breaks = breaks
        self.calls = 0
        self.whole = None

    def _do(self, name):
        if name in self.breaks:
            raise RuntimeError(f"no {name}")

    def start(self, *, whole=True):
        self.whole = whole
        self._do("start")

    def begin(self):
        self.calls += 1

    def end(self):
        pass

    settle = end

    def records(self, canary):
        self._do("records")
        calls, self.calls = self.calls, 0
        return [Record(self.name) for _ in range(calls)]


class PlayedCanary:
    def sing(self):
        pass


@pytest.fixture
def observing(monkeypatch):
    """An observer over a source, in a process without numba."""
    monkeypatch.setattr(module, "Canary", PlayedCanary)

    def observe(source):
        monkeypatch.setattr(module, "_source", source)
        monkeypatch.setattr(module, "_why_none", "")
        return Observer(lambda number: "")

    return observe


def test_each_call_since_the_last_time_has_a_record(observing):
    source = PlayedSource()
    observer = observing(source)
    assert source.whole is False
    assert [observer.call(lambda: 1), observer.call(lambda: 2)] == [1, 2]
    assert [record["complete"] for record in observer.records()] == [True, True]
    assert observer.records() == []


def test_a_call_that_raises_has_a_record_as_well(observing):
    observer = observing(PlayedSource())
    with pytest.raises(ZeroDivisionError):
        observer.call(lambda: 1 / 0)
    assert len(observer.records()) == 1


@pytest.mark.parametrize("step", ["start", "records"])
def test_a_source_that_breaks_voids_the_records_and_no_call(observing, step):
    observer = observing(PlayedSource(step))
    assert observer.call(lambda: 7) == 7
    (record,) = observer.records()
    assert not record["complete"]
    assert f"no {step}" in record["problem"]


def test_without_a_device_there_is_a_record_that_says_so(observing, monkeypatch):
    class Deaf(PlayedCanary):
        def sing(self):
            raise CudaError("out of order")

    observer = observing(PlayedSource())
    monkeypatch.setattr(module, "Canary", Deaf)
    observer.call(lambda: None)
    assert "out of order" in observer.records()[0]["problem"]
