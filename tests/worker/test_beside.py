"""What is not timed is looked at by a second worker, if there are cores for it; nothing is lost with it."""

from __future__ import annotations

import os
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grader.config.codec import dumps
from grader.config.evidence_file import EVIDENCE, read_evidence
from grader.machine.cores import Cores
from grader.model.job import Job, Task
from grader.model.observation import Outcome
from grader.model.submission import Submission
from grader.testing.kinds import AwardOnly
from grader.worker import devices, exam
from grader.worker.beside import Beside, Shares, shares
from grader.worker.quiet import OwnCores
from grader.worker.server_cache import ServerCache

ROOT = Path(__file__).resolve().parents[2]
SOME = frozenset({"relu", "softmax", "reduce", "add"})
UTILS = "utils.sigmoid", "utils.zeros_weights", "utils.zeros_biases", "utils.add_elementwise"


def task(item, check="plain", **more):
    return Task(item=item, check=check, options={}, **more)


def job(*tasks, **more):
    submission = Submission(student="s", assignment="a", archive="", digest="d", files=())
    return Job(
        id="1", submission=submission, course="", assignment_folder="", workspace="", tasks=tasks, **more
    )


class Plain(AwardOnly):
    pass


class Timed(AwardOnly):
    timed = True
    shares_gpu = True


class Alike(AwardOnly):
    shares_gpu = True


KINDS = {"plain": Plain(), "timed": Timed(), "alike": Alike()}


@pytest.fixture
def cores(tmp_path):
    """Physical cores of one thread each."""
    return lambda count: Cores(range(count), tmp_path)


def test_what_is_not_timed_is_for_another_where_there_are_cores_for_both(cores):
    both = job(task("right"), task("fast", "timed"), task("elegant", needs=("fast",)))
    assert [one.item for one in shares(both, KINDS, cores(4)).apart] == ["right"]
    assert shares(both, KINDS, cores(3)) == Shares()


def test_where_submissions_go_on_side_by_side_there_is_no_other(cores):
    assert shares(job(task("right"), task("fast", "timed"), stage="/stage"), KINDS, cores(4)) == Shares()


def test_without_a_clock_and_a_gpu_there_is_nothing_to_do_meanwhile(cores, monkeypatch):
    plain = job(task("right"), task("launch", "alike", devices={"gpu": 1}))
    assert shares(plain, KINDS, cores(4)) == Shares()
    monkeypatch.setattr(devices, "whole_gpus", lambda: ("a GPU",))
    assert [one.item for one in shares(plain, KINDS, cores(2)).apart] == ["right"]


def test_on_a_gpu_company_is_for_kinds_that_see_the_same_in_it(cores, monkeypatch):
    monkeypatch.setattr(devices, "whole_gpus", lambda: ("a GPU",))
    one = {"devices": {"gpu": 1}}
    tasks = (
        task("launch", "alike", **one),
        task("after", "alike", needs=("build",), **one),
        task("script", "plain", **one),
        task("fast", "timed", **one),
        task("grouped", "alike", group="g", **one),
        task("split", "alike", devices={"gpu": 2}),
        task("build", "alike"),
    )
    assert shares(job(*tasks), KINDS, cores(4)).company == {"launch", "after"}
    lent = job(*tasks, lent=("GPU-0",))
    assert shares(lent, KINDS, cores(4)) == Shares(), "whoever is lent a GPU lends it to nobody"


@pytest.fixture
def utils(reference_job):
    """A job over some functions of the reference of cdp_hw1."""
    return reference_job("cdp_hw1", "cdp_hw1_utils", UTILS)[1]


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """Where folders for a moment are made."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_both_workers_give_one_record_for_each_item(utils, tmp_path, monkeypatch, own_folder):
    monkeypatch.setattr(exam, "shares", lambda job, kinds, cores: Shares(apart=job.tasks[1:]))
    file = tmp_path / "job.json"
    file.write_text(dumps(utils))
    exam.run(file, tmp_path, ServerCache())
    evidence = read_evidence(tmp_path / EVIDENCE)
    assert evidence.observations.keys() == set(UTILS)
    assert {one.outcome for one in evidence.observations.values()} == {Outcome.OBSERVED}
    assert all(one.program_s > 0 and one.digest for one in evidence.observations.values())
    assert len((tmp_path / EVIDENCE).read_text().splitlines()) == len(UTILS) + 2
    assert not any(own_folder.iterdir())


def test_whoever_is_killed_leaves_the_rest(utils, own_folder):
    other = Beside(utils, Shares(apart=utils.tasks), os.sched_getaffinity(0))
    assert other.wait()
    other._worker._process.kill()
    while other.wait():
        pass
    seen = [task.item for task, _ in other.seen()]
    assert seen
    assert seen + [task.item for task in other.taken()] == [task.item for task in utils.tasks]
    assert not other.idle, "nobody is there to be given more"
    other.close()
    assert not any(own_folder.iterdir())


def test_what_was_taken_from_it_is_not_seen_once_more(utils, own_folder):
    other = Beside(utils, Shares(apart=utils.tasks), os.sched_getaffinity(0))
    assert other.wait()
    assert other.taken() == list(utils.tasks)
    assert other.seen() == []
    other.close()
    assert not any(own_folder.iterdir())


def test_it_is_given_one_thing_after_the_other(utils, own_folder):
    first, *rest = utils.tasks
    other = Beside(utils, Shares(company=SOME), os.sched_getaffinity(0))
    assert other.idle
    other.give([first], {})
    assert not other.idle
    assert [task.item for task, _ in seen_by(other)] == [first.item]
    assert other.idle
    other.give([replace(one, needs=(first.item,)) for one in rest], {first.item: True, rest[0].item: False})
    assert [seen.outcome for _, seen in seen_by(other)] == [Outcome.OBSERVED] * len(rest)
    other.give([replace(first, needs=(rest[0].item,))], {rest[0].item: False})
    assert [seen.outcome for _, seen in seen_by(other)] == [Outcome.SKIPPED]
    other.close()
    assert not any(own_folder.iterdir())


def seen_by(other):
    found = []
    while other.left:
        assert other.wait(), "it broke off"
        found += other.seen()
    return found


@pytest.mark.quick(1)
@pytest.mark.parametrize(("lent", "kept"), [(("GPU-0",), True), ((), False)])
def test_programs_that_imported_are_kept_while_a_gpu_is_lent(utils, own_folder, lent, kept):
    other = Beside(utils, Shares(company=SOME), os.sched_getaffinity(0))
    pid = other._worker._process.pid
    servers = []
    for one in utils.tasks[:2]:
        other.give([one], {}, lent)
        assert [task.item for task, _ in seen_by(other)] == [one.item]
        while other.wait():  # until that job is over
            pass
        servers.append(set(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    assert bool(servers[0]) is kept
    assert servers[0] == servers[1]
    other.close()


def test_whoever_cannot_be_given_its_job_is_ended_with_all_that_was_made_for_it(utils, own_folder):
    """A full disk has the same effect."""
    broken = replace(utils.tasks[0], options={"what": object()})
    with pytest.raises(TypeError):
        Beside(utils, Shares(apart=(broken,)), os.sched_getaffinity(0))
    assert not any(own_folder.iterdir())


def test_it_is_on_a_gpu_as_long_as_it_has_an_item_there(utils):
    assert not Beside(utils, Shares(company=frozenset([*SOME][1:])), ()).idle, "three are not worth a process"
    other = Beside(utils, Shares(company=frozenset({"launch"})), ())
    assert not other.idle, "there is no such process"
    other.left = {"right": task("right")}
    assert not other.on_gpu
    other.left = {"launch": task("launch", devices={"gpu": 1})}
    assert other.on_gpu
    other.left = {"simulated": task("simulated", devices={"gpu": 1})}
    assert not other.on_gpu


def test_it_stays_on_its_cores(utils, own_folder):
    own = os.sched_getaffinity(0)
    other = Beside(utils, Shares(apart=utils.tasks[:1]), {max(own)})
    try:
        assert os.sched_getaffinity(other._worker._process.pid) == {max(own)}
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
