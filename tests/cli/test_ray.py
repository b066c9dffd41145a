"""A class on a Ray of two nodes without a shared folder: what breaks there costs nobody anything."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.cli.cluster_class import ROOT, WITHIN_S, ClusterClass, essence
from tests.cuda.played_gpus import play_gpus
from tests.ray_cluster import NODES, RayCluster, missing

pytestmark = [pytest.mark.ray, pytest.mark.skipif(bool(missing()), reason=missing())]

STUDENTS = ("ann", "bob", "cy")


@pytest.fixture(scope="module")
def cluster():
    with RayCluster(kinds=("H998", "H999"), gpus=1) as started:
        yield started


class RayClass(ClusterClass):
    """A class on Ray."""

    engine = "ray"

    def settings(self, setup="", **keys):
        self.write_settings(setup, {"cpu": {"cpus": 2}, "gpu": {"cpus": 1}, **keys})

    def grader(self, *arguments):
        return self.cluster.inside(*super().grader(*arguments))

    def leftovers(self):
        """Return what tasks have left on the nodes."""
        return [file for file in self.cluster.temporary.iterdir() if file.name.startswith("grader-")]

    def workers(self):
        return self.cluster.processes("-m grader.")


@pytest.fixture
def hands(course, cluster, tmp_path):
    """Return a class of nobody, on a cluster with nothing to do."""
    made = RayClass(course, cluster, tmp_path)
    yield made
    made.go()
    made.until("nothing of grader runs", lambda: not made.workers())
    for node in set(NODES) - cluster.alive():
        cluster.start_node(node)


def test_a_class_gets_what_it_gets_on_one_machine_and_nothing_is_left(hands, tmp_path):
    archives = [hands.course.submit(student) for student in STUDENTS]
    hands.rubric(holds=False)
    there = hands.run(*archives)
    assert there.returncode == 0, there.stderr
    elsewhere = {student: essence(hands.course, student) for student in STUDENTS}
    assert [len(hands.runs(student)) for student in STUDENTS] == [1, 1, 1]
    assert [file.name for file in (hands.course.out / ".cluster").iterdir()] == ["durations.json"]
    assert hands.leftovers() == []
    hands.course.out = tmp_path / "here"
    hands.course.run("run", *archives)
    assert elsewhere == {student: essence(hands.course, student) for student in STUDENTS}


def node_of(begun):
    """Return the node on which an item has begun."""
    return begun.split("-")[1]


def test_a_worker_that_is_killed_costs_nothing(hands):
    hands.rubric()
    with hands.started(hands.course.submit("ann")) as host:
        hands.until_begun()
        (courier,) = hands.cluster.processes("ray::grader-")
        os.kill(courier, signal.SIGKILL)
        hands.until_begun(2)
        hands.go()
        _, err = host.communicate(timeout=WITHIN_S)
    assert host.returncode == 0, err
    assert len(hands.runs("ann")) == 1
    assert hands.course.observed("ann") == ["double", "square", "held"]
    assert hands.leftovers() == []


def test_a_node_that_is_killed_costs_nothing(hands):
    archives = [hands.course.submit(student) for student in STUDENTS]
    hands.rubric()
    hands.settings(pack=1, cpu={"cpus": 1})
    with hands.started(*archives) as host:
        hands.until_begun(len(STUDENTS))
        assert {node_of(name) for name in hands.begun()} == set(NODES)
        hands.cluster.kill_node("n2")
        lost = [name for name in hands.begun() if node_of(name) == "n2"]
        hands.until("its workers have ended", lambda: not any(map(alive, lost)))
        hands.go()
        _, err = host.communicate(timeout=WITHIN_S)
    assert host.returncode == 0, err
    assert [len(hands.runs(student)) for student in STUDENTS] == [1, 1, 1]


def alive(begun):
    """Tell whether the process that began an item still runs."""
    return Path("/proc", begun.split("-")[2]).exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
def test_with_the_host_all_ends_and_the_same_command_goes_on(hands, number):
    archives = [hands.course.submit(student) for student in STUDENTS]
    hands.rubric()
    with hands.started(*archives) as host:
        hands.until_begun()
        host.send_signal(number)
        host.communicate(timeout=WITHIN_S)
        assert host.returncode in {-number, 128 + number}
        hands.until("nothing of grader runs", lambda: not hands.workers())
    hands.go()
    done = hands.run(*archives)
    assert done.returncode == 0, done.stderr
    assert [len(hands.runs(student)) for student in STUDENTS] == [1, 1, 1]
    assert hands.leftovers() == []


def test_a_session_that_has_lost_the_driver_connects_again(hands):
    hands.rubric()
    with hands.started(hands.course.submit("ann")) as host:
        hands.until_begun()
        (driver,) = hands.cluster.processes("grader.engines.ray.driver")
        os.kill(driver, signal.SIGKILL)
        hands.until_begun(2)
        hands.go()
        _, err = host.communicate(timeout=WITHIN_S)
    assert host.returncode == 0, err
    assert len(hands.runs("ann")) == 1


def test_a_command_that_runs_nothing_is_told_with_its_last_line_and_nobody_is_graded(hands):
    hands.rubric(holds=False)
    hands.settings(command="/nowhere/python")
    done = hands.run(hands.course.submit("ann"))
    assert done.returncode == 5
    assert "its task ended 4 times without it" in done.stderr
    assert "/nowhere/python" in done.stderr
    assert hands.course.points("ann") == {"double": 0.0, "square": 0.0}


def test_a_task_for_which_no_node_is_large_enough_is_refused(hands):
    hands.rubric(holds=False)
    hands.settings(cpu={"cpus": 64})
    done = hands.run(hands.course.submit("ann"))
    assert done.returncode == 5
    assert "Ray refused it: no node has 64 CPUs; lower `cpus`" in done.stderr


def test_without_a_cluster_the_command_says_so(hands):
    hands.rubric(holds=False)
    hands.settings(address="127.0.0.1:1")
    done = hands.run(hands.course.submit("ann"))
    assert done.returncode == 5
    assert "no cluster answers ([Errno 111] Connection refused)" in done.stderr
    assert "engines.ray.address" in done.stderr


def test_settings_are_refused_with_their_line_and_column(hands):
    hands.rubric(holds=False)
    hands.course.write("course.yaml", "title: A tiny course\nengines:\n  ray:\n    cpu:\n      cpu: 3\n")
    done = hands.run(hands.course.submit("ann"))
    assert done.returncode == 4
    assert "course.yaml:5:7: engines.ray.cpu" in done.stderr


def test_nothing_is_left_to_collect_later(hands):
    hands.rubric(holds=False)
    done = hands.run("--detach", hands.course.submit("ann"))
    assert done.returncode == 2
    assert "--detach" in done.stderr


def test_items_with_a_gpu_run_on_a_node_with_one_of_the_kinds_that_the_assignment_names(hands, tmp_path):
    played = play_gpus(tmp_path / "played", names={"n1": "NVIDIA H998", "n2": "NVIDIA H999"}, count=1)
    hands.settings(setup=f"export PYTHONPATH={ROOT}:{played} LD_LIBRARY_PATH={played}", pack=1)
    text = (hands.course.folder / "assignments/tiny/assignment.py").read_text()
    hands.course.write(
        "assignments/tiny/assignment.py", text.replace('title="Tiny"', 'title="Tiny", gpu_kinds=("H999",)')
    )
    hands.rubric(devices={"gpu": 1})
    hands.go()
    done = hands.run(*(hands.course.submit(student) for student in STUDENTS))
    assert done.returncode == 0, done.stderr
    for student in STUDENTS:
        runs = [record["run"] for record in hands.course.records(student) if record["record"] == "run"]
        assert ["gpus" in run["environment"] for run in runs] == [False, True]
        (gpu,) = runs[1]["environment"]["gpus"]
        assert gpu["uuid"] == "GPU-n2-0"


def test_a_node_with_another_gpu_than_ray_says_observes_nothing(hands, tmp_path):
    played = play_gpus(tmp_path / "played", names={"n1": "NVIDIA H1", "n2": "NVIDIA H1"}, count=1)
    hands.settings(setup=f"export PYTHONPATH={ROOT}:{played} LD_LIBRARY_PATH={played}")
    text = (hands.course.folder / "assignments/tiny/assignment.py").read_text()
    hands.course.write(
        "assignments/tiny/assignment.py", text.replace('title="Tiny"', 'title="Tiny", gpu_kinds=("H999",)')
    )
    hands.rubric(devices={"gpu": 1})
    hands.go()
    done = hands.run(hands.course.submit("ann"))
    assert done.returncode == 5
    assert "on n2 it got NVIDIA H1, and may be measured on H999 only" in done.stderr


def test_the_doctor_looks_at_a_node_for_each_kind_of_tasks_and_leaves_nothing(hands):
    before = hands.leftovers()  # of tests that kill what runs; the next pack removes it
    code, lines = hands.doctor()
    sandbox = lines["tasks without GPUs", "sandbox"]
    assert (sandbox["works"], sandbox["about"].partition(" on ")[2] in NODES) == (True, True)
    gpus = lines["tasks with a GPU", "GPUs"]
    assert not gpus["works"], "they are not real"
    assert gpus["says"].startswith("1 granted, 0 can be used (none); CUDA_VISIBLE_DEVICES=0")
    assert lines["tasks without GPUs", "network"]["works"]
    assert lines["tasks without GPUs", "time limit"]["says"] == "30 minutes for a task"
    assert code == 5
    assert hands.leftovers() == before


def test_a_node_without_namespaces_stops_its_class_at_once(hands):
    weak = ROOT / "tests" / "weak_machine.py"
    if not weak.exists():
        pytest.skip("grader is installed without its tests")
    hands.settings(command=f'"$GRADER_PYTHON" {weak} --no-namespaces "$GRADER_PYTHON"', pack=1)
    _, lines = hands.doctor()
    sandbox = lines["tasks without GPUs", "sandbox"]
    assert not sandbox["works"]
    assert "user namespaces are forbidden: " in sandbox["says"]
    assert "a profile for it that allows unshare and mount" in sandbox["advice"]
    hands.rubric(holds=False)
    done = hands.run(*(hands.course.submit(student) for student in STUDENTS))
    assert done.returncode == 5
    assert "nothing was run" in done.stderr


def test_a_node_with_a_wrong_clock_changes_no_time(hands):
    from datetime import UTC, datetime, timedelta

    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if library is None:
        pytest.skip("libfaketime is not installed (apt install faketime)")
    hands.rubric(holds=False)
    hands.settings(f"export LD_PRELOAD={library} FAKETIME=-1h NO_FAKE_STAT=1 FAKETIME_DONT_FAKE_MONOTONIC=1")
    done = hands.run(hands.course.submit("ann"))
    assert done.returncode == 0, done.stderr
    (run,) = [record["run"] for record in hands.course.records("ann") if record["record"] == "run"]
    assert abs(datetime.now(UTC) - datetime.fromisoformat(run["started_at"])) < timedelta(minutes=30)
