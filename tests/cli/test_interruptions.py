"""Whatever ends an exam in the middle: what was observed is kept, and no process is left."""

from __future__ import annotations

import fcntl
import os
import select
import signal
from contextlib import suppress
from pathlib import Path

import pytest

DOUBLE = {"id": "double", "title": "d", "points": 1, "check": "matches_reference"}
DOUBLE |= {"of": "work.double", "inputs": "numbers"}
SQUARE = DOUBLE | {"id": "square", "of": "work.square"}
WITHIN_S = 600


LAYERS = {
    "bubblewrap": ("bubblewrap", "BubblewrapSandbox"),
    "process": ("process", "ProcessSandbox"),
}


def waiting(signal_pipe):
    """An item that marks its presence and then runs the student's endless loop."""
    return {"id": "waits", "title": "w", "points": 1, "check": "waits", "path": str(signal_pipe.path)}


def family(pid: int) -> set[int]:
    """Every process below one, itself included."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


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


def examiner_of(host: int) -> int:
    """The process that the host started."""
    (child,) = Path(f"/proc/{host}/task/{host}/children").read_text().split()
    return int(child)


def test_an_examiner_that_is_killed_leaves_what_it_observed_and_only_the_rest_is_observed_again(
    course, tmp_path
):
    marker = tmp_path / "kill"
    marker.touch()
    killing = {"id": "kills", "title": "k", "points": 1, "check": "kills_once", "path": str(marker)}
    course.rubric(DOUBLE, killing, SQUARE)

    first = course.run("run", course.hand_in())
    assert first.returncode == 5
    (line,) = first.stderr.splitlines()
    assert "the examiner was ended by a signal" in line
    assert course.observed() == ["double"]
    assert course.points() == {"double": 1, "kills": 0, "square": 0}
    assert "provisional" in first.stdout.lower()

    second = course.run("run", course.hand_in())
    assert (second.returncode, second.stderr) == (0, "")
    assert course.observed() == ["double", "kills", "square"]
    assert course.points() == {"double": 1, "kills": 1, "square": 1}
    assert [r["record"] for r in course.records()].count("end") == 1


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(
    ("number", "to", "status"),
    [
        (signal.SIGKILL, "examiner", 5),
        (signal.SIGTERM, "examiner", 5),
        (signal.SIGKILL, "host", -signal.SIGKILL),
        (signal.SIGTERM, "host", 143),
        (signal.SIGINT, "host", 130),
        (signal.SIGINT, "everyone", 130),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_when_the_run_is_ended_in_the_middle_no_process_is_left(
    course, signal_pipe, layer, number, to, status
):
    course.sandbox(*LAYERS[layer])
    course.rubric(DOUBLE, waiting(signal_pipe), SQUARE)
    with course.start("run", course.hand_in()) as host:
        signal_pipe.wait()
        processes = family(host.pid)
        assert len(processes) >= 5, "host, examiner, server, pid 1 of the check, program, its daemon"
        handles = list(handles_of(processes))
        if to == "everyone":
            os.killpg(host.pid, number)
        else:
            os.kill(host.pid if to == "host" else examiner_of(host.pid), number)
        _, said = host.communicate(timeout=WITHIN_S)
        wait_for_the_end(handles)
    assert host.returncode == status
    assert "Traceback" not in said
    assert len(said.strip().splitlines()) == (0 if number == signal.SIGKILL and to == "host" else 1)
    assert course.observed() == ["double"]
    if to != "host" or number != signal.SIGKILL:
        left = {path.name for path in course.results().iterdir()} | {p.name for p in course.out.iterdir()}
        assert "job.json" not in left, "it holds the seed"
        assert not {name for name in left if name.startswith(".")}

    course.rubric(DOUBLE, SQUARE)
    assert course.run("run", course.hand_in()).returncode == 0
    assert course.observed() == ["double", "square"]
    assert not list(course.out.rglob(".*"))


def test_the_seed_is_no_file_any_more_while_the_program_runs(course, signal_pipe):
    course.rubric(waiting(signal_pipe))
    with course.start("run", course.hand_in()) as host:
        signal_pipe.wait()
        files = sorted(path.name for path in course.results().rglob("*"))
        os.killpg(host.pid, signal.SIGKILL)
        host.communicate(timeout=WITHIN_S)
    assert "job.json" not in files
    assert "evidence.jsonl" in files


def test_of_two_graders_on_the_same_results_the_second_says_so_in_one_line(course, signal_pipe):
    course.rubric(waiting(signal_pipe))
    with course.start("run", course.hand_in()) as first:
        signal_pipe.wait()
        second = course.run("run", course.hand_in())
        elsewhere = course.run("run", course.hand_in("ben"), "--rubric", "nowhere")
        os.killpg(first.pid, signal.SIGINT)
        first.communicate(timeout=WITHIN_S)
    assert second.returncode == 5
    (line,) = second.stderr.splitlines()
    assert "another grader is at work here" in line
    assert (course.results() / "workspace" / "work.py").exists()
    assert elsewhere.returncode == 2


def test_evidence_that_was_cut_off_in_a_line_is_continued_behind_its_last_whole_one(course):
    course.run("run", course.hand_in())
    evidence = course.results() / "evidence.jsonl"
    lines = evidence.read_bytes().splitlines(keepends=True)
    assert len(lines) == 4
    evidence.write_bytes(b"".join(lines[:2]) + lines[2][:-20])

    assert course.run("run", course.hand_in()).returncode == 0
    assert course.observed() == ["double", "square"]
    assert evidence.read_bytes().startswith(b"".join(lines[:2]))


def test_evidence_that_is_damaged_in_the_middle_is_named_with_its_line_and_left_alone(course):
    course.run("run", course.hand_in())
    evidence = course.results() / "evidence.jsonl"
    lines = evidence.read_bytes().splitlines(keepends=True)
    damaged = lines[0] + b'{"record": "obs\n' + b"".join(lines[2:])
    evidence.write_bytes(damaged)

    done = course.run("run", course.hand_in())
    assert done.returncode == 5
    (line,) = done.stderr.splitlines()
    assert "evidence.jsonl:2: is not a record" in line
    assert evidence.read_bytes() == damaged


def test_a_lock_whose_holder_is_gone_holds_nobody_up(course):
    course.results().mkdir(parents=True)
    handle = os.open(course.results(), os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    held = course.run("run", course.hand_in())
    os.close(handle)
    free = course.run("run", course.hand_in())
    assert (held.returncode, free.returncode) == (5, 0)
