"""A time is found to lie in the C function that ran then, whatever else ctypes is used for."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading
from itertools import count
from types import SimpleNamespace

import pytest

from grader.harness.trace import read_trace
from grader.model.trace import Site
from grader.subject.observer.cupti_source import Cupti
from grader.subject.observer.native_calls import NativeCalls
from grader.subject.observer.record import Record
from grader.subject.wire import Malformed

SOURCE = """
#include <errno.h>
typedef void (*ask)(int bytes);
int take(ask allocate, int bytes) { allocate(bytes); return 0; }
int take_twice(ask allocate, int bytes) { allocate(bytes); return take(allocate, bytes); }
double half(double x) { errno = 7; return x / 2; }
"""
ASK = ctypes.CFUNCTYPE(None, ctypes.c_int)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    (folder / "work.c").write_text(SOURCE)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / "work.so", folder / "work.c"], check=True)
    return str(folder / "work.so")


@pytest.fixture
def calls(monkeypatch):
    """Brackets that are gone after the test, by a clock that ticks whenever it is read."""
    monkeypatch.setattr(ctypes.CDLL, "__init__", ctypes.CDLL.__init__)
    calls = NativeCalls()
    calls.install()
    return calls


@pytest.fixture
def clock():
    return count(1).__next__


def test_a_time_lies_in_the_function_that_was_called_through_ctypes(calls, clock, built):
    library = ctypes.CDLL(built)
    times = []
    calls.begin(clock)
    for function in (library.take, library.take_twice):
        times.append(clock())
        function(ASK(lambda _: times.append(clock())), 8)
    times.append(clock())
    calls.end()
    assert list(calls.running(times)) == ["", "take", "", "take_twice", "take_twice", ""]


def test_of_calls_one_below_the_other_it_is_the_innermost(calls, clock, built):
    library = ctypes.CDLL(built)
    times = []

    def outer(_):
        times.append(clock())
        library.take(ASK(lambda _: times.append(clock())), 8)
        times.append(clock())

    calls.begin(clock)
    library.take_twice(ASK(outer), 8)
    assert list(calls.running(times)) == ["take_twice", "take", "take_twice"] * 2


def test_of_calls_side_by_side_it_is_the_later_one_until_that_returns(calls, clock, built):
    library = ctypes.CDLL(built)
    times = []
    inside, may_return = threading.Event(), threading.Event()

    def waits(_):
        inside.set()
        may_return.wait(10)

    calls.begin(clock)
    other = threading.Thread(target=library.take, args=(ASK(waits), 8))
    other.start()
    assert inside.wait(10)
    times.append(clock())
    library.take_twice(ASK(lambda _: times.append(clock())), 8)
    times.append(clock())
    may_return.set()
    other.join()
    assert list(calls.running(times)) == ["take", "take_twice", "take_twice", "take"]


def test_a_bracketed_function_is_a_function_of_ctypes_in_every_other_respect(calls, clock, built):
    library = ctypes.CDLL(built, use_errno=True)
    library.half.argtypes, library.half.restype = [ctypes.c_double], ctypes.c_double
    calls.begin(clock)
    assert library.half(3) == 1.5
    assert library.take(ASK(lambda _: None), 8) == 0
    assert ctypes.get_errno() == 7
    assert library["half"].__name__ == "half"
    assert isinstance(library.half, ctypes._CFuncPtr)
    assert ctypes.cast(library.half, ctypes.c_void_p).value
    with pytest.raises(ctypes.ArgumentError):
        library.half("a word")
    library.half.errcheck = lambda result, function, arguments: (result, function.__name__, arguments)
    assert library.half(3.0) == (1.5, "half", (3.0,))
    with pytest.raises(AttributeError):
        _ = library.nothing_of_that_name


@pytest.mark.parametrize("loads", [ctypes.CDLL, ctypes.PyDLL, ctypes.cdll.LoadLibrary])
def test_it_does_not_matter_how_a_library_is_loaded(calls, clock, built, loads):
    library = loads(built)
    times = []
    calls.begin(clock)
    library.take(ASK(lambda _: times.append(clock())), 8)
    assert list(calls.running(times)) == ["take"]


def test_a_record_begins_empty_and_ends_when_told_to(calls, clock, built):
    library = ctypes.CDLL(built)
    times = []
    ask = ASK(lambda _: times.append(clock()))
    library.take(ask, 8)
    calls.begin(clock)
    library.take(ask, 8)
    calls.end()
    library.take(ask, 8)
    assert list(calls.running(times)) == ["", "take", ""]
    calls.begin(clock)
    assert list(calls.running(times)) == ["", "", ""]


def test_too_many_calls_are_said_to_be_too_many(calls, clock, built, monkeypatch):
    monkeypatch.setattr("grader.subject.observer.native_calls.CALLS", 3)
    library = ctypes.CDLL(built)
    calls.begin(clock)
    kept = []
    for _ in range(5):
        library.take(ASK(lambda _: None), 8)
        kept.append(calls.complete)
    assert kept == [True, True, False, False, False]
    calls.begin(clock)
    assert calls.complete


KINDS = ("CONCURRENT_KERNEL", "MEMCPY", "MEMCPY2", "MEMORY2", "RUNTIME", "DRIVER")


@pytest.fixture
def played(monkeypatch, clock):
    """A `cupti` that hands out the records a test puts into it, stamped by the same clock."""

    class Names:
        """An enumeration as the bindings have them: by attribute, by name and by number."""

        def __init__(self, *names):
            self._numbers = {name: number for number, name in enumerate(names, 1)}

        def __getattr__(self, name):
            return self._numbers[name]

        __getitem__ = __getattr__

        def __call__(self, number):
            return SimpleNamespace(name=next(n for n, value in self._numbers.items() if value == number))

    cupti = SimpleNamespace(
        ActivityKind=Names(*KINDS),
        ActivityMemoryKind=Names("DEVICE", "PINNED"),
        CallbackDomain=Names("DRIVER_API", "RUNTIME_API"),
        get_callback_name=lambda domain, cbid: "cudaMalloc_v3020",
        get_timestamp=clock,
        made=[],
    )
    cupti.activity_register_callbacks = lambda requested, completed: setattr(cupti, "give", completed)
    cupti.activity_enable = lambda kind: None

    def flush(flag):
        cupti.give(cupti.made)
        cupti.made.clear()

    cupti.activity_flush_all = flush
    monkeypatch.setitem(sys.modules, "cupti", SimpleNamespace(cupti=cupti))
    return cupti


def memory(cupti, size, *, source="", memory="DEVICE"):
    """An allocation that CUPTI saw, and the call behind it."""
    at, number = cupti.get_timestamp(), len(cupti.made) + 1
    kinds = cupti.ActivityKind
    call = {"kind": kinds.RUNTIME, "start": at, "cbid": 22, "correlation_id": number}
    record = {
        "kind": kinds.MEMORY2,
        "timestamp": at,
        "bytes": size,
        "memory_kind": cupti.ActivityMemoryKind[memory],
        "memory_operation_type": 1,
        "correlation_id": number,
        "source": source,
    }
    cupti.made += [SimpleNamespace(**call), SimpleNamespace(**record)]


@pytest.mark.usefixtures("calls")  # which takes the brackets away again
def test_allocations_are_counted_by_function_and_by_the_library_that_asked(played, built):
    source = Cupti()
    source.start()
    library = ctypes.CDLL(built)
    source.open()
    source.begin()
    memory(played, 1)
    library.take(ASK(lambda size: memory(played, size, source="/usr/lib/libcublas.so.13")), 16)
    library.take_twice(ASK(lambda size: memory(played, size, source="/hand/in/work.so", memory="PINNED")), 4)
    source.end()
    source.settle()
    library.take(ASK(lambda size: memory(played, size)), 1000)
    assert len(source._native._calls) == 2
    record = source.records(SimpleNamespace(kernel="canary", bytes=7))[-1].plain()
    assert record["sites"] == [
        {"function": "", "library": "", "count": 1, "bytes": 1},
        {"function": "take", "library": "libcublas.so.13", "count": 1, "bytes": 16},
        {"function": "take_twice", "library": "work.so", "count": 2, "bytes": 8},
    ]
    assert read_trace(record).sites[2] == Site(function="take_twice", library="work.so", count=2, bytes=8)
    assert record["allocations"]["cudaMalloc"]["count"] == 4
    assert record["peak_bytes"] == 17
    assert record["unseen"] == []


@pytest.mark.usefixtures("calls")
def test_a_source_that_lost_calls_says_that_places_cannot_be_seen(played, built, monkeypatch):
    monkeypatch.setattr("grader.subject.observer.native_calls.CALLS", 1)
    source = Cupti()
    source.start()
    library = ctypes.CDLL(built)
    source.open()
    source.begin()
    library.take(ASK(lambda size: memory(played, size)), 16)
    source.end()
    source.settle()
    record = source.records(SimpleNamespace(kernel="canary", bytes=7))[-1].plain()
    assert record["unseen"] == ["sites"]


@pytest.mark.parametrize("site", [{"function": "take"}, {"function": 1, "library": ""}, "take", None])
def test_places_that_no_observer_of_ours_would_send_are_refused(site):
    plain = Record("cupti").plain() | {"sites": [site]}
    with pytest.raises((Malformed, LookupError)):
        read_trace(plain)
