"""What is allocated once is flat, what is allocated again grows, and the verdict says where it does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace

import numpy as np
import pytest

from grader.checks.allocations import Training
from grader.checks.cuda_calls import CudaCalls
from grader.config.decode import decode
from grader.contracts.call import Call, InputCase
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.options import measuring
from grader.model.trace import Launch, Site, Trace, Traffic

KIND = CudaCalls()
KEYS = {"of": "training.fit", "inputs": "pictures", "epochs": [2, 2]}
OWN = {"own": "flat", "own_through": ["DLArrayAlloc"]}

PLAN = ("DLArrayAlloc", "libc_runtime_api.so")
HANDLE = ("DLGpuMatrixMultiply", "libcublas.so.13")
NOWHERE = ("", "")


def options(**keys):
    """As a rubric gives them."""
    found, problems = decode(CudaCalls.Options, KEYS | keys)
    assert problems == ()
    return found


def trace_of(places=None, *, launches=100, each_bytes=1000, peak_bytes=10_000, **more):
    """A record in which so many allocations happened at each place."""
    places = {PLAN: 64} if places is None else places
    count = sum(places.values())
    told = {
        "launch_count": launches,
        "allocations": {"cudaMalloc": Traffic(count=count, bytes=count * each_bytes)},
        "sites": tuple(
            Site(function=function, library=library, count=n, bytes=n * each_bytes)
            for (function, library), n in places.items()
        ),
        "peak_bytes": peak_bytes,
    }
    return Trace(source="cupti", **(told | more))


def stored(*traces, trained=True, note="", losses=(2.0, 1.0)):
    """The evidence of three trainings as it comes back from a file."""
    trainings = [Training(epochs=2 * n, trace=trace) for n, trace in zip((1, 2, 4), traces, strict=True)]
    ends = dict(zip(("first_loss", "last_loss"), losses, strict=True))
    return Observation(
        item="flat",
        outcome=Outcome.OBSERVED,
        cases=tuple(
            Case(
                name=f"{one.epochs} epochs",
                outcome=Outcome.OBSERVED,
                agrees={"trained": trained},
                note=note,
                quantities={name: Quantity(value=loss) for name, loss in ends.items()},
            )
            for one in trainings
        ),
        facts=json.loads(json.dumps({"trainings": [asdict(one) for one in trainings]})),
    )


def growing(*sites, **every):
    """Three records, each with its own allocations; the longer ones launch more kernels."""
    return [
        trace_of(one, launches=100 * n, **{name: values[i] for name, values in every.items()})
        for i, (n, one) in enumerate(zip((1, 2, 4), sites, strict=True))
    ]


def award(traces, *, evidence=None, **keys):
    return KIND.award(options(**keys), stored(*traces, **(evidence or {})), {})


FLAT = growing({PLAN: 64}, {PLAN: 64}, {PLAN: 64})
HANDLE_EACH_TIME = growing(*({PLAN: 64, HANDLE: 12 * n, NOWHERE: 3} for n in (50, 100, 200)))
PLAN_EACH_TIME = growing(*({PLAN: 20 * n} for n in (3, 5, 9)))
BOTH = growing(*({PLAN: 20 * n, HANDLE: 600 * n} for n in (1, 2, 4)))


def test_as_many_allocations_for_any_number_of_epochs_earn_everything():
    found = award(FLAT)
    assert (found.fraction, found.undecided, found.flags) == (1.0, False, ())
    assert found.reason == "allocations: 64 at 2, 4 and 8 epochs alike"


@pytest.mark.parametrize(
    ("keys", "wall_s", "reason"),
    [
        (
            {"peak_bytes_at_least": 10_001},
            1.0,
            "2 epochs are recorded with 10,000 bytes in use at one time, and need 10,001",
        ),
        ({"launches_at_least": 51}, 1.0, "2 more epochs are recorded with 100 more launches, and need 102"),
        (
            {},
            1e-5,
            "164 launches and allocations are recorded in 1e-05 s; no driver answers more than 2,000,000 in "
            "a second",
        ),
    ],
)
def test_records_that_no_training_leaves_wait_for_a_person(keys, wall_s, reason):
    observation = stored(*FLAT)
    took = Quantity(value=wall_s, unit="s")
    cases = tuple(replace(one, quantities={**one.quantities, "wall_s": took}) for one in observation.cases)
    found = KIND.award(options(**keys), replace(observation, cases=cases), {})
    assert (found.fraction, found.undecided, found.reason) == (0.0, True, f"{reason}; a person must look")


def test_records_that_lose_everything_need_no_person():
    found = award(PLAN_EACH_TIME, peak_bytes_at_least=10**9)
    assert (found.fraction, found.undecided) == (0.0, False)


def test_records_at_the_bounds_are_believed():
    assert award(FLAT, peak_bytes_at_least=10_000, launches_at_least=50).fraction == 1.0


def test_a_handle_made_in_every_product_is_told_by_its_function_and_its_library():
    found = award(HANDLE_EACH_TIME)
    assert (found.fraction, found.undecided) == (0.0, False)
    assert found.reason == (
        "the longer it trains the more allocations: 667 at 2, 1,267 at 4, 2,467 at 8 epochs; "
        "1,800 more inside DLGpuMatrixMultiply (asked for by libcublas.so.13)"
    )
    assert "make one, and keep it" in found.hint


def test_a_plan_that_is_right_keeps_its_points_while_handles_grow():
    found = award(HANDLE_EACH_TIME, totals="any", **OWN)
    assert (found.fraction, found.flags) == (1.0, ())
    assert found.reason == (
        "allocations inside DLArrayAlloc: 64 at 2, 4 and 8 epochs alike; "
        "1,800 more inside DLGpuMatrixMultiply (asked for by libcublas.so.13)"
    )


def test_a_plan_that_allocates_again_and_again_is_told_without_advice_on_handles():
    found = award(PLAN_EACH_TIME, totals="any", **OWN)
    assert found.fraction == 0.0
    assert found.reason == (
        "the longer it trains the more allocations inside DLArrayAlloc: 60 at 2, 100 at 4, 180 at 8 epochs; "
        "120 more inside DLArrayAlloc (asked for by libc_runtime_api.so)"
    )
    assert found.hint == ""


@pytest.mark.parametrize(
    ("traces", "credit", "fraction"),
    [
        (FLAT, "all", 1.0),
        (FLAT, "per_case", 1.0),
        (HANDLE_EACH_TIME, "all", 0.0),
        (HANDLE_EACH_TIME, "per_case", 0.5),
        (BOTH, "all", 0.0),
        (BOTH, "per_case", 0.0),
    ],
)
def test_where_both_must_be_flat_each_may_earn_its_share(traces, credit, fraction):
    assert award(traces, credit=credit, **OWN).fraction == fraction


def test_the_place_that_grows_most_comes_first_and_the_smallest_are_added_up():
    sites = [(f"f{n}", "") for n in range(6)]
    traces = growing(*({site: n * times for n, site in enumerate(sites)} for times in (1, 2, 4)))
    assert award(traces).reason.endswith(
        "15 more inside f5, 12 more inside f4, 9 more inside f3, 6 more inside f2, 3 more in other places"
    )


def test_what_no_place_is_known_of_is_told_as_elsewhere():
    traces = [trace_of({NOWHERE: 5 * n}, launches=n, sites=()) for n in (1, 2, 4)]
    assert award(traces).reason.endswith("; 15 more elsewhere")


@pytest.mark.parametrize(
    ("counts", "slack", "fraction"),
    [
        ((64, 65, 66), 0, 0.0),
        ((64, 65, 66), 1, 0.0),
        ((64, 65, 66), 2, 1.0),
        ((64, 64, 65), 0, 0.0),
        ((90, 64, 80), 0, 0.0),
        ((90, 64, 64), 0, 1.0),
    ],
)
def test_a_longer_training_may_exceed_no_shorter_one_by_more_than_the_slack(counts, slack, fraction):
    assert award(growing(*({PLAN: n} for n in counts)), slack=slack).fraction == fraction


def test_as_many_allocations_of_growing_size_are_caught():
    grow = growing({PLAN: 2}, {PLAN: 2}, {PLAN: 2}, each_bytes=(2**20, 2**21, 2**22))
    found = award(grow)
    assert found.fraction == 0.0
    assert found.reason == (
        "as many allocations, but larger ones the longer it trains: "
        "2,097,152 bytes at 2, 4,194,304 bytes at 4, 8,388,608 bytes at 8 epochs"
    )
    assert award(grow, peak_growth_at_most=2**23).fraction == 1.0
    assert award(grow, totals="any", **OWN).fraction == 0.0


def test_memory_that_is_never_given_back_counts_against_the_widest_that_is_asked_for():
    leak = {"peak_bytes": (2**20, 2**22, 2**24)}
    flat = growing({PLAN: 64}, {PLAN: 64}, {PLAN: 64}, **leak)
    assert award(flat).reason.startswith("the longer it trains the more memory is in use at one time: ")
    assert award(flat, credit="per_case", **OWN).fraction == 0.5
    assert award(flat, totals="any", **OWN).fraction == 0.0
    assert award(flat, peak_growth_at_most=2**24).fraction == 1.0


def test_what_the_slack_allows_may_be_of_any_size():
    traces = growing({PLAN: 64}, {PLAN: 65}, {PLAN: 66}, each_bytes=[2**24] * 3)
    assert award(traces, slack=2).fraction == 1.0


def test_own_arrays_that_take_the_place_of_others_grow_all_the_same():
    traces = growing(*({PLAN: n, NOWHERE: 100 - n} for n in (10, 20, 40)), peak_bytes=(0, 2**22, 2**24))
    assert award(traces, credit="per_case", **OWN).fraction == 0.0
    assert award(traces, credit="per_case", peak_growth_at_most=2**24, **OWN).fraction == 0.5


def test_where_only_totals_must_be_flat_nobody_looks_at_places():
    traces = growing(*({PLAN: 100 - n, NOWHERE: n} for n in (10, 20, 40)))
    assert (award(traces).fraction, award(traces).flags) == (1.0, ())


def test_memory_made_in_pieces_of_the_driver_counts_though_it_has_no_record():
    traces = [
        trace_of(launches=n, api={"cuMemCreate": n, "cudaMalloc": 64, "cuMemAlloc": 64}) for n in (1, 2, 4)
    ]
    found = award(traces)
    assert found.reason.endswith("65 at 2, 66 at 4, 68 at 8 epochs; 3 more elsewhere")


VOID = {"complete": False, "problem": "of 2 allocations of its own the observer saw 0"}


@pytest.mark.parametrize(
    ("more", "keys", "said"),
    [
        (VOID, {}, "the observer saw 0"),
        ({"unseen": ("allocations",)}, {}, "cupti cannot see allocations"),
        ({"unseen": ("sites",)}, OWN, "cupti cannot see sites"),
        ({"peak_bytes": None}, {}, "did not see how much memory was in use"),
    ],
)
@pytest.mark.parametrize("which", [0, 2])
def test_one_incomplete_record_decides_nothing_whatever_else_is_wrong(more, keys, said, which):
    traces = list(HANDLE_EACH_TIME)
    traces[which] = trace_of(**more)
    found = award(traces, evidence={"trained": False, "note": "got 1"}, **keys)
    assert (found.fraction, found.undecided, found.again) == (0.0, True, True)
    assert found.reason.startswith("the allocations could not be observed: ")
    assert said in found.reason


def test_totals_are_judged_where_only_the_places_could_not_be_seen():
    traces = growing(*({NOWHERE: n} for n in (1, 2, 3)), unseen=[("sites",)] * 3)
    found = award(traces)
    assert (found.undecided, found.reason) == (
        False,
        "the longer it trains the more allocations: 1 at 2, 2 at 4, 3 at 8 epochs",
    )


def test_flat_counts_of_no_training_earn_nothing():
    found = award(FLAT, evidence={"trained": False, "note": "item 1: got 3, expected 2"})
    assert (found.fraction, found.undecided) == (0.0, False)
    assert found.reason == ("2 epochs: what comes back is not that of a training: item 1: got 3, expected 2")


@pytest.mark.parametrize(("last", "fraction"), [(1.0, 1.0), (1.8, 1.0), (1.9, 0.0), (2.5, 0.0)])
def test_a_loss_must_fall_as_far_as_the_rubric_says(last, fraction):
    found = award(FLAT, evidence={"losses": (2.0, last)}, trained="losses_fall")
    assert found.fraction == fraction
    if not fraction:
        assert found.reason == f"2 epochs: the loss goes from 2 to {last:g}, and must fall to 1.8"


@pytest.mark.parametrize(
    ("launches", "said"),
    [
        ((0, 0, 0), "no kernel was launched: it does not train on the GPU"),
        (
            (9, 9, 9),
            "more epochs launch no more kernels (9 at 2, 4 and 8 epochs alike): the GPU does not train",
        ),
        (
            (9, 18, 18),
            "more epochs launch no more kernels (9 at 2, 18 at 4, 18 at 8 epochs): the GPU does not",
        ),
    ],
)
def test_a_training_on_the_cpu_allocates_nothing_and_earns_nothing(launches, said):
    found = award([trace_of(launches=n) for n in launches])
    assert found.fraction == 0.0
    assert found.reason.startswith(said)


def test_arrays_that_are_never_seen_to_be_allocated_are_for_a_person():
    traces = growing({NOWHERE: 64}, {NOWHERE: 64}, {NOWHERE: 64})
    assert award(traces).fraction == 1.0
    found = award(traces, totals="any", **OWN)
    assert (found.fraction, found.undecided, found.again) == (0.0, True, False)
    assert found.flags == ("own_unseen: no allocation was seen inside DLArrayAlloc",)


def test_growth_beside_all_functions_is_shown_to_a_person_where_only_the_own_must_be_flat():
    traces = growing(*({PLAN: 64, NOWHERE: n} for n in (10, 20, 40)))
    found = award(traces, totals="any", **OWN)
    assert (found.fraction, found.undecided) == (1.0, False)
    (flag,) = found.flags
    assert flag == "unbracketed: 30 more allocations were made by no function that ctypes called"
    shared = award(traces, credit="per_case", **OWN)
    assert (shared.fraction, shared.flags) == (0.5, found.flags)


def test_several_functions_may_allocate_the_own_arrays():
    traces = growing(*({PLAN: 64, ("DLWorkspaceAlloc", ""): n} for n in (10, 20, 40)))
    keys = {"totals": "any", "own": "flat", "own_through": ["DLArrayAlloc", "DLWorkspaceAlloc"]}
    assert award(traces, **keys).reason.startswith(
        "the longer it trains the more allocations inside DLArrayAlloc or DLWorkspaceAlloc: 74 at 2, "
    )


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"epochs": [4, 2]}, "epochs: must be two numbers"),
        ({"epochs": [2]}, "epochs: must be two numbers"),
        ({"epochs": [1, 3], "trained": "losses_fall"}, "the least must be 2 or more"),
        ({"totals": "any"}, "make totals or own flat"),
        ({"own": "flat"}, "own_through: names no C function"),
        ({"epochs": [0, 2]}, "must be a whole number > 0"),
    ],
)
def test_a_rubric_that_asks_for_nothing_sensible_is_refused(keys, said):
    found, problems = decode(CudaCalls.Options, KEYS | keys)
    assert found is None
    assert said in " ".join(map(str, problems))


def test_only_what_is_judged_may_change_without_observing_again():
    assert set(measuring(options())) == {
        "of",
        "inputs",
        "epochs",
        "epochs_as",
        "trained",
        "expected",
        "tolerance",
    }


# Observing: each call is a training in a child of its own.

X = np.arange(6.0).reshape(2, 3)


@dataclass
class ObservedSubject:
    train: object
    imported: Call = field(default_factory=lambda: Call(outcome=Outcome.OBSERVED))
    output: str = ""

    def call(self, function, case, *, proof=""):
        assert function == "fit"
        self.output = f"{case.kwargs}\n"
        return self.train(*case.args, **case.kwargs)


@dataclass
class ObservedContext:
    """Children that train as `train` says, and what they were asked for."""

    train: object
    oracles: dict = field(default_factory=dict)
    imported: Call = field(default_factory=lambda: Call(outcome=Outcome.OBSERVED))
    item: str = "flat"
    seed: str = "5eed"
    devices: int = 1
    opened: list[tuple[str, bool]] = field(default_factory=list)

    def inputs(self, family):
        assert family == "pictures"
        return (InputCase(name="few", args=(1,)), InputCase(name="all", args=(X,), kwargs={"device": "gpu"}))

    def expected(self, oracle):
        return self.oracles[oracle]

    @contextmanager
    def subject(self, module, *, observed=False) -> Iterator[ObservedSubject]:
        self.opened.append((module, observed))
        yield ObservedSubject(self.train, self.imported)


def losses(epochs):
    return [2.0 / (n + 1) for n in range(epochs)]


def trained(seen=None, value=losses):
    """A training that is flat; `seen` collects what it was called with."""

    def train(x, *, device, epochs):
        if seen is not None:
            seen.append((x, device, epochs))
        trace = trace_of(launches=10 * epochs)
        return Call(outcome=Outcome.OBSERVED, value=value(epochs), trace=trace, wall_s=0.5)

    return train


def observe(context, **keys):
    return KIND.observe(options(**({"trained": "losses_fall"} | keys)), context)


def test_three_trainings_run_in_observed_children_of_their_own_on_the_same_inputs():
    seen: list = []
    context = ObservedContext(trained(seen))
    observation = observe(context, epochs=[2, 5])
    assert context.opened == [("training", True)] * 3
    first = seen[0][2]
    assert [epochs for _, _, epochs in seen] == [first, 2 * first, 4 * first]
    assert all(x is X and device == "gpu" for x, device, _ in seen)
    assert [case.name for case in observation.cases] == [f"{n * first} epochs" for n in (1, 2, 4)]
    assert observation.output.count("epochs") == 3


def test_the_epochs_are_drawn_from_the_seed_within_their_bounds():
    drawn = set()
    for seed in range(40):
        seen: list = []
        observe(ObservedContext(trained(seen), seed=f"{seed:x}"), epochs=[3, 5])
        drawn.add(seen[0][2])
        again: list = []
        observe(ObservedContext(trained(again), seed=f"{seed:x}"), epochs=[3, 5])
        assert again[0][2] == seen[0][2]
    assert drawn == {3, 4, 5}


def test_the_epochs_go_by_the_name_that_the_rubric_gives():
    def train(x, *, device, num_epoch):
        return trained()(x, device=device, epochs=num_epoch)

    assert observe(ObservedContext(train), epochs_as="num_epoch").outcome is Outcome.OBSERVED


def test_what_was_observed_earns_what_stored_evidence_earns():
    observation = observe(ObservedContext(trained()))
    found = KIND.award(options(trained="losses_fall"), from_file(observation), {})
    assert (found.fraction, found.reason) == (1.0, "allocations: 64 at 2, 4 and 8 epochs alike")
    figures = {name: quantity.value for name, quantity in observation.cases[-1].quantities.items()}
    assert figures == {
        "wall_s": 0.5,
        "launches": 80,
        "allocations": 64,
        "allocated_bytes": 64_000,
        "peak_bytes": 10_000,
        "first_loss": 2.0,
        "last_loss": 0.25,
    }


def from_file(observation):
    return replace(observation, facts=json.loads(json.dumps(observation.facts)))


def test_launches_are_counted_and_not_kept():
    launch = Launch(kernel="k", grid=(1, 1, 1), block=(1, 1, 1))

    def train(x, *, device, epochs):
        trace = trace_of(launches=epochs, framework_launches=(launch,))
        return Call(outcome=Outcome.OBSERVED, value=losses(epochs), trace=trace)

    kept = observe(ObservedContext(train)).facts["trainings"][0]["trace"]
    assert (kept["launch_count"], kept["launches"], kept["framework_launches"]) == (2, (), None)


@pytest.mark.parametrize(
    ("value", "note"),
    [
        (lambda epochs: losses(1), "returned [2.0]; expected an array of shape (2,) (a loss for each epoch)"),
        (lambda epochs: None, "returned None; expected an array of shape (2,) (a loss for each epoch)"),
        (lambda epochs: [1.0, float("nan")], "a loss is not a finite number"),
        (lambda epochs: [10**400, 1], "int too large to convert to float (a loss for each epoch)"),
    ],
)
def test_what_is_no_list_of_losses_is_no_training(value, note):
    found = observe(ObservedContext(trained(value=value)))
    assert (dict(found.cases[0].agrees), found.cases[0].note) == ({"trained": False}, note)


@pytest.mark.parametrize("keys", [{}, {"expected": "by_hand"}])
@pytest.mark.parametrize(("factor", "agrees"), [(1.0, True), (1.0001, True), (1.1, False)])
def test_the_oracle_is_asked_for_the_same_inputs_and_epochs(keys, factor, agrees):
    def by_hand(x, *, device, epochs):
        assert np.array_equal(x, X)
        return losses(epochs)

    def train(epochs):
        return [factor * loss for loss in losses(epochs)]

    context = ObservedContext(trained(value=train), {keys.get("expected", "fit"): by_hand})
    wide = {"float64": {"rtol": 1e-2, "atol": 0.0}}
    found = observe(context, trained="as_expected", tolerance=wide, **keys)
    assert [case.agrees["trained"] for case in found.cases] == [agrees] * 3
    assert bool(found.cases[0].note) is not agrees


@pytest.mark.parametrize("outcome", [Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.NOT_OBSERVED])
def test_a_training_that_does_not_return_is_what_came_of_it_and_none_follows(outcome):
    def train(x, *, device, epochs):
        if epochs == 4:
            return Call(outcome=outcome, note="fit(): no", traceback="line 7")
        return trained()(x, device=device, epochs=epochs)

    context = ObservedContext(train)
    found = observe(context)
    assert (found.outcome, found.note) == (outcome, "training for 4 epochs: fit(): no")
    no_result = {} if outcome is Outcome.NOT_OBSERVED else {"no_result": True}
    assert found.facts == {"tracebacks": {"training.fit": "line 7"}} | no_result
    assert len(context.opened) == 2


def test_a_file_that_cannot_be_imported_is_not_called():
    failed = Call(outcome=Outcome.CRASHED, note="importing training.py: ImportError")
    found = observe(ObservedContext(None, imported=failed))
    assert (found.outcome, found.note) == (
        Outcome.CRASHED,
        "training for 2 epochs: importing training.py: ImportError",
    )


def test_without_an_observers_answer_it_stays_open_and_nothing_is_told_as_measured():
    def train(x, *, device, epochs):
        return Call(outcome=Outcome.OBSERVED, value=losses(epochs))

    observation = observe(ObservedContext(train))
    assert set(observation.cases[0].quantities) == {"wall_s", "first_loss", "last_loss"}
    found = KIND.award(options(trained="losses_fall"), from_file(observation), {})
    assert (found.undecided, found.reason) == (
        True,
        "the allocations could not be observed: no observer answered",
    )


def test_an_item_without_a_device_is_the_courses_mistake():
    assert KIND.gpus_needed(options()) == 1


def test_the_host_imports_no_numpy_for_the_judging_half():
    code = "import sys, grader.checks.cuda_calls; print('numpy' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"
