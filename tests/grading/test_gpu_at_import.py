"""A file that asks for a GPU when it is imported: open where there is none, decided where there is one."""

from __future__ import annotations

from contextlib import nullcontext
from textwrap import dedent

import pytest

from grader.config.course import load_course
from grader.config.evidence_file import ItemObserved, encode_record
from grader.contracts.engine import Ended, Records
from grader.cuda import gpus
from grader.grading.grade import Grading
from grader.grading.replay import read_score, replay
from grader.grading.sessions import open_session
from grader.grading.submission import CourseFiles, Request
from grader.grading.tasks import with_gpu
from grader.model.job import Task
from grader.model.observation import NEEDS_GPU, Observation, Outcome
from grader.model.score import Standing
from grader.plugins import Plugins

pytestmark = pytest.mark.usefixtures("forked_workers")
DOUBLES = "points: 5, check: matches_reference, of: work.double, inputs: numbers"
COURSE = {
    "course.yaml": "title: A tiny course\n",
    "assignments/tiny/assignment.py": """
        from grader.api import Assignment, hookimpl

        @hookimpl
        def grader_assignments():
            return [Assignment(name="tiny", title="Tiny", accepts=("work.py",))]
    """,
    "assignments/tiny/inputs.py": """
        from grader.api import case

        def numbers(rng):
            yield case("a number", int(rng.integers(3, 100)))
    """,
    "assignments/tiny/expected.py": "def double(x): return x + x\n",
    "assignments/tiny/reference/work.py": "def double(x): return 2 * x\n",
    "rubrics/tiny.yaml": f"""
        schema: 1
        assignment: tiny
        points: 10
        items:
          - {{id: first, title: t, {DOUBLES}}}
          - {{id: after, title: t, needs: [first], {DOUBLES}}}
    """,
}
NO_DRIVER = "Error at driver init: \\nCUDA driver library cannot be found.\\nIf you are sure"


@pytest.fixture
def grade(tmp_path):
    for name, text in COURSE.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text))

    def run(source, engine=None):
        (tmp_path / "ann").mkdir(exist_ok=True)
        (tmp_path / "ann/work.py").write_text(f"{source}\ndef double(x): return 2 * x\n")
        plugins = Plugins(tmp_path)
        name = "local" if engine is None else "mine"
        if engine is not None:
            plugins.engines[name] = engine
        with open_session(plugins, name, out=tmp_path / "results") as session:
            grading = Grading(CourseFiles(load_course(tmp_path), plugins), session, alone=True)
            ((_, result),) = grading.grade([Request(archive=tmp_path / "ann", out=tmp_path / "results")])
        return result

    return run


ASKING = [
    f"class CudaSupportError(RuntimeError): pass\nraise CudaSupportError('{NO_DRIVER}')",
    "raise AssertionError('Torch not compiled with CUDA enabled')",
    "raise RuntimeError('Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU')",
    "raise RuntimeError('No CUDA GPUs are available')",
    "raise OSError('libcuda.so.1: cannot open shared object file: No such file or directory')",
    "class cuda: is_available = staticmethod(lambda: False)\nassert cuda.is_available()",
    "import sys\nsys.exit('this needs a GPU')",
]


@pytest.mark.parametrize("source", ASKING)
def test_without_a_gpu_it_is_pending_with_all_that_needs_it(grade, source, monkeypatch):
    monkeypatch.setattr(gpus, "gpus", lambda: ())
    done = grade(source)
    assert {line.standing for line in done.scorecard.lines} == {Standing.PROVISIONAL}
    assert done.scorecard.lines[0].reason.startswith("work.py")
    assert "there is none here, so this waits for one" in done.scorecard.lines[0].reason
    assert "\\n" not in done.scorecard.lines[0].reason


@pytest.mark.parametrize(
    "source", ["@cuda.jit\ndef f(): pass", "import cuda_gpu", "open('gpu.txt')", "import math\nmath.cuda"]
)
def test_an_error_that_no_gpu_would_change_costs_the_points(grade, source):
    first, _ = grade(source).scorecard.lines
    assert (first.standing, first.points) == (Standing.FINAL, 0)


def test_it_is_replayed_with_a_gpu_as_it_was_observed(grade, tmp_path):
    grade(ASKING[0])
    plugins, devices = Plugins(tmp_path), []
    with open_session(plugins) as session:
        submit = session.submit

        def noted(order):
            devices.append([dict(task.devices) for task in order.job.tasks])
            submit(order)

        session.submit = noted
        again = tmp_path / "again"
        again.mkdir()
        files = CourseFiles(load_course(tmp_path), plugins)
        replay(read_score(tmp_path / "results/tiny/ann"), "first", files, session, place=again)
    assert devices == [[{}], [{"gpu": 1}]]


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("source", "points"),
    [
        ("from numba import cuda\ncuda.select_device(0)", [5, 5]),
        ('from numba import cuda\n@cuda.jit("void(float32[:])")\ndef one(x): x[0] = 1', [5, 5]),
        ("raise RuntimeError('No CUDA GPUs are available')", [0, 0]),
    ],
)
def test_where_there_is_a_gpu_it_is_decided(grade, source, points):
    done = grade(source)
    assert [(line.standing, line.points) for line in done.scorecard.lines] == [
        (Standing.FINAL, each) for each in points
    ]


class OneGpu:
    """An engine with a GPU, whose workers answer what they are told by the devices of a task."""

    name, is_remote = "mine", False

    def __init__(self, answer):
        self.answer, self.events, self.tasks = answer, [], []

    def open(self, settings):
        return nullcontext(self)

    def gpus(self):
        return 1

    def wants(self):
        return True

    def submit(self, order):
        self.tasks.append(order.job.tasks)
        for task in order.job.tasks:
            seen = self.answer(task)
            record = ItemObserved(run=order.key, observation=seen)
            self.events.append(Records(order=order, lines=(encode_record(record),)))
        self.events.append(Ended(order=order))

    def event(self):
        return self.events.pop(0) if self.events else None


def waiting(task, **facts):
    return Observation(
        item=task.item, outcome=Outcome.NOT_OBSERVED, note="waits", digest=task.digest, facts=facts
    )


def test_where_a_worker_can_lease_a_gpu_the_item_is_observed_with_one_before_what_needs_it(grade):
    def answer(task):
        if task.devices:
            return Observation(item=task.item, outcome=Outcome.CRASHED, note="it lied", digest=task.digest)
        return waiting(task, **({NEEDS_GPU: True} if task.item == "first" else {}))

    engine = OneGpu(answer)
    grade("", engine)
    assert [task.item for tasks in engine.tasks for task in tasks] == ["first", "after", "first", "after"]
    with_one = next(task for tasks in engine.tasks for task in tasks if task.devices)
    assert (with_one.item, with_one.devices, with_one.gpu_for_import) == ("first", {"gpu": 1}, True)


def test_who_asks_again_is_not_asked_for_ever(grade):
    engine = OneGpu(lambda task: waiting(task, **{NEEDS_GPU: True}))
    assert not grade("", engine).final
    items = [task.item for tasks in engine.tasks for task in tasks]
    assert (items.count("first"), items.count("after")) == (2, 2)


def test_only_what_asked_gets_a_gpu_and_of_the_kinds_that_the_assignment_names():
    tasks = [
        Task(item="a", check="k", options={}),
        Task(item="b", check="k", options={}, needs=("a",)),
        Task(item="c", check="k", options={}, uses=("b",)),
        Task(item="d", check="k", options={}),
    ]
    again = with_gpu(tasks, {"a"}, ("H200",))
    assert [(task.item, task.devices, task.gpu_kinds) for task in again] == [
        ("a", {"gpu": 1}, ("H200",)),
        ("b", {}, ()),
        ("c", {}, ()),
    ]
