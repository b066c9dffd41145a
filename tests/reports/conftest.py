"""Stored evidence that every report must be able to write."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from grader.checks.drawings.cores import curves_over_cores
from grader.checks.drawings.gpu import gpu_drawings
from grader.checks.drawings.model_parts import parts_table
from grader.checks.drawings.ratio import advice_on_ratio, ratio_drawings
from grader.checks.kernel_launch import KernelLaunch
from grader.checks.matches_reference import RACE
from grader.checks.placement import Placement
from grader.checks.scaling import Scaling
from grader.checks.speedup import Speedup
from grader.config.codec import dumps, loads
from grader.model.evidence import Evidence, WorkerRun
from grader.model.observation import Case, Observation, Outcome, Quantity, Symptom
from grader.model.rubric import Item, LatePolicy, Rubric
from grader.model.score import Award, Scorecard, Standing
from grader.model.submission import Submission
from grader.model.trace import DeviceWork, Launch, Trace, Traffic, Transfer
from grader.reports.pages import template
from grader.scoring.redact import staff_view, student_view
from grader.scoring.score import score
from grader.testing.kinds import AwardOnly

NOW = datetime(2024, 12, 24, 12, 0, tzinfo=UTC)
DUE = datetime(2024, 12, 19, 8, 0, tzinfo=UTC)
HOSTILE = (
    "<script>alert('x')</script>\" onload='x' "
    "\x00\x07\x1b[31m\x9b2J\ud800\ufffe\u202eevil\r]]> &amp; [bold]שלום"
)


@dataclass(frozen=True, kw_only=True)
class Graded:
    """What a report gets."""

    rubric: Rubric
    evidence: Evidence
    scorecard: Scorecard

    @property
    def staff(self):
        return staff_view(self.rubric, self.evidence, self.scorecard, kinds=KINDS)

    def student(self, **when):
        return student_view(self.rubric, self.evidence, self.scorecard, kinds=KINDS, **{"now": NOW, **when})


def rendered(drawings):
    """The drawings as they stand on a page."""
    draw = template("drawings.html.j2").module.draw
    return "".join(draw(drawing) for drawing in drawings)


class Share(AwardOnly):
    """A kind whose observations say which share they earn."""

    name = "share"

    def award(self, options, observation, related):
        share = observation.facts["share"]
        return Award(
            fraction=share,
            reason=observation.facts.get("reason")
            or ("all cases agree" if share == 1 else "1 of 2 cases agrees"),
            flags=tuple(observation.facts.get("flags", ())),
        )


class Drawn(Share):
    """The same, with every drawing that built-in kinds have."""

    name = "drawn"

    def show(self, options, observation):
        at_least = options.at_least
        if isinstance(at_least, float):
            yield from ratio_drawings(observation, of=options.of, over=options.over, at_least=at_least)
            yield from advice_on_ratio(observation, at_least=at_least)
        yield from gpu_drawings(observation)
        yield from parts_table(observation.facts.get("parts", {}))
        yield from curves_over_cores(observation, at_least if isinstance(at_least, dict) else {})


KINDS = {kind.name: kind() for kind in (Share, Drawn, KernelLaunch, Speedup, Scaling, Placement)}


def item(name, title, points=3.0, **keys):
    return Item(**{"id": name, "title": title, "points": points, "check": "share", "options": None, **keys})


def case(name="3 x 4", **keys):
    told = {"called": "zeros_weights([3, 2])", "returned": "[array((2, 3))]", "expected": "[array((3, 2))]"}
    return Case(**{"name": name, "outcome": Outcome.OBSERVED, "agrees": {"expected": True}, **told, **keys})


WRONG = {"agrees": {"expected": False}, "note": "layer 0 has shape (2, 3), expected (3, 2)"}


def seen(name, share=1.0, outcome=Outcome.OBSERVED, **keys):
    facts = {"share": share, **keys.pop("facts", {})}
    return Observation(item=name, outcome=outcome, facts=facts, seed="00ff" * 8, wall_s=0.0123, **keys)


def graded(
    items, observations, *, student="alice", runs=True, of_rubric=None, extensions=None, **of_submission
):
    rubric = Rubric(
        name="cdp_hw1",
        assignment="cdp_hw1",
        points=sum(i.points for i in items if i.counts == "earns"),
        items=tuple(items),
        digest="sha256:" + "ab" * 32,
        **(of_rubric or {}),
    )
    run = WorkerRun(
        id="e1",
        started_at="2024-12-20T10:11:12+00:00",
        isolation="bubblewrap",
        environment={
            "python": "CPython 3.11.9",
            "processor": "AMD EPYC 9654",
            "packages": {"numpy": "2.1.0", "numba": "0.60.0"},
            "load": [0.25, 0.5, 1.0],
        },
    )
    evidence = Evidence(
        submission=Submission(
            **{
                "student": student,
                "assignment": "cdp_hw1",
                "archive": "alice.tar.gz",
                "digest": "sha256:" + "cd" * 32,
                "files": ("max_functions.py", "utils.py"),
                "dropped": ("__pycache__/utils.pyc",),
                "submitted_at": datetime(2024, 12, 19, 8, 0, tzinfo=UTC),
                **of_submission,
            }
        ),
        runs=(run,) if runs else (),
        observations={o.item: o for o in observations},
    )
    return Graded(
        rubric=rubric,
        evidence=evidence,
        scorecard=score(rubric, evidence, KINDS, extensions=extensions),
    )


def normal():
    items = [
        item("utils.add", "add_elementwise adds element by element"),
        item("utils.weights", "zeros_weights has the right shapes", hint="Which side is the input's?"),
        item("utils.xavier", "xavier_init stays within its bounds"),
        item("max.cpu", "max_cpu finds the larger element", 4.0),
        item("max.fast", "max_gpu is at least 40 times faster than max_cpu", 5.0, needs=("max.cpu",)),
        item("gpu", "max_gpu launches a kernel", 3.0),
    ]
    return graded(
        items,
        [
            seen("utils.add", cases=(case(), case("empty", changed_inputs=("argument 1",)))),
            seen(
                "utils.weights",
                1 / 3,
                cases=(
                    case(),
                    case("one layer", **WRONG),
                    case("changed", changed_inputs=("sizes",), **WRONG),
                ),
                output="debug: (2, 3)\ndebug: (3, 2)\n",
            ),
            seen(
                "utils.xavier",
                0.5,
                cases=(
                    case(
                        "wide",
                        agrees={"bounds": True, "variance": False},
                        note="variance is 0.2, expected 0.05",
                        quantities={
                            "variance": Quantity(value=0.2),
                            "cpu": Quantity(value=0.01, unit="s", taken_by="subject"),
                        },
                    ),
                ),
            ),
            seen(
                "max.cpu",
                outcome=Outcome.CRASHED,
                note="ended in ZeroDivisionError: division by zero",
                output="Traceback (most recent call last):\n  File 'm.py', line 7\nZeroDivisionError\n",
            ),
            seen("max.fast", outcome=Outcome.SKIPPED),
            seen("gpu", outcome=Outcome.NOT_OBSERVED, note="no GPU on this machine: pending, not lost"),
        ],
    )


def perfect():
    items = [item(f"a.{i}", f"function {i} is right", 3.0) for i in range(7)]
    return graded(items, [seen(i.id, cases=(case(), case("odd"))) for i in items])


def empty():
    return graded([item("a", "first"), item("b", "second")], [], runs=False, submitted_at=None)


def nothing():
    return graded([], [])


def pending():
    return graded(
        [item("a", "first", 1.0), item("b", "second", needs=("a",))],
        [seen("a", outcome=Outcome.NOT_OBSERVED), seen("b")],
    )


def held():
    card = normal()
    lines = tuple(replace(line, standing=Standing.HELD) for line in card.scorecard.lines)
    return replace(card, scorecard=replace(card.scorecard, lines=lines, standing=Standing.HELD))


LATE = {"due": DUE, "late": LatePolicy(per_day=0.1)}


def late():
    return graded(
        [item("a", "first", 10.0)], [seen("a")], of_rubric=LATE, submitted_at=DUE + timedelta(hours=27)
    )


def team():
    """Two with one submission, one with an extension; a bonus, a penalty, and more than the rubric gives."""
    items = [
        item("a", "first", 10.0),
        item("b", "second", 2.0, counts="bonus"),
        item("c", "only what was asked for", 1.0, counts="penalty"),
    ]
    return graded(
        items,
        [seen("a"), seen("b"), seen("c", 0.5)],
        of_rubric={**LATE, "at_most": 11.0},
        student="red",
        members=("alice", "bob"),
        extensions={"bob": 172_800.0},
        submitted_at=DUE + timedelta(hours=27),
    )


def unknown_time():
    return graded([item("a", "first", 10.0)], [seen("a")], of_rubric=LATE, submitted_at=None)


def marked_late():
    return graded(
        [item("a", "first", 10.0)],
        [seen("a")],
        of_rubric=LATE,
        submitted_at=None,
        marked_late=True,
        lms_id="12345",
        attempt=2,
    )


def fast(ratio=56.0, half=2.0, threshold=40.0, **keys):
    """A speedup, as it is measured."""
    slow, quick = 0.231, 0.231 / ratio
    times = {
        name: [middle * (1 + 0.01 * k) for k in range(-3, 4)]
        for name, middle in (("of", quick), ("over", slow), ("reference_over", 0.22))
    }
    numbers = {"ratio": ratio, "ratio_low": ratio - half, "ratio_high": ratio + half, "threshold": threshold}
    return {
        "quantities": {
            **{name: Quantity(value=value) for name, value in numbers.items()},
            **{f"{name}_s": Quantity(value=middle[3], unit="s") for name, middle in times.items()},
            "rounds": Quantity(value=7, unit="rounds"),
        },
        "facts": {"samples": times},
        **keys,
    }


def speedups():
    options = SimpleNamespace(of="max_functions.max_gpu", over="max_functions.max_cpu", at_least=40.0)
    drawn = {"check": "drawn", "options": options}
    items = [
        item("fast", "max_gpu is at least 40 times faster than max_cpu", 5.0, **drawn),
        item("slow", "max_numba is fast enough", 5.0, hint="Which loop runs in parallel?", **drawn),
        item("near", "nearly", 5.0, **drawn),
    ]
    return graded(
        items,
        [seen("fast", **fast()), seen("slow", 0.0, **fast(12.5)), seen("near", **fast(40.5))],
    )


MAX = KernelLaunch.Options(
    of="max_functions.max_gpu", inputs="big", kernel="max_kernel", blocks=1000, threads=1000
)
FAST = Speedup.Options(of="max_functions.max_gpu", over="max_functions.max_cpu", inputs="big", at_least=40.0)
CURVE = Scaling.Options(of="max_functions.max_numba", inputs="big", at_least={"4": 3.0})


def traced(*launches, proof="device", wrong="", **keys):
    """Facts of an observed call, as they are kept: kernels by name, grid, block and seconds."""
    ran = tuple(
        Launch(kernel=kernel, grid=grid, block=block, seconds=took) for kernel, grid, block, took in launches
    )
    told = {
        "source": "cupti",
        "copies": {
            "host_to_device": Traffic(count=2, bytes=16_000_000, seconds=0.0021),
            "device_to_host": Traffic(count=1, bytes=8_000_000, seconds=0.0009),
        },
        "allocations": {"cuMemAlloc": Traffic(count=3, bytes=24_000_000)},
        "peak_bytes": 24_000_000,
        "synchronisations": 2,
    }
    trace = Trace(launches=ran, **{"launch_count": len(ran), **told, **keys})
    tried = proof if ran and not wrong else None
    return {"watched": loads(dumps({"trace": trace, "wrong": wrong, "proof": tried}))}


RAN = ("max_kernel", (1000, 1, 1), (1000, 1, 1), 0.00005)


def timed(ratio=56.0, half=2.0, traced_as=None, **keys):
    """A speedup with its observed call, as the real kind measures and judges it."""
    told = fast(ratio, half, **keys)
    samples = told["facts"]["samples"]
    samples["over"] = [0.231] * 7
    samples["of"] = [0.231 / (ratio + half * k / 3) for k in range(-3, 4)]
    samples["reference_of"] = [0.003] * 7
    facts = {"samples": samples, "cpu": samples, **(traced(RAN) if traced_as is None else traced_as)}
    return {**told, "facts": facts}


def curve(*times, left_out=()):
    """A scaling as it is measured: seconds on 1, 2, 4, … cores."""
    counts = [2**i for i in range(len(times))]
    own = {str(n): [t * (1 + 0.02 * k) for k in range(-2, 3)] for n, t in zip(counts, times, strict=True)}
    reference = {f"reference_{n}": [0.4 / n**0.95] * 5 for n in counts}
    return {
        "quantities": {
            "rounds": Quantity(value=5, unit="rounds"),
            **{f"seconds_{n}": Quantity(value=t, unit="s") for n, t in zip(counts, times, strict=True)},
            **{
                f"factor_{n}": Quantity(value=times[0] / t)
                for n, t in zip(counts[1:], times[1:], strict=True)
            },
        },
        "facts": {
            "cores": counts,
            "left_out": list(left_out),
            "samples": own | reference,
            "cpu": {str(n): [times[0]] * 5 for n in counts},
        },
    }


def differs(note, symptom=None):
    return {"cases": (case("1000 x 1000", agrees={"max_gpu": False}, note=note, symptom=symptom),)}


def gpu():
    """What is seen of programs on a GPU; a title says what is shown."""
    crashed = (
        "max_gpu(): a kernel read or wrote outside of its arrays (illegal address): CudaAPIError: [700] …"
    )
    shown = {
        "launched as asked": ("kernel_launch", MAX, 1.0, {"facts": traced(RAN)}),
        "wrong shape": (
            "kernel_launch", MAX, 0.0,
            {"facts": traced(("max_kernel", (1001, 1, 1), (32, 32, 1), 0.00005))},
        ),
        "no kernel": ("kernel_launch", MAX, 0.0, {"facts": traced()}),
        "not by the kernel": ("kernel_launch", MAX, 0.0, {"facts": traced(RAN, proof="host")}),
        "not to be seen": (
            "kernel_launch", MAX, 0.0,
            {"facts": traced(complete=False, problem="of 2 launches of its own the observer saw 1")},
        ),
        "in a simulator": (
            "kernel_launch", MAX, 0.0,
            {
                "facts": traced(
                    ("max_kernel", (1, 1, 1), (512, 1, 1), None),
                    source="simulator",
                    copies={"host_to_device": Traffic(count=2, bytes=8192)},
                    allocations={},
                    peak_bytes=None,
                    synchronisations=None,
                    unseen=("allocations", "frees", "peak_bytes", "synchronisations", "api"),
                ),
                "simulated": True,
            },
        ),
        "many kernels": (
            "kernel_launch", MAX, 0.0,
            {"facts": traced(*((f"elementwise_{i}", (i + 1, 2, 1), (128, 1, 1), 1e-6) for i in range(20)))},
        ),
        "fast": ("speedup", FAST, 1.0, timed()),
        "slow by its copies": ("speedup", FAST, 0.0, timed(39.0, 0.5)),
        "slow by the rest": ("speedup", FAST, 0.0, timed(10.0)),
        "slow by its kernel": (
            "speedup", FAST, 0.0, timed(10.0, traced_as=traced(("max_kernel", (1,), (1,), 0.019))),
        ),
        "near": ("speedup", FAST, 1.0, timed(40.5, 4.0)),
        "scales": ("scaling", CURVE, 1.0, curve(0.412, 0.213, 0.118, 0.079)),
        "does not scale": ("scaling", CURVE, 0.0, curve(0.412, 0.33, 0.30)),
        "not enough cores": ("scaling", CURVE, 0.0, curve(0.412, left_out=(2, 4, 8))),
        "wrong element": ("share", None, 0.0, differs("at [0]: got 2, expected 3", Symptom.WRONG_VALUE)),
        "untouched": ("share", None, 0.0, differs("at [0]: got 0, expected 0.5", Symptom.UNWRITTEN)),
        "nan": ("share", None, 0.0, differs("at [0, 0]: got nan, expected 0.53", Symptom.NAN)),
        "race": (
            "share", None, 0.0,
            differs(f"at [3]: got 1, expected 2; {RACE}", Symptom.RACE) | {"simulated": True},
        ),
        "left on the GPU": ("share", None, 0.0, differs("returned a DeviceNDArray", Symptom.ON_DEVICE)),
        "illegal address": (
            "share", None, 0.0,
            {"outcome": Outcome.CRASHED, "note": crashed, "symptom": Symptom.OUT_OF_BOUNDS},
        ),
        "no GPU memory": (
            "share", None, 0.0,
            {
                "outcome": Outcome.OUT_OF_MEMORY,
                "note": "max_gpu(): the GPU has no memory left for it: …",
                "symptom": Symptom.GPU_MEMORY,
            },
        ),
        "no memory": (
            "share", None, 0.0,
            {"outcome": Outcome.OUT_OF_MEMORY, "note": "max_cpu(): the program used 3000 MiB of memory"},
        ),
        "endless": (
            "share", None, 0.0,
            {"outcome": Outcome.TIMED_OUT, "note": "max_gpu(): the program did not end within 10 s"},
        ),
    }  # fmt: skip
    items = [
        item(name.replace(" ", "_"), name.capitalize(), 5.0, check=check, options=options)
        for name, (check, options, _, _) in shown.items()
    ]
    return graded(
        items, [seen(name.replace(" ", "_"), share, **keys) for name, (_, _, share, keys) in shown.items()]
    )


PLACED = Placement.Options(of="split.placed", inputs="pictures", parts="parts")


def work(device, kernels, took=None, peak_bytes=None):
    """What one GPU did."""
    return DeviceWork(device=device, kernels=kernels, seconds=took, peak_bytes=peak_bytes)


def moved(source, target, size, took=None):
    """Copies from a GPU, or from the host as None, to another."""
    return Transfer(source=source, target=target, count=2, bytes=size, seconds=took)


def on_gpus(*devices, launched=(), transfers=(), parts=None, had=None, **keys):
    """Facts of an observed call on GPUs, as `placement` keeps them; `launched` as device and kernel."""
    ran = tuple(
        Launch(kernel=kernel, grid=(64, 1, 1), block=(256, 1, 1), seconds=0.0005, device=device)
        for device, kernel in launched
    )
    trace = Trace(
        **{
            "source": "cupti",
            "launches": ran,
            "launch_count": len(ran),
            "devices": devices,
            "transfers": transfers,
            "copies": {"host_to_device": Traffic(count=9, bytes=9_000_000, seconds=0.001)},
            **keys,
        }
    )
    watched = {"trace": trace, "wrong": "", "proof": None}
    return loads(dumps({"watched": watched, "devices": had or len(devices), "parts": parts or {}}))


LIES = {
    "conv1.weight": "cuda:0",
    "layer1.0.weight": "cuda:0",
    "layer1.1.weight": "cuda:1",
    "fc.weight": "cuda:1",
    "output of conv1": "cuda:0",
    "output of layer1.0": "cuda:0",
    "output of layer1.1": "cuda:1",
    "output of fc": "cuda:1",
}


def several_gpus():
    """Work that two GPUs share, that one of them did alone, and of which some lies on the CPU."""
    both = (work(0, 3, 0.0015, 90_000_000), work(1, 1, 0.0005, 30_000_000))
    seen_of = {
        "both": on_gpus(
            *both,
            launched=((0, "conv2d"), (0, "conv2d"), (1, "conv2d"), (0, "relu")),
            transfers=(moved(0, None, 4), moved(None, 0, 9_000_000, 0.001), moved(0, 1, 65_536, 1e-5)),
            parts=LIES,
        ),
        "one alone": on_gpus(both[0], launched=((0, "conv2d"),), had=2),
        "on the CPU": on_gpus(*both, parts=LIES | {"fc.bias": "cpu"}),
        "void": on_gpus(*both, complete=False, problem="two launches of its own are missing"),
    }
    items = [item(name.replace(" ", "_"), name, check="placement", options=PLACED) for name in seen_of]
    return graded(items, [seen(name.replace(" ", "_"), facts=facts) for name, facts in seen_of.items()])


def hidden():
    """Something to see now, something later, something never; and a flag."""
    items = [
        item("a", "first"),
        item("b", "second", visible="after_due"),
        item("c", "third", visible="never", on_flag="holds"),
    ]
    flagged = {"facts": {"flags": ["near_threshold: a person may look"]}}
    return graded(items, [seen("a", 0.5, **flagged), seen("b"), seen("c", **flagged)])


def hostile(text=HOSTILE):
    """A text wherever a program, an archive or a course may have chosen one."""
    told = dict.fromkeys(("name", "called", "returned", "expected", "note"), text)
    wrong = Case(
        outcome=Outcome.CRASHED,
        agrees={text: False, text + "2": True},
        changed_inputs=(text,),
        quantities={text: Quantity(value=text, unit=text)},
        **told,
    )
    keys = {
        "cases": (wrong,),
        "output": text,
        "quantities": {text: Quantity(value=text, unit=text)},
    }
    items = [
        item(text, text, hint=text),
        item("b" + text, text, hint=text),
        item("c", text, needs=("b" + text,)),
        item("d", text, check="drawn", options=SimpleNamespace(of=text, over=text, at_least=40.0)),
        item("e", text),
        item("f", text, check="drawn", options=SimpleNamespace(at_least={"2": 1.5})),
        item("g", text, check="drawn", options=SimpleNamespace(at_least=text)),
    ]
    of_device = traced(
        (text, (1, 2, 3), (4, 5, 6), None),
        wrong=text,
        source=text,
        problem=text,
        copies={text: Traffic(count=1, bytes=2)},
        allocations={text: Traffic(count=1, bytes=2)},
        devices=(work(0, 1), work(1, 0, peak_bytes=7)),
        transfers=(moved(0, None, 4),),
        unseen=(text,),
    )
    on_cores = curve(0.2, 0.1, left_out=(text, 8))
    lies = {
        "parts": {text: text, f"output of {text}": "cuda:" + "9" * 9999},
        "devices": 2,
    }
    card = graded(
        items,
        [
            replace(seen(text, 0.5, facts={"reason": text}, **keys), seed=text),
            seen("b" + text, outcome=Outcome.CRASHED, note=text, **keys),
            seen("d", **(fast() | keys | {"quantities": fast()["quantities"] | keys["quantities"]})),
            seen("e", outcome=Outcome.NOT_OBSERVED, note=text),
            seen("f", 0.0, quantities=on_cores["quantities"], facts=of_device | on_cores["facts"] | lies),
            seen("g", 0.0, facts={"watched": text, "samples": text, "left_out": text}),
        ],
        student=text,
        members=(text, text + "2"),
        archive=text,
        digest=text,
        files=(text,),
        dropped=(text,),
    )
    run = WorkerRun(id=text, started_at=text, isolation=text, environment={text: [text, {text: 1}]})
    lines = tuple(replace(line, flags=(text,)) for line in card.scorecard.lines)
    return replace(
        card,
        rubric=replace(card.rubric, name=text, assignment=text, digest=text),
        evidence=replace(card.evidence, runs=(run,)),
        scorecard=replace(card.scorecard, assignment=text, rubric=text, rubric_digest=text, lines=lines),
    )


def many():
    items = [item(f"group{i // 10}.i{i}", f"item {i}", 0.5) for i in range(200)]
    return graded(
        items,
        [
            seen(
                i.id,
                (n % 3) / 2,
                cases=tuple(case(f"c{k}", **(WRONG if n % 3 < 2 else {})) for k in range(30)),
            )
            for n, i in enumerate(items)
        ],
    )


def long():
    text = "a" * 30_000 + "\n" + "word " * 20_000
    told = dict.fromkeys(("name", "called", "returned", "expected", "note"), text)
    return graded(
        [item("a", text, hint=text)],
        [
            seen(
                "a", 0.5, facts={"reason": text}, cases=(Case(outcome=Outcome.OBSERVED, **told),), output=text
            )
        ],
    )


SCENARIOS = {
    f.__name__: f
    for f in (
        *(normal, perfect, empty, nothing, pending, held, hidden, late, team, unknown_time, speedups, gpu),
        several_gpus,
        *(marked_late, hostile, many, long),
    )
}


@pytest.fixture(params=SCENARIOS)
def each(request) -> Graded:
    """Every kind of card, one after the other."""
    return SCENARIOS[request.param]()


@pytest.fixture
def stored():
    """A card by the name of its scenario."""
    return lambda name: SCENARIOS[name]()


@pytest.fixture
def make():
    """The builders, for a card that only one test needs."""
    return Builders


class Builders:
    graded, item, seen, case, fast, traced, curve, timed = map(
        staticmethod, (graded, item, seen, case, fast, traced, curve, timed)
    )
    hostile, rendered = staticmethod(hostile), staticmethod(rendered)
    work, moved, on_gpus = map(staticmethod, (work, moved, on_gpus))
    lies = LIES
    ran = RAN
    drawn_options = SimpleNamespace(at_least=None)
    launch_options, fast_options, curve_options = MAX, FAST, CURVE

    @staticmethod
    def quantity(value, unit=""):
        return Quantity(value=value, unit=unit)

    late = LATE
    now = NOW
    due = DUE
