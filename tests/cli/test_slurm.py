"""A class on a Slurm of three nodes: what breaks costs nobody anything, and nobody is graded twice."""

from __future__ import annotations

import select
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.cluster_class import ROOT, WITHIN_S, ClusterClass, essence
from tests.cuda.played_gpus import play_gpus
from tests.slurm_cluster import Cluster, missing

pytestmark = [pytest.mark.slurm, pytest.mark.skipif(bool(missing()), reason=missing())]


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("slurm")) as started:
        yield started


class SlurmClass(ClusterClass):
    """A class on Slurm."""

    engine = "slurm"

    def settings(self, setup="", **keys):
        self.write_settings(setup, {"cpu": {"cpus": 2, "time": "10m"}, **keys})

    def describe(self):
        return self.cluster.queue()

    def jobs(self):
        """Return the numbers of all jobs that Slurm ever had of us."""
        lines = self.cluster.call("squeue", "--noheader", "--states=all", "--format=%j %F").splitlines()
        return {tuple(line.split()) for line in lines if line.startswith("grader-")}


@pytest.fixture
def hands(course, cluster, tmp_path):
    """Return a class of nobody, on a cluster with nothing to do."""
    cluster.cancel_all()
    made = SlurmClass(course, cluster, tmp_path)
    yield made
    made.go()
    cluster.cancel_all()


def test_a_class_gets_what_it_gets_on_one_machine_and_nothing_is_left(hands, tmp_path):
    students = ("ann", "bob", "cy")
    archives = [hands.course.submit(student) for student in students]
    hands.rubric(holds=False)
    there = hands.run(*archives)
    assert there.returncode == 0, there.stderr
    elsewhere = {student: essence(hands.course, student) for student in students}
    assert [len(hands.runs(student)) for student in students] == [1, 1, 1]
    assert [file.name for file in (hands.course.out / ".cluster").iterdir()] == ["durations.json"]
    hands.until("nothing waits or runs", lambda: not hands.cluster.queue())
    hands.course.out = tmp_path / "here"
    hands.course.run("run", *archives)
    assert elsewhere == {student: essence(hands.course, student) for student in students}


def test_a_host_that_is_killed_is_followed_by_one_that_collects(hands):
    archives = [hands.course.submit(student) for student in ("ann", "bob")]
    hands.rubric()
    before = hands.jobs()
    for _ in range(2):
        with hands.started(*archives) as host:
            hands.until_begun(2)
            host.kill()
            host.wait()
    hands.go()
    done = hands.run(*archives)
    assert done.returncode == 0, done.stderr
    assert len(hands.jobs() - before) == 1, "one batch in all"
    for student in ("ann", "bob"):
        assert len(hands.runs(student)) == 1
        assert hands.course.observed(student) == ["double", "square", "held"]


def test_ctrl_c_cancels_and_a_closed_terminal_does_not(hands):
    archive = hands.course.submit("ann")
    hands.rubric()
    with hands.started(archive) as host:
        hands.until_begun()
        host.send_signal(signal.SIGHUP)
        host.communicate(timeout=WITHIN_S)
        assert host.returncode == 128 + signal.SIGHUP
    assert len(hands.cluster.queue()) == 1
    with hands.started(archive) as host:
        assert select.select([host.stderr], [], [], WITHIN_S)[0], "it says how its orders stand"
        host.send_signal(signal.SIGINT)
        assert "what is done is kept" in host.communicate(timeout=WITHIN_S)[1]
        assert host.returncode == 128 + signal.SIGINT
    hands.until("the queue is empty", lambda: not hands.cluster.queue())
    assert not (hands.course.out / ".cluster").exists()


def test_detached_it_ends_at_once_and_the_same_command_collects(hands):
    archive = hands.course.submit("ann")
    hands.rubric()
    sent = hands.run("--detach", archive)
    assert sent.returncode == 5
    assert "it is still on the cluster; the same command collects it" in sent.stderr + sent.stdout
    hands.until_begun()
    hands.go()
    done = hands.run(archive)
    assert done.returncode == 0, done.stderr
    assert len(hands.begun()) == 1


def test_a_newer_submission_cancels_what_waits_for_the_older_one(hands):
    archive = hands.course.submit("ann")
    hands.rubric()
    assert hands.run("--detach", archive).returncode == 5
    hands.until_begun()
    hands.course.submit("ann", "def double(x): return 2 * x\ndef square(x): return 0 * x\n")
    hands.go()
    done = hands.run(archive)
    assert done.returncode == 0, done.stderr
    assert hands.course.points("ann") == {"double": 1.0, "square": 0.0, "held": 1.0}
    assert len(hands.runs("ann")) == 1


def test_a_node_that_is_lost_costs_nothing_and_its_late_records_count_for_nothing(hands):
    archive = hands.course.submit("ann")
    hands.rubric()
    with hands.started(archive) as host:
        hands.until_begun(1)
        (line,) = hands.cluster.queue()
        node = line.split()[3]
        hands.cluster.lose_node(node)
        try:
            hands.cluster.begin_now()
            hands.until_begun(2)  # on another node, while the first one still waits for its turn
            (journals,) = hands.course.out.glob(".cluster/batches/*/journals/0")
            old, _ = sorted(journals.iterdir())
            assert old.name.endswith(".0000.jsonl")
            hands.until("the host has read the new one", lambda: "held" not in old.read_text())
            hands.go()
            _, err = host.communicate(timeout=WITHIN_S)
        finally:
            hands.cluster.revive_node(node)
    assert host.returncode == 0, err
    assert len(hands.runs("ann")) == 1
    assert hands.course.observed("ann") == ["double", "square", "held"]
    hands.until("nothing waits any more", lambda: not hands.cluster.queue())


def test_a_controller_that_is_away_is_waited_for(hands):
    archives = [hands.course.submit(student) for student in ("ann", "bob")]
    hands.rubric()
    with hands.started(*archives) as host:
        hands.until_begun(2)
        hands.cluster.stop_controller()
        hands.go()
        hands.cluster.start_controller()
        _, err = host.communicate(timeout=WITHIN_S)
    assert host.returncode == 0, err


REACHES = """
import os
import time

PLACES = {places!r}
SECONDS = {seconds!r}
FILES = ("order.json", "placement.json", "batch.json", "evidence.jsonl", "score.json", "expected.py")

def reached():
    found = []
    for place in PLACES:
        for attempt in (os.listdir, lambda place: open(os.path.join(place, "left"), "w")):
            try:
                attempt(place)
                found.append(place)
            except OSError:
                pass
    for top in ("/tmp", "/root", "/home", "/var/tmp"):
        for folder, _, files in os.walk(top):
            found += [os.path.join(folder, name) for name in files if name in FILES or name[:4] == "job-"]
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{{name}}/environ", "rb") as file:
                found += [name] if b"SLURM" in file.read() else []
        except OSError:
            pass
    return found

def double(x):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv("/usr/bin/sleep", ["sleep", SECONDS])
        os._exit(0)
    if found := reached():
        raise RuntimeError(str(found))
    return 2 * x

def square(x):
    return x * x
"""


def test_a_program_reaches_no_order_and_no_journal_and_does_not_outlive_its_task(hands):
    seconds = "86321.25"
    root = hands.course.out / ".cluster"
    places = [str(place) for place in (root, root / "orders", root / "batches", root.parent, hands.holds)]
    hands.rubric()
    archives = [
        hands.course.submit("ann", REACHES.format(places=places, seconds=seconds)),
        hands.course.submit("bob"),
    ]
    with hands.started(*archives) as host:
        hands.until_begun(2)  # the programs of both were called by now, and the orders of both are open
        hands.go()
        _, err = host.communicate(timeout=WITHIN_S)
    assert host.returncode == 0, err
    told = (hands.course.results("ann") / "score.json").read_text()
    assert hands.course.points("ann") == {"double": 1.0, "square": 2.0, "held": 1.0}, told
    commands = [file.read_bytes() for file in Path("/proc").glob("[0-9]*/cmdline") if file.exists()]
    assert not any(seconds.encode() in command for command in commands)


def test_names_may_have_what_slurm_and_shells_replace(hands, tmp_path):
    hands.course.out = tmp_path / "results of 'é' %j $HOME"
    hands.rubric(holds=False)
    hands.settings(setup='export GREETING="two\nlines"  # and a # in it')
    done = hands.run(hands.course.submit("ann"))
    assert done.returncode == 0, done.stderr
    assert len(hands.runs("ann")) == 1


def test_a_full_disk_of_the_folder_is_waited_for(hands, tmp_path):
    folder, node = tmp_path / "shared", tmp_path / "node"
    folder.mkdir()
    node.mkdir(mode=0o755)
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m,mode=0700", "none", folder], check=False
    ).returncode:
        pytest.skip("nothing may be mounted here")
    try:
        long = "$(head -c 20000 /dev/zero | tr '\\0' x)"  # more than the rest of a page of the journal
        hands.settings(setup=f"export TMPDIR={node} HELD_WRITES={long}", folder=str(folder))
        hands.rubric()
        with hands.started(hands.course.submit("ann")) as host:
            hands.until_begun()
            filler = folder / "filler"
            with filler.open("wb", buffering=0) as file, suppress(OSError):
                while True:
                    file.write(bytes(4096))
            hands.go()

            def is_observed():
                return any("held" in file.read_text() for file in node.glob("*/*/evidence.jsonl"))

            hands.until("the worker has observed it", is_observed)
            (journal,) = folder.glob("*/batches/*/journals/0/*")
            assert '"ended"' not in journal.read_text()
            filler.unlink()
            _, err = host.communicate(timeout=WITHIN_S)
        assert host.returncode == 0, err
        assert hands.course.points("ann")["held"] == 1.0
        assert len(hands.runs("ann")) == 1
    finally:
        hands.cluster.cancel_all()
        subprocess.run(["umount", folder], check=True)


@pytest.mark.slow
def test_what_is_longer_than_its_task_stays_open_and_says_so(hands):
    hands.rubric()
    hands.settings(cpu={"cpus": 1, "time": "1m"})
    done = hands.run(hands.course.submit("ann"))
    assert done.returncode == 5
    assert "it did not end within the time of its task (1 minutes); raise `time`" in done.stderr
    assert hands.course.points("ann") == {"double": 1.0, "square": 2.0, "held": 0.0}


@pytest.mark.slow
def test_without_a_controller_orders_wait_until_it_is_there(hands):
    archive = hands.course.submit("ann")
    hands.rubric(holds=False)
    hands.cluster.stop_controller()
    try:
        with hands.started(archive) as host:
            assert select.select([host.stderr], [], [], WITHIN_S)[0]
            assert "Slurm does not answer" in host.stderr.readline()
            hands.cluster.start_controller()
            _, err = host.communicate(timeout=WITHIN_S)
    finally:
        if not hands.cluster.states():
            hands.cluster.start_controller()
    assert host.returncode == 0, err
    assert len(hands.runs("ann")) == 1


def test_a_task_that_somebody_cancels_says_so_and_the_others_are_graded(hands):
    archives = [hands.course.submit(student) for student in ("ann", "bob", "cy")]
    hands.rubric()
    hands.settings(cpu={"cpus": 1}, pack=1)
    with hands.started(*archives) as host:
        hands.until_begun(3)
        name = hands.cluster.queue()[0].split()[0]
        ids = hands.cluster.call(
            "squeue", "--noheader", "--array", f"--name={name}", "--format=%F_%K"
        ).split()
        hands.cluster.call("scancel", ids[0])
        hands.until("it is gone", lambda: len(hands.cluster.queue()) == 2)
        hands.go()
        _, err = host.communicate(timeout=WITHIN_S)
    assert host.returncode == 5
    assert "somebody cancelled its task (CANCELLED); run again" in err
    points = [hands.course.points(student).get("held") for student in ("ann", "bob", "cy")]
    assert sorted(points) == [0.0, 1.0, 1.0]
    done = hands.run(*archives)
    assert done.returncode == 0, done.stderr


def test_a_node_with_a_wrong_clock_changes_no_time(hands):
    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
    if library is None:
        pytest.skip("libfaketime is not installed (apt install faketime)")
    archive = hands.course.submit("ann")
    hands.rubric(holds=False)
    fake = f"export LD_PRELOAD={library} FAKETIME=-1h NO_FAKE_STAT=1 FAKETIME_DONT_FAKE_MONOTONIC=1"
    hands.settings(setup=fake)
    done = hands.run(archive)
    assert done.returncode == 0, done.stderr
    (started,) = [
        record["run"]["started_at"] for record in hands.course.records("ann") if record["record"] == "run"
    ]
    assert abs(datetime.now(UTC) - datetime.fromisoformat(started)) < timedelta(minutes=30)


def test_what_slurm_refuses_is_told_in_its_words(hands):
    archive = hands.course.submit("ann")
    hands.rubric(holds=False)
    hands.settings(cpu={"cpus": 1, "partition": "nowhere"})
    done = hands.run(archive)
    assert done.returncode == 5
    assert "Slurm refused it" in done.stderr + done.stdout
    hands.settings(cpu={"cpus": 1, "options": ["--qos=unheard-of", "--gres=cheese:1"]})
    assert "Slurm refused it" in (refused := hands.run(archive)).stderr + refused.stdout


def test_items_with_a_gpu_follow_the_others_each_on_a_gpu_that_was_granted_to_it(hands, tmp_path):
    played = play_gpus(tmp_path / "played")
    gpu = {"cpus": 1, "kinds": {"H999": "gpu:fake"}}
    hands.settings(setup=f"export PYTHONPATH={ROOT}:{played} LD_LIBRARY_PATH={played}", gpu=gpu, pack=1)
    text = (hands.course.folder / "assignments/tiny/assignment.py").read_text()
    hands.course.write(
        "assignments/tiny/assignment.py", text.replace('title="Tiny"', 'title="Tiny", gpu_kinds=("H999",)')
    )
    hands.rubric(devices={"gpu": 1})
    students = ("ann", "bob", "cy")
    before = hands.jobs()
    with hands.started(*(hands.course.submit(student) for student in students)) as host:
        hands.until_begun(len(students))
        granted = hands.cluster.call("squeue", "--noheader", "--array", "--states=RUNNING", "--format=%b")
        assert set(granted.split()) == {"gres:gpu:fake:1"}
        hands.go()
        _, err = host.communicate(timeout=WITHIN_S)
    assert host.returncode == 0, err
    assert len(hands.jobs() - before) >= 2, "those without a GPU went out before"
    facts = []
    for student in students:
        runs = [record["run"] for record in hands.course.records(student) if record["record"] == "run"]
        assert ["gpus" in run["environment"] for run in runs] == [False, True]
        facts += [gpu["uuid"] for gpu in runs[1]["environment"]["gpus"]]
    assert len(set(facts)) == len(students), facts


def test_the_doctor_looks_at_a_machine_for_each_kind_of_tasks_and_leaves_nothing(hands):
    code, lines = hands.doctor()
    sandbox = lines["tasks without GPUs", "sandbox"]
    assert (sandbox["works"], sandbox["about"].partition(" on ")[2]) == (True, "n1")
    gpus = lines["tasks with a GPU", "GPUs"]
    assert not gpus["works"], "they are not real"
    assert gpus["says"].startswith("1 granted, 0 can be used (none); CUDA_VISIBLE_DEVICES=")
    assert lines["tasks without GPUs", "time limit"]["says"] == "10 minutes for a task"
    assert code == 5
    hands.until("nothing waits or runs", lambda: not hands.cluster.queue())
    assert not (hands.course.cwd / ".cluster").exists()


def test_a_cluster_without_namespaces_is_told_from_one_with_them_and_its_class_stops_at_once(hands):
    weak = ROOT / "tests" / "weak_machine.py"
    if not weak.exists():
        pytest.skip("grader is installed without its tests")
    command = f"{sys.executable} {weak} --no-namespaces {sys.executable}"
    hands.settings(command=command, cpu={"cpus": 1}, pack=1, at_once=1)
    _, lines = hands.doctor()
    sandbox = lines["tasks without GPUs", "sandbox"]
    assert not sandbox["works"]
    assert "namespaces or stronger is demanded" in sandbox["says"]
    hands.rubric(holds=False)
    before = hands.jobs()
    done = hands.run(*(hands.course.submit(student) for student in ("ann", "bob", "cy")))
    assert done.returncode == 5
    assert "nothing was run" in done.stderr
    assert len(hands.jobs() - before) == 1


def test_the_doctor_tells_a_node_without_namespaces_from_one_with_them_and_says_what_to_do(hands):
    weak = ROOT / "tests" / "weak_machine.py"
    if not weak.exists():
        pytest.skip("grader is installed without its tests")
    setup = f"WEAK=; test $GRADER_NODE = n2 && WEAK='{sys.executable} {weak} --no-namespaces'"
    for node, works in (("n1", True), ("n2", False)):
        options = [f"--nodelist={node}"]
        hands.settings(setup, command=f"$WEAK {sys.executable}", options=options, gpu={"most": -1})
        sandbox = hands.doctor()[1]["tasks without GPUs", "sandbox"]
        assert sandbox["about"].endswith(f" on {node}")
        assert sandbox["works"] is works
    assert "user namespaces are forbidden: " in sandbox["says"]
    assert "a profile for it that allows unshare and mount" in sandbox["advice"]


def test_a_doctor_names_the_node_that_has_no_interpreter_and_what_setup_printed(hands):
    hands.settings(command="/opt/nowhere/python3", options=["--nodelist=n2"], gpu={"most": -1})
    code, lines = hands.doctor()
    probe = lines["tasks without GPUs", "probe"]
    assert code == 5
    assert probe["says"].startswith("its task on n2 ended without a word: ")
    assert probe["says"].endswith("/opt/nowhere/python3: not found")
    assert "`command` in engines.slurm" in probe["advice"]
    hands.settings("module-of-nobody load cuda", gpu={"most": -1})
    _, lines = hands.doctor()
    assert lines["tasks without GPUs", "setup"]["says"].endswith("module-of-nobody: not found")
    assert lines["tasks without GPUs", "clock"]["says"] == "as this machine's"


def test_settings_are_refused_with_their_line_and_column(hands):
    hands.rubric(holds=False)
    hands.course.write("course.yaml", "title: A tiny course\nengines:\n  slurm:\n    cpu:\n      cpu: 3\n")
    done = hands.run(hands.course.submit("ann"))
    assert done.returncode == 4
    assert "course.yaml:5:7: engines.slurm.cpu" in done.stderr


def test_a_site_without_slurm_is_told_so(hands):
    hands.rubric(holds=False)
    done = hands.course.run("run", "--engine", "slurm", hands.course.submit("ann"), PATH="/nowhere")
    assert done.returncode in {2, 5}
    assert "sbatch" in done.stderr
