"""Which devices did the work is told by records; what a program says of its parts comes on top."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from grader.checks.placement import HINTS, Placement
from grader.config.decode import decode
from grader.contracts.call import Call, InputCase
from grader.errors import CourseError, UnjudgedError
from grader.harness.trace import read_trace
from grader.model.observation import Observation, Outcome
from grader.model.trace import DeviceWork, Trace, Transfer, shares_of, works_of
from grader.subject.observer.record import Record, launch

KIND = Placement()
KEYS = {"of": "work.f", "inputs": "numbers", "expected": "f"}
LAYERS = {"conv1": "cuda:0", "layer1": "cuda:0", "fc": "cuda:1"}


def options(**keys):
    """As a rubric gives them."""
    found, problems = decode(Placement.Options, KEYS | keys)
    assert problems == ()
    return found


def trace_of(*seconds, **more):
    """A trace in which device k ran kernels of these seconds."""
    record = Record("cupti")
    for device, each in enumerate(seconds):
        for one in each:
            record.launched(launch("k", (1,) * 3, (1,) * 3, seconds=one, device=device))
    return read_trace(json.loads(json.dumps(record.plain() | more)))


@dataclass
class CheckContext:
    """One call that returns and leaves a trace behind, in the place of a program with GPUs."""

    call: Call
    exchanged: Call | None = None
    devices: int = 2
    simulated: bool = False
    imported: Call = field(default_factory=lambda: Call(outcome=Outcome.OBSERVED))
    item: str = "placed"
    seed: str = "5eed"
    output: str = "printed"
    asked: list = field(default_factory=list)
    called: list = field(default_factory=list)

    def expected(self, name):
        if name == "received":
            return lambda parts, x: {"cuda:0": [100, 150, 500], "cuda:1": [40, 60, 300]}
        return lambda x: 2 * x

    def draw(self, family, number):
        self.asked.append(family)
        return (InputCase(name="a case", args=(21 if self.exchanged is None else np.full(9, number),)),)

    @contextmanager
    def subject(self, module, *, observed):
        assert (module, observed) == ("work", True)

        @dataclass
        class Subject:
            imported: Call
            output: str

            def call(_, function, case, *, proof=""):
                self.called.append(function)
                return self.exchanged if proof == "exchange" else self.call

        yield Subject(self.imported, self.output)


def returned(value, trace):
    return Call(outcome=Outcome.OBSERVED, value=value, trace=trace, wall_s=0.5)


def award(trace, *, value=42, devices=2, **keys):
    """What a call earns that gave `value` and did what `trace` tells, by way of stored evidence."""
    observation = KIND.observe(options(**keys), CheckContext(returned(value, trace), devices=devices))
    assert observation.outcome is Outcome.OBSERVED
    stored = json.loads(json.dumps(observation.facts))
    return KIND.award(options(**keys), Observation(item="placed", outcome=Outcome.OBSERVED, facts=stored), {})


def test_devices_that_share_the_work_earn_everything_and_the_shares_are_told():
    found = award(trace_of([0.1, 0.05], [0.05]))
    assert (found.fraction, found.reason) == (1.0, "cuda:0 did 75% of the work, cuda:1 did 25%")


@pytest.mark.parametrize(
    ("seconds", "devices", "reason"),
    [
        (([0.1, 0.1],), 2, "cuda:1 did nothing; cuda:0 ran 2 kernels, 0.2 s"),
        (([], [0.1]), 2, "cuda:0 did nothing; cuda:1 ran 1 kernel, 0.1 s"),
        (([0.1], [], [0.1]), 4, "cuda:1 and cuda:3 did nothing; cuda:0 ran 1 kernel, 0.1 s; cuda:2 ran 1"),
        ((), 2, "no kernel was launched on any GPU: the work was done on the CPU"),
    ],
)
def test_the_device_that_did_nothing_is_named(seconds, devices, reason):
    found = award(trace_of(*seconds), devices=devices)
    assert found.fraction == 0.0
    assert found.reason.startswith(reason)
    assert found.hint == HINTS["idle"]


NOTED, OWN = 2 * np.full(9, 1_000_004), 2 * np.full(9, 1_000_005)
EXCHANGED = {"arrays": 1, "problem": "", "written": True, "carrying": []}


def copied(*, to=0, back=0):
    both = {"host_to_device": to, "device_to_host": back}
    return {way: {"count": 1, "bytes": size, "seconds": None} for way, size in both.items()}


@pytest.mark.parametrize(
    ("value", "of_trace", "fraction", "reason"),
    [
        (NOTED, {"exchange": EXCHANGED}, 1, "cuda:0 did 50% of the work"),
        (OWN, {"exchange": EXCHANGED}, 0, "the result follows what the CPU holds"),
        (OWN, {"exchange": None, "copies": copied(to=10)}, 0, "the result follows what the CPU holds"),
        (OWN, {"exchange": None, "copies": copied(to=72)}, None, "nothing that was copied to the devices"),
        (NOTED + 1, {"exchange": EXCHANGED}, None, "it is right for neither inputs"),
        (NOTED, {"exchange": EXCHANGED, "copies": copied(back=1000)}, None, "1,000 bytes were copied to the"),
    ],
)
def test_the_result_must_be_that_of_the_inputs_on_the_devices(value, of_trace, fraction, reason):
    trace = trace_of([0.1], [0.1])
    context = CheckContext(returned(NOTED, trace), returned(value, trace_of([0.1], [0.1], **of_trace)))
    chosen = options(made_on_gpu=True)
    earned = KIND.award(chosen, KIND.observe(chosen, context), {})
    assert (None if earned.undecided else earned.fraction) == fraction
    assert reason in earned.reason


def test_a_share_is_one_of_time_and_not_of_kernels():
    decoy = trace_of([0.99], [0.001] * 10)
    found = award(decoy, share_at_least=0.3)
    assert found.fraction == 0.0
    assert found.reason.startswith(
        "cuda:1 did 1.0% of the work (10 kernels, 10 ms); at least 30% is asked for"
    )
    assert award(decoy, share_at_least=0.01).fraction == 1.0
    hardly = award(trace_of([0.99], [0.000161]), share_at_least=0.3).reason
    assert hardly == "cuda:1 did less than 0.1% of the work (1 kernel, 0.161 ms); at least 30% is asked for"


def test_where_no_times_are_told_kernels_are_counted():
    assert award(trace_of([None] * 3, [None]), share_at_least=0.25).fraction == 1.0
    assert award(trace_of([None] * 4, [None]), share_at_least=0.25).fraction == 0.0
    assert shares_of(works_of(trace_of([0.3], [0.1]), 3)) == pytest.approx((0.75, 0.25, 0))
    assert shares_of(works_of(Trace(source="simulator"), 2)) == (0.0, 0.0)
    untimed = DeviceWork(device=0, kernels=3, seconds=0.1), DeviceWork(device=1, kernels=1)
    assert shares_of(untimed) == (0.75, 0.25)


def test_every_device_runs_as_many_kernels_as_are_asked_for():
    trace = trace_of([0.1] * 5, [0.1] * 4)
    assert award(trace, kernels_at_least=4).fraction == 1.0
    found = award(trace, kernels_at_least=5)
    assert (found.fraction, found.reason) == (
        0.0,
        "cuda:1 ran 4 kernels, 0.4 s; at least 5 are asked for",
    )


def test_a_wrong_result_earns_nothing_however_the_work_was_shared():
    found = award(trace_of([0.1], [0.1]), value=41)
    assert found.fraction == 0.0
    assert found.reason.startswith("the result of the observed call is wrong: ")
    assert award(trace_of([0.1], [0.1]), value=41, expected="").fraction == 1.0


def test_an_incomplete_record_decides_nothing():
    found = award(trace_of([0.1], problem="two canaries are missing", complete=False))
    assert (found.undecided, found.again) == (True, True)
    assert found.reason == "what the devices did could not be observed: two canaries are missing"


def test_a_part_on_the_cpu_is_named_whatever_the_records_say():
    trace = trace_of([0.1], [0.1])
    value = {"loss": 42, "parts": LAYERS | {"layer3": "cpu"}}
    found = award(trace, value=value, parts="parts", expected="")
    assert (found.fraction, found.hint) == (0.0, HINTS["cpu"])
    assert found.reason == "layer3 lies on the CPU; every part belongs on a GPU"
    assert award(trace, value=value, parts="parts", expected="", on_cpu="allowed").fraction == 1.0


def test_many_parts_on_the_cpu_are_counted():
    parts = LAYERS | {f"layer{n}": "cpu" for n in range(3, 9)}
    found = award(trace_of([0.1], [0.1]), value={"parts": parts}, parts="parts", expected="")
    assert found.reason.startswith("layer3, layer4, layer5, layer6 and 2 more lie on the CPU")


def test_a_device_that_computes_and_holds_no_part_is_named():
    trace = trace_of([0.1], [0.1], [0.1])
    found = award(trace, value={"parts": LAYERS}, parts="parts", expected="", devices=3)
    assert (found.fraction, found.reason) == (0.0, "cuda:2 holds no part of the model")


def test_devices_that_are_told_of_do_not_stand_against_the_records():
    found = award(trace_of([0.1]), value={"parts": LAYERS}, parts="parts", expected="")
    assert found.fraction == 0.0
    assert found.reason.startswith("cuda:1 did nothing")


def test_the_rest_of_a_mapping_is_the_result(monkeypatch):
    monkeypatch.setattr(CheckContext, "expected", lambda self, name: lambda x: {"loss": 2 * x})
    trace = trace_of([0.1], [0.1])
    assert award(trace, value={"loss": 42, "parts": LAYERS}, parts="parts").fraction == 1.0
    assert award(trace, value={"loss": 43, "parts": LAYERS}, parts="parts").fraction == 0.0


def sent(first, second, from_peer=0, **more):
    """A trace of two devices that work alike, and what was copied to each."""
    trace = replace(
        trace_of([0.1], [0.1]),
        transfers=(
            Transfer(source=None, target=0, count=1, bytes=first),
            Transfer(source=None, target=1, count=1, bytes=second),
            Transfer(source=1, target=0, count=1, bytes=from_peer),
            Transfer(source=0, target=None, count=1, bytes=10**9),
        ),
    )
    return replace(trace, **more)


RECEIVING = {"parts": "parts", "expected": "", "received": "received"}
SPLIT = {"loss": 42, "parts": LAYERS}


@pytest.mark.parametrize(
    ("trace", "reason"),
    [
        (sent(99, 60), "cuda:0 was sent 99 bytes, and what is said to lie there has 100"),
        (sent(120, 0), "cuda:1 was sent 0 bytes, and what is said to lie there has 40"),
        (
            sent(100, 50, from_peer=401),
            "cuda:0 was sent 501 bytes, and what lies there or crosses into it has 150: it computes what is "
            "said to lie elsewhere",
        ),
    ],
)
def test_what_a_device_is_sent_tells_whether_it_computes_its_own_parts_alone(trace, reason):
    found = award(trace, value=SPLIT, **RECEIVING)
    assert (found.fraction, found.undecided, found.reason) == (0.0, False, reason)


def test_a_device_that_is_sent_no_more_than_it_needs_earns_everything_and_more_is_flagged():
    found = award(sent(100, 60, from_peer=50), value=SPLIT, **RECEIVING)
    assert (found.fraction, found.flags) == (1.0, ())
    found = award(sent(100, 60, from_peer=51), value=SPLIT, **RECEIVING)
    assert found.fraction == 1.0
    assert found.flags == (
        "sent_more: cuda:0 was sent 151 bytes, and what lies there or crosses into it has 150",
    )


def test_a_source_that_sees_no_copies_decides_nothing():
    found = award(sent(100, 60, unseen=("transfers",)), value=SPLIT, **RECEIVING)
    assert (found.fraction, found.undecided) == (0.0, True)


def test_what_is_received_follows_from_parts():
    _, problems = decode(Placement.Options, KEYS | {"received": "received"})
    assert "received: follows from the parts; name their key as parts" in str(problems)


def test_parts_on_which_the_oracle_fails_are_held_against_the_reference():
    context = CheckContext(returned(SPLIT, trace_of([0.1], [0.1])))

    def fails(parts, x):
        raise CourseError("expected.py:1: received: KeyError: 'fc'")

    context.expected = lambda name: fails
    chosen = options(**RECEIVING)
    with pytest.raises(UnjudgedError, match="KeyError"):
        KIND.observe(chosen, context)


def test_only_some_keys_of_a_result_are_compared():
    value = {"loss": 42, "other": 1, "parts": LAYERS}
    context = CheckContext(returned(value, trace_of([0.1], [0.1])))
    context.expected = lambda name: lambda x: {"loss": 2 * x}
    chosen = options(parts="parts", compared=["loss"])
    assert KIND.award(chosen, KIND.observe(chosen, context), {}).fraction == 1.0
    chosen = options(parts="parts")
    assert KIND.award(chosen, KIND.observe(chosen, context), {}).fraction == 0.0


def test_a_function_that_prepares_is_called_before():
    context = CheckContext(returned(42, trace_of([0.1], [0.1])))
    KIND.observe(options(prepare="work.build"), context)
    assert context.called == ["build", "f"]


UNREADABLE = [
    42,
    {"loss": 42},
    {"parts": [1]},
    {"parts": {"fc": 1}},
    {"parts": {1: "cuda:0"}},
    {"parts": {"fc": "cuda:" + "1" * 5000}},
]


@pytest.mark.parametrize("value", UNREADABLE, ids=str)
def test_what_says_nothing_of_parts_is_the_program_s_doing(value):
    """The driver is in its process, and whatever comes out of that may be the program's."""
    keys = options(parts="parts", expected="")
    observation = KIND.observe(keys, CheckContext(returned(value, trace_of([0.1], [0.1]))))
    assert observation.outcome is Outcome.REFUSED
    assert observation.note == "f(): gives no mapping with the devices of its parts under 'parts'"


def test_a_call_that_does_not_return_is_the_outcome():
    crashed = Call(outcome=Outcome.CRASHED, note="f() raised RuntimeError", traceback="work.py")
    found = KIND.observe(options(), CheckContext(crashed))
    assert (found.outcome, found.note) == (Outcome.CRASHED, "f() raised RuntimeError")
    assert found.output == "printed"


def test_an_item_without_devices_is_a_mistake_of_the_rubric():
    assert KIND.gpus_needed(options()) == 1


def test_a_simulator_gets_inputs_of_its_own():
    context = CheckContext(returned(42, trace_of([None], [None])), simulated=True)
    KIND.observe(options(simulated_inputs="few"), context)
    assert context.asked == ["few"]


def test_kernels_memory_and_copies_are_measured_for_each_device():
    record = Record("cupti")
    for device in (1, 0):
        record.launched(launch("k", (1,) * 3, (1,) * 3, seconds=0.25, device=device))
    record.note_peak(1, 4096)
    record.copied("peer_to_peer", 100, 0.1, (0, 1))
    record.copied("peer_to_peer", 50, 0.1, (0, 1))
    record.copied("host_to_device", 7, None, (None, 1))
    record.copied("host_to_host", 9, None, (None, None))
    trace = read_trace(json.loads(json.dumps(record.plain())))
    assert trace.devices == (
        DeviceWork(device=0, kernels=1, seconds=0.25),
        DeviceWork(device=1, kernels=1, seconds=0.25, peak_bytes=4096),
    )
    assert trace.transfers == (
        Transfer(source=0, target=1, count=2, bytes=150, seconds=0.2),
        Transfer(source=None, target=1, count=1, bytes=7),
    )
    assert trace.copies["peer_to_peer"].bytes == 150
    assert trace.copies["host_to_host"].bytes == 9
    observation = KIND.observe(options(), CheckContext(returned(42, trace)))
    measured = {name: quantity.value for name, quantity in observation.quantities.items()}
    assert measured == {
        "wall_s": 0.5,
        "gpu_0_kernels": 1,
        "gpu_0_kernels_s": 0.25,
        "gpu_1_kernels": 1,
        "gpu_1_kernels_s": 0.25,
        "gpu_1_peak_bytes": 4096,
        "gpu_0_to_gpu_1_bytes": 150,
        "host_to_gpu_1_bytes": 7,
    }


def test_points_by_hand_stand_above_what_was_seen():
    from grader.model.observation import Quantity

    given = {name: Quantity(value=5) for name in ("points_given", "points_possible")}
    seen = Observation(item="placed", outcome=Outcome.OBSERVED, quantities=given)
    assert KIND.award(options(), seen, {}).fraction == 1.0


def test_a_share_beyond_one_is_refused():
    _, problems = decode(Placement.Options, KEYS | {"share_at_least": 1.5})
    assert "between 0 and 1" in str(problems[0])
