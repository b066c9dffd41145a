"""Whatever ends a run in the middle: what was observed is kept, and no process is left."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from grader.cli.main import listening
from grader.subject import linux

DOUBLE = {"id": "double", "title": "d", "points": 1, "check": "matches_reference"}
DOUBLE |= {"of": "work.double", "inputs": "numbers"}
SQUARE = DOUBLE | {"id": "square", "of": "work.square"}
WITHIN_S = 600
ROOT = Path(__file__).resolve().parents[2]


LAYERS = {
    "bubblewrap": ("bubblewrap", "BubblewrapSandbox"),
    "process": ("process", "ProcessSandbox"),
}


def waiting(signal_pipe):
    """An item that marks its presence and then calls what the student does not end."""
    return {"id": "waits", "title": "w", "points": 1, "check": "waits", "path": str(signal_pipe.path)}


def family(pid: int, depth: int = 99) -> set[int]:
    """Every process below one, itself included; `depth` generations of them at most."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {pid}
    for _ in range(depth):
        found |= {child for child, parent in parents.items() if parent in found}
    return found


def program_of(worker: int) -> int:
    """The program that waits for this worker: the parent of its daemon, below which there is nothing."""
    generations = [family(worker, depth=0)]
    while more := family(worker, len(generations)).difference(*generations):
        generations.append(more)
    (program,) = generations[-2]
    return program


def handles_of(processes):
    """A handle on each process; one that ended meanwhile, as those that only fork do, is not left anyway."""
    for pid in processes:
        with suppress(ProcessLookupError):
            yield os.pidfd_open(pid)


def wait_for_the_end(handles: list[int]) -> None:
    for handle in handles:
        ended = select.select([handle], [], [], WITHIN_S)[0]
        os.close(handle)
        assert ended, "a process outlived the run"


def wait_until_reaped(pid: int) -> None:
    """Wait until its parent has taken notice of its end."""
    with suppress(ProcessLookupError):
        wait_for_the_end([os.pidfd_open(pid)])
    deadline = time.monotonic() + WITHIN_S
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline, "a process was never reaped"
        os.sched_yield()


def worker_of(host: int) -> int:
    """The process that the host started."""
    (child,) = Path(f"/proc/{host}/task/{host}/children").read_text().split()
    return int(child)


def test_a_worker_that_is_killed_leaves_what_it_observed_and_only_the_rest_is_observed_again(
    course, tmp_path
):
    marker = tmp_path / "kill"
    marker.touch()
    killing = {"id": "kills", "title": "k", "points": 1, "check": "kills_once", "path": str(marker)}
    course.rubric(DOUBLE, killing, SQUARE)

    first = course.run("run", course.submit())
    assert first.returncode == 5
    (line,) = first.stderr.splitlines()
    assert "the worker was ended by signal" in line
    assert course.observed() == ["double"]
    assert course.points() == {"double": 1, "kills": 0, "square": 0}
    assert "provisional" in first.stdout.lower()

    second = course.run("run", course.submit())
    assert (second.returncode, second.stderr) == (0, "")
    assert course.observed() == ["double", "kills", "square"]
    assert course.points() == {"double": 1, "kills": 1, "square": 1}
    assert [r["record"] for r in course.records()].count("end") == 1


@pytest.mark.quick(3)
@pytest.mark.covering
@pytest.mark.parametrize(
    ("layer", "number", "to", "status"),
    [
        ("bubblewrap", signal.SIGKILL, "worker", 5),
        ("bubblewrap", signal.SIGTERM, "worker", 5),
        ("bubblewrap", signal.SIGHUP, "worker", 5),
        ("bubblewrap", signal.SIGKILL, "host", -signal.SIGKILL),
        ("bubblewrap", signal.SIGTERM, "host", 143),
        ("bubblewrap", signal.SIGHUP, "host", 129),
        ("bubblewrap", signal.SIGHUP, "everyone", 129),
        ("bubblewrap", signal.SIGINT, "host", 130),
        ("bubblewrap", signal.SIGINT, "everyone", 130),
        ("process", signal.SIGKILL, "worker", 5),
        ("process", signal.SIGKILL, "host", -signal.SIGKILL),
        ("process", signal.SIGINT, "everyone", 130),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_when_the_run_is_ended_in_the_middle_no_process_is_left(
    course, signal_pipe, layer, number, to, status
):
    course.sandbox(*LAYERS[layer])
    course.rubric(DOUBLE, waiting(signal_pipe), SQUARE)
    with course.start("run", course.submit()) as host:
        signal_pipe.wait()
        processes = family(host.pid)
        assert len(processes) >= 5, "host, worker, server, pid 1 of the check, program, its daemon"
        handles = list(handles_of(processes))
        if to == "everyone":
            os.killpg(host.pid, number)
        else:
            os.kill(host.pid if to == "host" else worker_of(host.pid), number)
        _, said = host.communicate(timeout=WITHIN_S)
        wait_for_the_end(handles)
    assert host.returncode == status
    assert "Traceback" not in said
    assert len(said.strip().splitlines()) == (0 if number == signal.SIGKILL and to == "host" else 1)
    assert course.observed() == ["double"]
    if to != "host" or number != signal.SIGKILL:
        left = {path.name for path in course.results().iterdir()} | {p.name for p in course.out.iterdir()}
        assert not {name for name in left if name.startswith("job")}, "it holds the seed"
        assert not {name for name in left if name.startswith(".")}

    course.rubric(DOUBLE, SQUARE)
    assert course.run("run", course.submit()).returncode == 0
    assert course.observed() == ["double", "square"]
    assert not list(course.out.rglob(".*"))
    assert not list(course.out.rglob("job*"))


@pytest.fixture
def subreaper():
    """This process is handed whatever a run leaves behind, as pid 1 would be; nobody reaps it meanwhile."""
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    before = children()
    yield lambda: children() - before
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 0)
    for pid in children() - before:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def children() -> set[int]:
    """Our own, defunct ones included."""
    return family(os.getpid(), depth=1) - {os.getpid()}


def state(pid: int) -> str:
    """Its command line, or its state where that is gone."""
    return command_line(pid).decode() or Path(f"/proc/{pid}/stat").read_text()


@pytest.mark.parametrize("layer", ["bubblewrap", pytest.param("process", marks=pytest.mark.slow)])
def test_a_run_that_ends_in_order_leaves_no_defunct_process(course, layer, subreaper):
    course.sandbox(*LAYERS[layer])
    course.rubric(DOUBLE, SQUARE)
    assert course.installed("run", course.submit()).returncode == 0
    assert [state(pid) for pid in subreaper()] == []


@pytest.mark.quick(1)
@pytest.mark.covering
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("number", "to"),
    [(signal.SIGTERM, "host"), (signal.SIGKILL, "worker"), (signal.SIGTERM, "worker")],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_run_that_is_ended_in_the_middle_leaves_no_defunct_process(
    course, signal_pipe, layer, number, to, subreaper
):
    course.sandbox(*LAYERS[layer])
    course.rubric(DOUBLE, waiting(signal_pipe), SQUARE)
    with course.start("run", course.submit()) as host:
        signal_pipe.wait()
        os.kill(host.pid if to == "host" else worker_of(host.pid), number)
        host.communicate(timeout=WITHIN_S)
    assert [state(pid) for pid in subreaper()] == []


@pytest.mark.parametrize("layer", ["bubblewrap", pytest.param("process", marks=pytest.mark.slow)])
def test_of_a_host_that_was_killed_nothing_but_its_worker_is_left_to_be_reaped(
    course, signal_pipe, layer, subreaper
):
    """That one falls to pid 1 at its end; all that was below it, it has reaped itself."""
    course.sandbox(*LAYERS[layer])
    course.rubric(DOUBLE, waiting(signal_pipe), SQUARE)
    with course.start("run", course.submit()) as host:
        signal_pipe.wait()
        worker = worker_of(host.pid)
        handles = list(handles_of(family(host.pid)))
        os.kill(host.pid, signal.SIGKILL)
        host.communicate(timeout=WITHIN_S)
        wait_for_the_end(handles)
    assert subreaper() == {worker}


def test_a_worker_that_missed_every_signal_ends_soon_after_its_host(course, signal_pipe, tmp_path):
    """The kernel tells it once that its host has ended, and an exception can be lost where it arises."""
    (tmp_path / "sitecustomize.py").write_text(DEAF)
    course.rubric(waiting(signal_pipe))
    with course.start("run", course.submit(), PYTHONPATH=str(tmp_path)) as host:
        signal_pipe.wait()
        handles = list(handles_of(family(host.pid)))
        os.kill(host.pid, signal.SIGKILL)
        host.communicate(timeout=WITHIN_S)
        wait_for_the_end(handles)


DEAF = """if True:
    import signal, sys
    if "grader.worker" in sys.orig_argv:
        alarm = signal.alarm
        signal.alarm = lambda seconds: alarm(1)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal = lambda number, handler: None
"""


def ignored(pid: int) -> int:
    """The signals that a process ignores, as a mask."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("SigIgn:")).split()[1], 16)


def test_a_closed_terminal_ends_the_run_in_order(course, signal_pipe):
    """The kernel sends SIGHUP, and whatever is written there fails from then on."""
    course.rubric(DOUBLE, waiting(signal_pipe))
    ours, theirs = os.openpty()
    with subprocess.Popen(
        ["setsid", "--ctty", *course.command("run", course.submit())],
        env=course.environment,
        cwd=course.cwd,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as host:
        os.close(theirs)
        signal_pipe.wait()
        handles = list(handles_of(family(host.pid)))
        os.close(ours)
        assert host.wait(WITHIN_S) == 129
        wait_for_the_end(handles)
    assert course.observed() == ["double"]
    assert not list(course.results().glob("job*"))
    assert not list(course.out.rglob(".*"))
    assert list(course.tmp.iterdir()) == []


def test_who_is_told_twice_ends_once_but_who_presses_ctrl_c_again_means_it():
    before = signal.getsignal(signal.SIGTERM)
    with listening() as stop:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert stop.number == signal.SIGHUP
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_plugin_that_breaks_as_an_run_begins_leaves_no_seed(course):
    course.write(
        "assignments/zz_breaks/assignment.py",
        """
        from grader.api import hookimpl

        @hookimpl
        def grader_run_started():
            raise RuntimeError("nobody thought of this")
        """,
    )
    done = course.run("run", course.submit())
    assert done.returncode == 4
    assert (
        "zz_breaks/assignment.py:6: grader_run_started: RuntimeError: nobody thought of this" in done.stderr
    )
    assert not list(course.out.rglob("job*.json"))


def test_under_nohup_a_closed_terminal_ends_nothing(course, signal_pipe):
    course.rubric(DOUBLE, waiting(signal_pipe))
    nohup = ["sh", "-c", 'trap \'\' HUP; exec "$0" "$@"']
    with subprocess.Popen(
        [*nohup, *course.command("run", course.submit())],
        env=course.environment,
        cwd=course.cwd,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as host:
        signal_pipe.wait()
        handles = list(handles_of(family(host.pid)))
        for process in (host.pid, worker_of(host.pid)):
            os.kill(process, signal.SIGHUP)
            assert ignored(process) & 1 << signal.SIGHUP - 1
        os.kill(host.pid, signal.SIGTERM)
        assert host.wait(WITHIN_S) == 143
        wait_for_the_end(handles)


@pytest.mark.quick(1)
@pytest.mark.parametrize("command", ["run", "verify", "replay"])
def test_whatever_observes_is_ended_by_a_closed_terminal_with_all_that_it_made(course, signal_pipe, command):
    archives = [course.submit("ann"), course.submit("ben")]
    course.rubric(DOUBLE)
    assert course.run("run", archives[0]).returncode == 0
    course.rubric(waiting(signal_pipe) | {"id": "double"})
    arguments = {
        "run": archives,
        "verify": ["--quick"],
        "replay": [str(course.results()), "--item", "double", "--rubric", "tiny"],
    }
    with course.start(command, *arguments[command]) as host:
        signal_pipe.wait()
        handles = list(handles_of(family(host.pid)))
        os.kill(host.pid, signal.SIGHUP)
        _, said = host.communicate(timeout=WITHIN_S)
        wait_for_the_end(handles)
    assert host.returncode == 129
    assert said.strip() == "grader: stopped; what is done is kept"
    assert list(course.tmp.iterdir()) == []
    assert not list(course.out.rglob("job*.json"))
    assert not list(course.out.rglob(".*"))


TWO_WORKERS = """if True:
    import sys
    if "run" in sys.orig_argv:
        from grader.grading import plan

        def two(tasks, *more, **options):
            return plan.Part(tasks=tasks[:1]), plan.Part(tasks=tasks[1:], exclusive=True)

        plan.plan = two
"""


@pytest.mark.parametrize(
    "to", ["both", *(pytest.param(to, marks=pytest.mark.slow) for to in ("first", "second"))]
)
def test_of_two_workers_the_one_that_is_hung_up_leaves_its_items_to_another_one(
    course, signal_pipe, tmp_path, to
):
    (tmp_path / "sitecustomize.py").write_text(TWO_WORKERS)
    course.rubric(waiting(signal_pipe), waiting(signal_pipe) | {"id": "more"})
    # a call that fails is made by the reference as well, where it would not end before the limit of time
    (course.folder / "assignments/tiny/reference/work.py").unlink()
    with course.start("run", course.submit(), PYTHONPATH=f"{tmp_path}:{ROOT}") as host:
        for _ in range(2):
            signal_pipe.wait()
        handles = list(handles_of(family(host.pid)))
        first, second = sorted(pid for pid in family(host.pid) if b"grader.worker" in command_line(pid))
        killed = {"first": (first,), "second": (second,), "both": (first, second)}[to]
        programs = [program_of(pid) for pid in (first, second) if pid not in killed]
        for process in killed:
            os.kill(process, signal.SIGHUP)
        for process in programs:  # another one does the rest when the worker of this one is done
            wait_until_reaped(*killed)  # if it ended last, nothing would be tried again
            os.kill(process, signal.SIGKILL)  # not its daemon: without that it goes on up to its limit
            signal_pipe.wait()
            os.kill(host.pid, signal.SIGTERM)
        _, said = host.communicate(timeout=WITHIN_S)
        wait_for_the_end(handles)
    assert host.returncode == (5 if to == "both" else 143)
    assert "Traceback" not in said
    assert list(course.tmp.iterdir()) == []
    assert not list(course.out.rglob("job*.json"))


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_the_seed_is_no_file_any_more_while_the_program_runs(course, signal_pipe):
    course.rubric(waiting(signal_pipe))
    with course.start("run", course.submit()) as host:
        signal_pipe.wait()
        files = sorted(path.name for path in course.results().rglob("*"))
        os.killpg(host.pid, signal.SIGKILL)
        host.communicate(timeout=WITHIN_S)
    assert not [name for name in files if name.startswith("job")]
    assert "evidence.jsonl" in files


def test_of_two_graders_on_the_same_results_the_second_says_so_in_one_line(course, signal_pipe):
    course.rubric(waiting(signal_pipe))
    with course.start("run", course.submit()) as first:
        signal_pipe.wait()
        second = course.run("run", course.submit())
        elsewhere = course.run("run", course.submit("ben"), "--rubric", "nowhere")
        os.killpg(first.pid, signal.SIGINT)
        first.communicate(timeout=WITHIN_S)
    assert second.returncode == 5
    (line,) = second.stderr.splitlines()
    assert "another grader is at work here" in line
    assert (course.results() / "workspace" / "work.py").exists()
    assert elsewhere.returncode == 2


@pytest.mark.slow
def test_evidence_that_was_cut_off_in_a_line_is_continued_behind_its_last_whole_one(course):
    course.run("run", course.submit())
    evidence = course.results() / "evidence.jsonl"
    lines = evidence.read_bytes().splitlines(keepends=True)
    assert len(lines) == 4
    evidence.write_bytes(b"".join(lines[:2]) + lines[2][:-20])

    assert course.run("run", course.submit()).returncode == 0
    assert course.observed() == ["double", "square"]
    assert evidence.read_bytes().startswith(b"".join(lines[:2]))


def test_evidence_that_is_damaged_in_the_middle_is_named_with_its_line_and_left_alone(course):
    course.run("run", course.submit())
    evidence = course.results() / "evidence.jsonl"
    lines = evidence.read_bytes().splitlines(keepends=True)
    damaged = lines[0] + b'{"record": "obs\n' + b"".join(lines[2:])
    evidence.write_bytes(damaged)

    done = course.run("run", course.submit())
    assert done.returncode == 5
    (line,) = done.stderr.splitlines()
    assert "evidence.jsonl:2: is not a record" in line
    assert evidence.read_bytes() == damaged


def test_a_lock_whose_holder_is_gone_holds_nobody_up(course):
    course.results().mkdir(parents=True)
    handle = os.open(course.results(), os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    held = course.run("run", course.submit())
    os.close(handle)
    free = course.run("run", course.submit())
    assert (held.returncode, free.returncode) == (5, 0)
