"""What is not timed is looked at by a second examiner, if there are cores for it; nothing is lost with it."""

from __future__ import annotations

import os
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from grader.config.codec import dumps
from grader.config.course import load_course
from grader.config.evidence_file import EVIDENCE, read_evidence
from grader.config.rubric import load_rubric
from grader.examiner import beside as module
from grader.examiner import exam
from grader.examiner.beside import Beside, in_turn, untimed
from grader.examiner.kept import Kept
from grader.examiner.quiet import OwnCores
from grader.jobs import tasks_of
from grader.machine.cores import Cores
from grader.model.job import Job, Task
from grader.model.observation import Observation, Outcome
from grader.model.submission import Submission
from grader.plugins import Plugins

ROOT = Path(__file__).resolve().parents[2]
UTILS = "utils.sigmoid", "utils.zeros_weights", "utils.zeros_biases", "utils.add_elementwise"


def task(item, check="plain", **more):
    return Task(item=item, check=check, options={}, **more)


def job(*tasks, **more):
    submission = Submission(student="s", assignment="a", archive="", digest="d", files=())
    return Job(
        id="1", submission=submission, course="", assignment_folder="", workspace="", tasks=tasks, **more
    )


class Plain:
    timed = False


class Timed:
    timed = True


KINDS = {"plain": Plain(), "timed": Timed()}


@pytest.fixture
def cores(tmp_path):
    """Physical cores of one thread each."""
    return lambda count: Cores(range(count), tmp_path)


def test_what_is_not_timed_is_for_another_where_there_are_cores_for_both(cores):
    both = job(task("right"), task("fast", "timed"), task("elegant", needs=("fast",)))
    assert [one.item for one in untimed(both, KINDS, cores(4))] == ["right"]
    assert untimed(both, KINDS, cores(3)) == ()


def test_where_hand_ins_go_on_side_by_side_there_is_no_other(cores):
    assert untimed(job(task("right"), task("fast", "timed"), stage="/stage"), KINDS, cores(4)) == ()


def test_without_a_clock_and_a_gpu_there_is_nothing_to_do_meanwhile(cores, monkeypatch):
    plain = job(task("right"), task("launch", devices={"gpu": 1}))
    assert untimed(plain, KINDS, cores(4)) == ()
    monkeypatch.setattr(module, "whole_gpus", lambda: ("a GPU",))
    assert [one.item for one in untimed(plain, KINDS, cores(2))] == ["right"]


class Looked:
    """Items, as far as turns go."""

    def __init__(self):
        self.order = []

    def observe(self, task, later):
        self.order.append(task.item)
        return Observation(item=task.item, outcome=Outcome.OBSERVED)

    def note(self, task, observation):
        self.order.append(f"{task.item} beside")

    def gpus_for(self, task):
        return task.devices.get("gpu", 0)

    def prepare(self, task):
        self.order.append(f"{task.item} is next")


class Other:
    """A second examiner that sees one item whenever it is waited for, until it ends."""

    def __init__(self, *tasks, ends_after=9):
        self.left = {task.item: task for task in tasks}
        self._ends_after = ends_after
        self._new = []

    def seen(self):
        new, self._new = self._new, []
        return new

    def wait(self):
        if not self._ends_after:
            return False
        self._ends_after -= 1
        item = next(iter(self.left))
        self._new.append((self.left.pop(item), Observation(item=item, outcome=Outcome.OBSERVED)))
        return True

    def taken(self):
        left = [*self.left.values()]
        self.left.clear()
        return left


TASKS = task("build"), task("trains"), task("relu", needs=("build",)), task("fast", needs=("trains", "relu"))


def test_each_comes_after_what_it_needs_wherever_that_is_looked_at():
    items = Looked()
    seen = [one.item for one in in_turn(TASKS, items, Other(*TASKS[:2]))]
    assert seen == ["build", "relu", "trains", "fast"]
    assert items.order == ["relu is next", "build beside", "relu", "fast is next", "trains beside", "fast"]


def test_the_most_devices_come_first_and_nothing_before_what_it_needs():
    one, two = ({"gpu": n} for n in (1, 2))
    tasks = (
        task("timed"),
        task("first", devices=one),
        task("moves", devices=two),
        task("waits", devices=one),
        task("splits", devices=two, needs=("waits",)),
    )
    items = Looked()
    seen = [one.item for one in in_turn(tasks, items, Other())]
    assert seen == items.order == ["moves", "first", "waits", "splits", "timed"]


def test_what_is_judged_with_another_one_comes_after_it():
    tasks = task("claimed", uses=("fast",)), task("fast")
    for beside in (Other(), Other(tasks[1])):
        assert [one.item for one in in_turn(tasks, Looked(), beside)] == ["fast", "claimed"]


def test_what_the_other_one_leaves_when_it_ends_is_looked_at_here():
    items = Looked()
    seen = [one.item for one in in_turn(TASKS, items, Other(*TASKS[:2], ends_after=1))]
    assert seen == ["build", "relu", "trains", "fast"]
    assert items.order[-2:] == ["trains", "fast"]


@pytest.fixture
def utils(tmp_path):
    """A job over some functions of the reference of cdp_hw1."""
    plugins = Plugins(ROOT)
    folder, workspace = plugins.assignment_folders["cdp_hw1"], tmp_path / "workspace"
    workspace.mkdir(mode=0o755)
    (workspace / "utils.py").write_bytes((folder / "reference" / "utils.py").read_bytes())
    rubric = load_rubric(
        load_course(ROOT).rubric_for("cdp_hw1", "cdp_hw1_utils"),
        kinds=plugins.checks,
        assignments=plugins.assignment_folders,
    )
    submission = Submission(
        student="reference", assignment="cdp_hw1", archive="", digest="d", files=("utils.py",)
    )
    assignment = plugins.assignments["cdp_hw1"]
    tasks = tasks_of(rubric, submission, assignment, folder, plugins.checks)
    return Job(
        id="1",
        submission=submission,
        course=str(ROOT),
        assignment_folder=str(folder),
        workspace=str(workspace),
        tasks=tuple(task for task in tasks if task.item in UTILS),
        preloads=assignment.preloads,
        limits=assignment.limits,
        seed="0" * 32,
    )


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """Where folders for a moment are made."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_both_examiners_give_one_record_for_each_item(utils, tmp_path, monkeypatch, own_folder):
    monkeypatch.setattr(exam, "untimed", lambda job, kinds, cores: job.tasks[1:])
    file = tmp_path / "job.json"
    file.write_text(dumps(utils))
    exam.run(file, tmp_path, Kept())
    evidence = read_evidence(tmp_path / EVIDENCE)
    assert evidence.observations.keys() == set(UTILS)
    assert {one.outcome for one in evidence.observations.values()} == {Outcome.OBSERVED}
    assert all(one.program_s > 0 and one.digest for one in evidence.observations.values())
    assert len((tmp_path / EVIDENCE).read_text().splitlines()) == len(UTILS) + 2
    assert not any(own_folder.iterdir())


def test_whoever_is_killed_leaves_the_rest(utils, own_folder):
    other = Beside(utils, utils.tasks, os.sched_getaffinity(0))
    assert other.wait()
    other._examiner._process.kill()
    while other.wait():
        pass
    seen = [task.item for task, _ in other.seen()]
    assert seen
    assert seen + [task.item for task in other.taken()] == [task.item for task in utils.tasks]
    other.close()
    assert not any(own_folder.iterdir())


def test_what_was_taken_from_it_is_not_seen_once_more(utils, own_folder):
    other = Beside(utils, utils.tasks, os.sched_getaffinity(0))
    assert other.wait()
    assert other.taken() == list(utils.tasks)
    assert other.seen() == []
    other.close()


def test_it_stays_on_its_cores(utils, own_folder):
    own = os.sched_getaffinity(0)
    other = Beside(utils, utils.tasks[:1], {max(own)})
    try:
        assert os.sched_getaffinity(other._examiner._process.pid) == {max(own)}
        assert os.sched_getaffinity(0) == own
    finally:
        other.close()


def test_the_cores_beside_are_none_of_those_that_an_exam_leases(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADER_LEASES", str(tmp_path))
    own = os.sched_getaffinity(0)
    try:
        nothing_timed = OwnCores(0, "a test", print)
        assert (nothing_timed.cores, nothing_timed.beside) == ((), own)
        with closing(OwnCores(1, "a test", print)) as leased:
            assert leased.beside == own - {*leased.cores, *os.sched_getaffinity(0)}
        alone = OwnCores(1, "a test", print, among=(min(own),))
        assert (alone.cores, alone.beside) == ((), frozenset())
    finally:
        os.sched_setaffinity(0, own)
