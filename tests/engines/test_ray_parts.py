"""Parts of the engine `ray`, without Ray: what tasks ask for, parcels, the courier, the driver's words."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import grader
from grader.config.engines import engine_options
from grader.contracts.engine import EngineSettings
from grader.engines.ray import courier, driver
from grader.engines.ray.engine import RayEngine
from grader.engines.ray.link import RayLostError
from grader.engines.ray.options import RayCpuTask, RayGpuTask, RayOptions
from grader.engines.ray.scheduler import RayScheduler
from grader.engines.remote.batch import Batch, write_batch
from grader.engines.remote.journal import AHEAD, JournalWriter
from grader.engines.remote.parcel import course_archive, courses_of, task_archive
from grader.engines.remote.scheduler import SchedulerRefusedError, TaskPhase
from grader.engines.remote.stored import BatchPlace, OrderStore, Wants
from grader.errors import UsageError
from grader.testing.engines import Orders

ROOT = Path(grader.__file__).parent.parent
GPU = Wants(exclusive=True, gpus=2, gpu_kinds=("H200", "H100"))


def node(name, cpus, gpus=0, *kinds, **more):
    resources = {"CPU": float(cpus), **({"GPU": float(gpus)} if gpus else {}), **more}
    return {"name": name, "resources": resources | {f"accelerator_type:{kind}": 1.0 for kind in kinds}}


class PlayedLink:
    """A driver that keeps commands, and reports what a test says."""

    def __init__(self, *nodes):
        self.nodes, self.commands, self.reports, self.lost = [*nodes], [], [], ""

    def send(self, **command):
        self.commands.append(command)

    def read(self):
        if self.lost:
            raise RayLostError(self.lost)
        reports, self.reports = self.reports, []
        return reports

    def close(self, *, kill=False):
        pass


def scheduler_of(*nodes, **options):
    link = PlayedLink(*nodes)
    return RayScheduler(RayOptions(**options), link, _nodes=link.nodes), link


def batch_of(wants, packs=1, cores=4):
    return Batch(name="grader-1", packs=(("ann",),) * packs, wants=wants, cores=cores, time_s=60.0)


# -- what tasks ask for --------------------------------------------------------------------------------------


def test_as_many_tasks_run_as_nodes_have_room_for():
    scheduler, _ = scheduler_of(node("a", 9), node("b", 3), node("c", 8, 8))
    assert scheduler.slots(Wants()) == 4
    assert scheduler.gpus() == 8
    assert scheduler.slots(Wants(exclusive=True, gpus=2)) == 2, "of its cores"
    assert scheduler.slots(Wants(exclusive=True, gpus=2, cores=7)) == 1
    assert replace(scheduler, options=RayOptions(at_once=3)).slots(Wants()) == 3
    assert replace(scheduler, options=RayOptions(gpu=RayGpuTask(most=-1))).gpus() == 0


def test_each_task_asks_for_a_kind_that_some_nodes_have():
    nodes = node("a", 8, 4, "H100"), node("b", 4, 2, "H200"), node("c", 8, 4, "A100"), node("d", 64)
    scheduler, link = scheduler_of(*nodes)
    scheduler.submit(batch_of(GPU, packs=5), Path("/orders"), Path("/orders/b"))
    h100, h200 = {"accelerator_type:H100": 0.001}, {"accelerator_type:H200": 0.001}
    assert link.commands[0]["resources"] == [h100, h100, h200, h100, h100]


def test_a_resource_that_the_settings_name_goes_before_what_ray_detects():
    gpu = RayGpuTask(kinds={"H200": "big"}, resources={"grading": 1.0})
    one, other = node("a", 8, 2, big=8.0, grading=4.0), node("b", 8, 2, "H200", grading=4.0)
    scheduler, link = scheduler_of(one, other, node("c", 8, 2, "H200"), gpu=gpu)
    scheduler.submit(batch_of(GPU, packs=2), Path("/orders"), Path("/orders/b"))
    assert link.commands[0]["resources"] == [
        {"grading": 1.0, "big": 0.001},
        {"grading": 1.0, "accelerator_type:H200": 0.001},
    ]


def test_where_ray_knows_no_kinds_the_machine_looks():
    scheduler, link = scheduler_of(node("a", 8, 2))
    scheduler.submit(batch_of(GPU), Path("/orders"), Path("/orders/b"))
    assert link.commands[0]["resources"] == [{}]


def test_what_no_node_can_take_is_refused_unless_nodes_are_added():
    nodes = node("a", 8, 2, "A100"), node("b", 8)
    scheduler, link = scheduler_of(*nodes)
    with pytest.raises(SchedulerRefusedError, match="no node has 4 CPUs and 2 GPUs of H200 or H100; lower"):
        scheduler.submit(batch_of(GPU), Path("/orders"), Path("/orders/b"))
    assert link.commands == []
    growing, link = scheduler_of(*nodes, autoscales=True)
    growing.submit(batch_of(GPU), Path("/orders"), Path("/orders/b"))
    (state,) = growing.states().values()
    assert (state.phase, state.words) == (
        TaskPhase.WAITING,
        "a node with 4 CPUs and 2 GPUs of H200 or H100",
    )
    assert len(link.commands) == 1


def test_with_the_driver_all_tasks_are_lost_that_were_not_over():
    scheduler, link = scheduler_of(node("a", 8))
    scheduler.submit(batch_of(Wants(), packs=2), Path("/orders"), Path("/orders/b"))
    link.reports = [{"task": ["grader-1", 0], "phase": "finished", "words": "it ended", "node": "a"}]
    scheduler.states()
    link.lost = "GCS may have been killed"
    states = scheduler.states()
    assert states["grader-1", 0].phase is TaskPhase.FINISHED
    assert states["grader-1", 1].phase is TaskPhase.LOST
    assert states["grader-1", 1].words == "the connection to Ray was lost: GCS may have been killed"
    assert scheduler.states() == states


def test_settings_of_a_site_are_read(tmp_path, monkeypatch):
    site = tmp_path / "site.yaml"
    site.write_text("engines: {ray: {address: 'h:1', cpu: {cpus: 2, time: 5m, resources: {grading: 1}}}}")
    monkeypatch.setenv("GRADER_SITE", str(site))
    cpu = RayCpuTask(cpus=2, time=300.0, resources={"grading": 1})
    assert engine_options(None, "ray", {"ray": RayOptions}) == RayOptions(address="h:1", cpu=cpu)


# -- without Ray ---------------------------------------------------------------------------------------------


def test_ray_is_imported_by_no_process_but_its_driver(tmp_path):
    (tmp_path / "ray.py").write_text("raise SystemExit('imported')")
    every = [
        "grader." + ".".join(path.relative_to(ROOT / "grader").with_suffix("").parts)
        for path in (ROOT / "grader" / "engines").rglob("*.py")
        if path.stem not in {"__init__", "__main__"}
    ]
    code = f"import importlib, grader.cli.main\nfor name in {every!r}: importlib.import_module(name)"
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"}
    subprocess.run([sys.executable, "-P", "-c", code], check=True, env=environment, timeout=600)


def test_where_ray_is_missing_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setattr("grader.engines.ray.engine.find_spec", lambda _: None)
    with (
        pytest.raises(UsageError, match=r"Ray is not installed; .*install 'gpu-grader\[ray\]'"),
        RayEngine().open(EngineSettings()),
    ):
        pass


# -- what travels --------------------------------------------------------------------------------------------


def test_a_parcel_is_what_a_task_needs_and_nothing_of_others(tmp_path):
    orders = Orders(tmp_path)
    store = OrderStore.at(tmp_path / "here")
    for number, name in enumerate(("ann", "bob")):
        order = orders.make(name)
        (Path(order.job.workspace) / "work.py").write_text(f"# {name}")
        store.store(order, Wants())
        store.place(name, BatchPlace(batch="grader-1", task=number))
    batch = replace(batch_of(Wants()), packs=(("ann", "gone"), ("bob",)))
    write_batch(store.root, batch)
    (course,) = courses_of(store.root, batch, 0)
    there = tmp_path / "there"
    there.mkdir()
    courier._unpack(task_archive(store.root, batch, 0), there)
    courier._unpack(course_archive(store.root, course), there)
    assert [folder.name for folder in (there / "orders").iterdir()] == ["ann"]
    stored = OrderStore(there).read("ann")
    assert stored == store.read("ann")
    job = OrderStore(there).job(stored)
    assert Path(job.workspace, "work.py").read_text() == "# ann"
    assert Path(job.assignment_folder, "assignment.py").exists()


@pytest.mark.parametrize("outside", ["../outside", "/tmp/outside", "inside/../../outside"])
def test_an_archive_that_leaves_its_folder_is_refused(tmp_path, outside):
    import io
    import tarfile

    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name in ("inside/file", outside):
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    with pytest.raises(ValueError, match="would lie outside"):
        courier._unpack(content.getvalue(), tmp_path / "root")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["file"]


# -- the courier ---------------------------------------------------------------------------------------------


class PlayedInbox:
    """An actor in this process; it is gone after so many letters."""

    def __init__(self, most=1000):
        self.inbox, self.most = courier.Inbox(), most
        self.put = SimpleNamespace(remote=self._put)

    def _put(self, *letter):
        self.most -= 1
        if self.most < 0:
            raise ConnectionError("the actor is gone")
        return self.inbox.put(*letter)

    def of_kind(self, kind):
        return b"".join(letter[3] for letter in self.inbox._letters if letter[2] == kind)


@pytest.fixture
def node_of_ray(monkeypatch, tmp_path):
    """Make this process a worker of Ray on the node n1, with a folder for temporary files."""
    context = SimpleNamespace(get_node_id=lambda: "1")
    nodes = [{"NodeID": "0", "NodeName": "n0"}, {"NodeID": "1", "NodeName": "n1"}]
    played = SimpleNamespace(
        get=lambda value: value, nodes=lambda: nodes, get_runtime_context=lambda: context
    )
    monkeypatch.setitem(sys.modules, "ray", played)
    temporary = tmp_path / "node"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return temporary


def carry(script, inbox, time_s=60.0):
    settings = {"batch": "grader-1", "task": 3, "time_s": time_s, "script": script, "journal": "j/3/1.jsonl"}
    empty = bytes(10240)
    return courier.carry(empty, {"c": [empty]}, json.dumps(settings), inbox)


def test_lines_travel_as_they_are_written_and_the_folder_is_removed(node_of_ray, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    inbox = PlayedInbox()
    script = (
        "J=j/3/1.jsonl; printf 'a\\nb' >> $J; echo oops >&2; env >&2; stat -c %a . >&2; printf 'c\\n' >> $J"
    )
    assert carry(script, inbox)
    assert inbox.of_kind(courier.BEGUN) == b"n1"
    assert inbox.of_kind(courier.LINES) == b"a\nbc\n"
    log = inbox.of_kind(courier.LOG).decode()
    assert log.startswith("oops\n")
    assert log.endswith("\n700\n")
    assert "GRADER_NODE=n1\n" in log
    assert "GRADER_TASK=3\n" in log
    assert "secret" not in log
    assert [*node_of_ray.iterdir()] == []


def test_a_worker_that_is_late_is_ended_and_told(node_of_ray, monkeypatch):
    monkeypatch.setattr(courier, "LATE_S", 0.0)
    inbox = PlayedInbox()
    assert not carry("trap 'echo ended >&2; exit' TERM; sleep 3600 & wait $!; kill $!", inbox, time_s=0.5)
    assert inbox.of_kind(courier.LOG) == b"ended\n"


def test_without_the_host_a_worker_ends(node_of_ray):
    with pytest.raises(ConnectionError):
        carry("echo >> j/3/1.jsonl; exec sleep 3600", PlayedInbox(most=1))
    assert [*node_of_ray.iterdir()] == []


def test_a_cancelled_task_ends_its_worker_before_it_ends(node_of_ray):
    inbox = PlayedInbox()

    def cancel():
        while not inbox.of_kind(courier.LINES):
            time.sleep(0.01)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=cancel).start()
    with pytest.raises(KeyboardInterrupt):
        carry("echo $$ >> j/3/1.jsonl; exec sleep 3600", inbox)
    assert not Path(f"/proc/{int(inbox.of_kind(courier.LINES))}").exists()
    assert [*node_of_ray.iterdir()] == []


def test_what_a_killed_task_has_left_is_removed_and_what_is_in_use_stays(node_of_ray):
    left, half, used = (node_of_ray / f"{courier.PREFIX}{name}" for name in ("left", "half", "used"))
    for folder in (left, half, used):
        folder.mkdir()
        (folder / "orders").mkdir()
    (left / courier.LOCK).touch()
    with (used / courier.LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        carry("true", PlayedInbox())
        assert [*node_of_ray.iterdir()] == [used]


def test_a_journal_counts_the_clock_of_its_node_from_that_of_the_host(tmp_path, monkeypatch):
    monkeypatch.setenv(AHEAD, "-3600.5")
    writer = JournalWriter(tmp_path / "1.jsonl", 0.0)
    writer.close()
    assert writer.clock_ahead_s == pytest.approx(-3600.5, abs=30.0)


# -- the driver ----------------------------------------------------------------------------------------------


CANCELLED = type("TaskCancelledError", (Exception,), {})


def raising(name, *bases, cause=None):
    """Return a function that raises an exception of this name, as Ray does for a task that has ended so."""
    error = type(name, bases or (Exception,), {"cause": cause})("something\nwith several lines")

    def result():
        raise error

    return result


@pytest.mark.parametrize(
    ("result", "phase", "words"),
    [
        (lambda: True, TaskPhase.FINISHED, "it ended"),
        (lambda: False, TaskPhase.OUT_OF_TIME, "out of time"),
        (raising("WorkerCrashedError"), TaskPhase.LOST, "Ray's worker was killed"),
        (raising("NodeDiedError"), TaskPhase.LOST, "its node was lost"),
        (
            raising("OutOfMemoryError"),
            TaskPhase.OUT_OF_MEMORY,
            "Ray ended it when its node ran out of memory",
        ),
        (
            raising("RayTaskError", type("TaskCancelledError", (Exception,), {})),
            TaskPhase.CANCELLED,
            "cancel",
        ),
        (raising("RayTaskError", cause=OSError("no room")), TaskPhase.LOST, "OSError: no room"),
        (raising("NobodyKnowsError"), TaskPhase.LOST, "NobodyKnowsError: with several lines"),
    ],
)
def test_each_exception_of_ray_ends_a_task_in_our_words(result, phase, words):
    ended, told = driver._end_of(result)
    assert ended is phase
    assert words in told


def test_a_line_that_finds_no_room_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    file = tmp_path / "journals" / "0" / "1.jsonl"
    file.parent.parent.mkdir()
    driver.append_whole(file, b"first\n")
    write = os.write
    monkeypatch.setattr(driver.os, "write", lambda number, content: write(number, content[:3]))
    with pytest.raises(OSError, match="No space left"):
        driver.append_whole(file, b"second\n")
    monkeypatch.undo()
    driver.append_whole(file, b"second\n")
    assert file.read_bytes() == b"first\nsecond\n"


def test_what_comes_for_a_batch_that_was_taken_back_is_dropped(tmp_path):
    with pytest.raises(FileNotFoundError):
        driver.append_whole(tmp_path / "gone" / "journals" / "0" / "1.jsonl", b"late\n")
    assert [*tmp_path.iterdir()] == []
