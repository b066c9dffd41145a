"""Both sources say on which device a kernel ran, when, and from where to where a copy went."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from grader.harness.trace import read_trace
from grader.model.trace import DeviceWork, Transfer
from grader.subject.observer.cupti_source import Cupti
from grader.subject.observer.profiler_source import read_events
from grader.subject.observer.record import Record, launch

KINDS = ("CONCURRENT_KERNEL", "MEMCPY", "MEMCPY2", "MEMORY2", "RUNTIME", "DRIVER")
SECOND = 10**9


class Names:
    """An enumeration as the bindings have them: by attribute, by name and by number."""

    def __init__(self, *names):
        self._numbers = {name: number for number, name in enumerate(names, 1)}

    def __getattr__(self, name):
        return self._numbers[name]

    __getitem__ = __getattr__

    def __call__(self, number):
        return SimpleNamespace(name=next(n for n, value in self._numbers.items() if value == number))


@pytest.fixture
def cupti(monkeypatch):
    """A `cupti` whose clock stands where a test puts it, and that hands out what a test puts into `made`."""
    fake = SimpleNamespace(
        ActivityKind=Names(*KINDS),
        ActivityMemoryKind=Names("DEVICE", "PINNED"),
        ActivityMemcpyKind=Names("HTOD", "DTOH", "DTOD", "PTOP"),
        CallbackDomain=Names("DRIVER_API", "RUNTIME_API"),
        get_callback_name=lambda domain, cbid: "cudaLaunchKernel_v7000",
        activity_enable=lambda kind: None,
        get_timestamp=lambda: fake.now,
        now=0,
        made=[],
    )
    fake.activity_register_callbacks = lambda requested, completed: setattr(fake, "give", completed)

    def flush(flag):
        fake.give(fake.made)
        fake.made.clear()

    fake.activity_flush_all = flush
    monkeypatch.setitem(sys.modules, "cupti", SimpleNamespace(cupti=fake))
    return fake


def kernel(cupti, number, *, asked, start, end, device):
    """A kernel, and the call that asked for it; times in seconds."""
    shape = {f"{what}_{axis}": 1 for what in ("grid", "block") for axis in "xyz"}
    call = {"kind": cupti.ActivityKind.RUNTIME, "start": asked * SECOND, "cbid": 1, "correlation_id": number}
    record = {
        "kind": cupti.ActivityKind.CONCURRENT_KERNEL,
        "name": "k",
        "start": start * SECOND,
        "end": end * SECOND,
        "device_id": device,
        "stream_id": 7,
        "correlation_id": number,
        "static_shared_memory": 0,
        "dynamic_shared_memory": 0,
        **shape,
    }
    cupti.made += [SimpleNamespace(**call), SimpleNamespace(**record)]


def copy(cupti, kind, size, *, device, peers=None, record="MEMCPY"):
    ends = {} if peers is None else {"src_device_id": peers[0], "dst_device_id": peers[1]}
    cupti.made.append(
        SimpleNamespace(
            kind=cupti.ActivityKind[record],
            copy_kind=cupti.ActivityMemcpyKind[kind],
            bytes=size,
            start=11 * SECOND,
            end=12 * SECOND,
            device_id=device,
            **ends,
        )
    )


def allocation(cupti, size, *, device, released=False):
    cupti.made.append(
        SimpleNamespace(
            kind=cupti.ActivityKind.MEMORY2,
            timestamp=11 * SECOND,
            bytes=size,
            memory_kind=cupti.ActivityMemoryKind.DEVICE,
            memory_operation_type=2 if released else 1,
            correlation_id=0,
            source="",
            device_id=device,
        )
    )


@pytest.fixture
def seen(cupti):
    """Record a call that lasted from second 10 to second 20, and whose work was done at second 30."""

    def record(act):
        source = Cupti()
        source._native = SimpleNamespace(
            install=lambda: None,
            begin=lambda clock: None,
            end=lambda: None,
            complete=True,
            running=lambda times: ("" for _ in times),
        )
        source.start()
        source.open()
        for second, step in ((10, source.begin), (20, source.end), (30, source.settle)):
            cupti.now = second * SECOND
            step()
        act()
        plain = source.records(SimpleNamespace(kernel="canary", bytes=7))[-1].plain()
        return read_trace(plain)

    return record


def test_cupti_tells_when_a_kernel_was_asked_for_and_when_it_ran(cupti, seen):
    trace = seen(lambda: kernel(cupti, 1, asked=12, start=15, end=19, device=1))
    (one,) = trace.launches
    assert (one.device, one.asked_s, one.began_s, one.seconds) == (1, 2.0, 5.0, 4.0)


def test_what_was_asked_for_in_a_call_and_ran_after_it_belongs_to_the_call(cupti, seen):
    trace = seen(lambda: kernel(cupti, 1, asked=19, start=25, end=29, device=0))
    (one,) = trace.launches
    assert (one.asked_s, one.began_s) == pytest.approx((9, 15))


def test_cupti_adds_up_the_kernels_of_each_device(cupti, seen):
    def act():
        for number, device in enumerate((0, 1, 1)):
            kernel(cupti, number, asked=11, start=12, end=14, device=device)

    trace = seen(act)
    assert trace.launch_count == 3
    assert trace.devices == (
        DeviceWork(device=0, kernels=1, seconds=2.0),
        DeviceWork(device=1, kernels=2, seconds=4.0),
    )


@pytest.mark.parametrize("name", ["ncclDevKernel_Broadcast_RING_LL", "ncclKernel_AllReduce_RING_Sum_float"])
def test_a_collective_that_waits_for_another_device_is_no_work(name):
    record = Record("cupti")
    record.launched(launch("gemm", (1, 1, 1), (1, 1, 1), seconds=1.0, device=0))
    record.launched(launch(name, (1, 1, 1), (1, 1, 1), seconds=9.0, device=1))
    trace = read_trace(record.plain())
    assert [one.kernel for one in trace.launches] == ["gemm", name]
    assert trace.launch_count == 2
    assert trace.devices == (
        DeviceWork(device=0, kernels=1, seconds=1.0),
        DeviceWork(device=1, kernels=0, seconds=None),
    )


def test_cupti_tells_both_ends_of_a_copy(cupti, seen):
    def act():
        copy(cupti, "HTOD", 1, device=1)
        copy(cupti, "DTOH", 2, device=1)
        copy(cupti, "DTOD", 4, device=0)
        copy(cupti, "PTOP", 8, device=0, peers=(0, 1), record="MEMCPY2")
        copy(cupti, "PTOP", 16, device=0, peers=(0, 1), record="MEMCPY2")

    trace = seen(act)
    assert [(one.source, one.target, one.bytes) for one in trace.transfers] == [
        (None, 1, 1),
        (1, None, 2),
        (0, 0, 4),
        (0, 1, 24),
    ]
    assert trace.transfers[3] == Transfer(source=0, target=1, count=2, bytes=24, seconds=2.0)
    assert {name: one.bytes for name, one in trace.copies.items()} == {
        "host_to_device": 1,
        "device_to_host": 2,
        "device_to_device": 4,
        "peer_to_peer": 24,
    }


def test_cupti_tells_the_most_memory_of_each_device(cupti, seen):
    def act():
        allocation(cupti, 100, device=0)
        allocation(cupti, 100, device=0, released=True)
        allocation(cupti, 60, device=0)
        allocation(cupti, 40, device=1)

    trace = seen(act)
    assert [(one.device, one.peak_bytes) for one in trace.devices] == [(0, 100), (1, 40)]
    assert trace.peak_bytes == 100


def test_cupti_tells_calls_apart_that_are_recorded_together(cupti):
    source = Cupti()
    source.start(whole=False)
    for begins in (10, 40):
        for second, step in ((begins, source.begin), (begins + 10, source.end), (begins + 20, source.settle)):
            cupti.now = second * SECOND
            step()
        kernel(cupti, begins, asked=begins + 1, start=begins + 2, end=begins + 2 + begins, device=0)
    traces = [read_trace(one.plain()) for one in source.records(SimpleNamespace(kernel="canary", bytes=7))]
    assert [[launch.seconds for launch in trace.launches] for trace in traces] == [[10.0], [40.0]]
    assert all("of its own the observer saw 0 and 0" in trace.problem for trace in traces)
    assert source.records(SimpleNamespace(kernel="canary", bytes=7)) == []


def event(category, name, at, **about):
    return {"cat": category, "name": name, "ts": at, "dur": 500_000, "args": about}


def test_the_profiler_tells_the_same_from_its_trace():
    canary = "grader_canary"
    trace = read_trace(
        read_events(
            [
                event("kernel", canary, 0),
                event("cuda_runtime", "cudaLaunchKernel", 1_000_000, correlation=5),
                event("kernel", "k", 2_000_000, device=1, correlation=5),
                event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 2_000_000, device=1, bytes=3),
                event("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 2_000_000, device=1, bytes=4),
                event(
                    "gpu_memcpy",
                    "Memcpy PtoP (Device -> Device)",
                    2_000_000,
                    fromDevice=0,
                    inDevice=0,
                    toDevice=1,
                    bytes=5,
                ),
                event("kernel", canary, 9_000_000),
            ],
            canary,
        ).plain()
    )
    (one,) = trace.launches
    assert (one.device, one.asked_s, one.began_s, one.seconds) == (1, 1.0, 2.0, 0.5)
    assert trace.devices == (DeviceWork(device=1, kernels=1, seconds=0.5),)
    assert [(one.source, one.target, one.bytes) for one in trace.transfers] == [
        (None, 1, 3),
        (1, 1, 4),
        (0, 1, 5),
    ]


def called(cupti, number, *, second):
    """A call of the runtime's, by its correlation number."""
    kind, at = cupti.ActivityKind.RUNTIME, second * SECOND
    cupti.made.append(SimpleNamespace(kind=kind, correlation_id=number, start=at, end=at, cbid=1))


@pytest.mark.parametrize(
    ("numbers", "missing"),
    [((), 0), ((7,), 0), ((7, 9, 8), 0), ((7, 8, 11), 2)],
    ids=["no calls", "one", "all", "two are missing"],
)
def test_cupti_tells_how_many_calls_no_record_has(cupti, seen, numbers, missing):
    def act():
        called(cupti, 3, second=5)
        for number in numbers:
            called(cupti, number, second=12)

    assert seen(act).unrecorded == missing


def test_a_call_before_the_numbers_of_the_call_in_another_thread_is_there(cupti, seen):
    def act():
        called(cupti, 8, second=9)
        for number in (7, 9):
            called(cupti, number, second=12)

    assert seen(act).unrecorded == 0


def test_what_was_called_before_the_call_crosses_the_wire(cupti):
    source = Cupti()
    source.start()
    called(cupti, 3, second=5)
    source.open()
    for step in (source.begin, source.end, source.settle):
        step()
    trace = read_trace(source.records(SimpleNamespace(kernel="canary", bytes=7))[-1].plain())
    assert (trace.api_before, trace.api) == ({"cudaLaunchKernel": 1}, {})
