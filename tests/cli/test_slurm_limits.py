"""Limits of a site with Slurm: each is kept to, waited for with words, or told in a line with its setting."""

from __future__ import annotations

import signal
import subprocess

import pytest

from tests.cli.cluster_class import WITHIN_S
from tests.cli.test_slurm import SlurmClass
from tests.slurm_cluster import Cluster, missing

pytestmark = [pytest.mark.slurm, pytest.mark.skipif(bool(missing()), reason=missing())]
PARTITIONS = """
MaxJobCount=100
PartitionName=short Nodes=ALL MaxTime=3 State=UP
PartitionName=closed Nodes=ALL MaxTime=60 State=DOWN
PartitionName=draining Nodes=ALL MaxTime=60 State=DRAIN
PartitionName=physics Nodes=ALL MaxTime=60 State=UP AllowAccounts=physics
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("slurm"), max_array=3, min_job_age=2, more=PARTITIONS) as started:
        yield started


@pytest.fixture
def hands(course, cluster, tmp_path):
    """Return a class of nobody, on a cluster with nothing to do."""
    cluster.cancel_all()
    made = SlurmClass(course, cluster, tmp_path)
    made.rubric(holds=False)
    yield made
    cluster.cancel_all()


def read_until(host, words):
    """Read the error output of a command until a line has these words; return the line."""
    for line in host.stderr:
        if words in line:
            return line
    raise AssertionError(f"ended without a word of {words!r}")


def stop(host):
    host.send_signal(signal.SIGINT)
    host.communicate(timeout=WITHIN_S)


def test_a_class_larger_than_an_array_may_be_is_graded(hands):
    hands.settings(cpu={"cpus": 1}, pack=1)
    students = [f"s{number}" for number in range(5)]
    done = hands.run(*(hands.course.submit(student) for student in students))
    assert done.returncode == 0, done.stderr
    assert [len(hands.runs(student)) for student in students] == [1] * 5


def test_a_time_above_the_partitions_is_lowered_to_it(hands):
    hands.settings(cpu={"cpus": 1, "partition": "short", "time": "3h"})
    done = hands.run(hands.course.submit("ann"))
    assert done.returncode == 0, done.stderr
    _, lines = hands.doctor()
    assert lines["tasks without GPUs", "time limit"]["says"] == "3 minutes for a task"


def test_the_doctor_refuses_a_misspelt_partition_for_gpus(hands):
    hands.settings(cpu={"cpus": 1}, gpu={"partition": "gpuu", "cpus": 1})
    code, lines = hands.doctor()
    probe = lines["tasks with a GPU", "probe"]
    assert (code, probe["works"]) == (5, False)
    assert "invalid partition specified: gpuu; " in probe["says"]
    assert "; see `partition` in engines.slurm" in probe["says"]


def test_a_class_with_a_misspelt_partition_for_gpus_is_told_so_and_graded_without_them(hands):
    text = (hands.course.folder / "assignments/tiny/assignment.py").read_text()
    text = text.replace('title="Tiny"', 'title="Tiny", gpu_kinds=("H999",)')
    hands.course.write("assignments/tiny/assignment.py", text)
    hands.rubric(devices={"gpu": 1})
    hands.settings(cpu={"cpus": 1}, gpu={"partition": "gpuu", "cpus": 1})
    done = hands.run(hands.course.submit("ann"))
    assert done.returncode == 5
    assert "Slurm refused it: invalid partition specified: gpuu" in done.stderr
    assert "total           3 / 4" in done.stdout, "of what needs no GPU"


def test_the_doctor_says_so_where_no_task_can_have_a_gpu(hands):
    hands.settings(cpu={"cpus": 1}, gpu={"most": -1})
    code, lines = hands.doctor()
    assert (
        lines["tasks with a GPU", "GPUs"]["says"]
        == "none that a task can have; items that need one stay open"
    )
    assert code == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cpu": {"partition": "nowhere"}}, "Invalid partition name specified; see `partition` in"),
        ({"cpu": {"partition": "draining"}}, "(inactive or drain); see sinfo, and name another `partition`"),
        ({"cpu": {"cpus": 99}}, "no node of the default partition has 99 cores for a task; see `cpus`"),
        ({"options": ["--colour=red"]}, "unrecognized option '--colour=red'; see `options` in"),
        ({"options": ["--time=soon"]}, "Invalid --time specification; see `time`"),
        ({"options": ["--reservation=exam"]}, "Requested reservation is invalid; see `options` in"),
    ],
)
def test_what_slurm_refuses_is_one_line_with_the_setting(hands, settings, words):
    hands.settings(**settings)
    done = hands.run(hands.course.submit("ann"))
    assert done.returncode == 5
    (line,) = [line for line in done.stderr.splitlines() if "refused" in line]
    assert "Slurm refused it: " in line
    assert words in line


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cpu": {"partition": "physics"}}, "name another `account` or `partition`"),
        ({"account": "chemistry", "cpu": {"partition": "physics"}}, "name another `account` or `partition`"),
        ({"cpu": {"options": ["--time=99:00:00"]}}, "the partition allows less time; lower `time`"),
    ],
)
def test_what_slurm_keeps_waiting_for_good_says_what_to_do(hands, settings, words):
    hands.settings(**settings)
    with hands.started(hands.course.submit("ann")) as host:
        assert "1 waiting (" in read_until(host, words)
        stop(host)
    assert not hands.cluster.queue()


def test_a_partition_that_is_down_is_waited_for_with_words(hands):
    hands.settings(cpu={"cpus": 1, "partition": "closed"}, gpu={"most": -1})
    with hands.started(hands.course.submit("ann")) as host:
        read_until(host, "its partition starts no jobs")
        hands.cluster.call("scontrol", "update", "partitionname=closed", "state=up")
        try:
            _, err = host.communicate(timeout=WITHIN_S)
        finally:
            hands.cluster.call("scontrol", "update", "partitionname=closed", "state=down")
    assert host.returncode == 0, err


def test_a_doctor_that_waits_says_what_for(hands):
    hands.settings(cpu={"cpus": 1, "partition": "closed"}, gpu={"most": -1})
    with hands.started_command(hands.grader("doctor", "--engine", "slurm")) as doctor:
        line = read_until(doctor, "tasks without GPUs: waiting (PartitionDown: its partition starts no jobs")
        assert line.startswith("grader: ")
        stop(doctor)
    assert not hands.cluster.queue()


@pytest.mark.slow
def test_a_slurm_with_as_many_jobs_as_it_may_have_is_waited_for_with_words(hands):
    """Slurm forgets jobs that ended once a minute only."""
    hands.settings(cpu={"cpus": 1})
    full = False
    while not full:
        filler = ["sbatch", "--quiet", "--partition=closed", "--wrap=true"]
        try:
            subprocess.run(
                filler,
                env=hands.environment,
                cwd=hands.course.cwd,
                check=True,
                timeout=3,
                capture_output=True,
            )
        except subprocess.TimeoutExpired:
            full = True
    with hands.started(hands.course.submit("ann")) as host:
        read_until(host, "Slurm takes no more tasks at the moment")
        hands.cluster.call("scancel", "--partition=closed", "--user=root")
        _, err = host.communicate(timeout=WITHIN_S)
    assert host.returncode == 0, err
