"""`grader doctor`, `--min-isolation`, and what a run does where the machine forbids the strong layers."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from grader.sandbox.landlock import LandlockSandbox

GRADER = str(Path(sys.executable).with_name("grader"))
WEAK_MACHINE = Path(__file__).parents[1] / "weak_machine.py"

NO_NAMESPACES = [
    *("unshare", "--user", "--map-root-user", "--mount", "sh", "-c"),
    'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-sys_admin "$@"',
    "sh",
]
"""Be root who may not mount, on a machine that forbids user namespaces."""


def grader(*args, before=(), path=None, **where):
    environment = os.environ | ({"PATH": path} if path else {})
    return subprocess.run(
        [*before, GRADER, *args],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
        **where,
    )


@pytest.fixture
def course(tmp_path):
    files = {
        "course.yaml": "title: A course\n",
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
        "rubrics/tiny.yaml": """
            schema: 1
            assignment: tiny
            points: 1
            items:
              - id: double
                title: double doubles
                points: 1
                check: matches_reference
                of: work.double
                inputs: numbers
                expected: double
        """,
        "alice/work.py": "def double(x): return 2 * x\n",
    }
    for name, text in files.items():
        file = tmp_path / "course" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text))
    return tmp_path / "course"


def isolation(course: Path) -> str:
    records = (course / "results/tiny/alice/evidence.jsonl").read_text()
    return re.findall(r'"isolation": *"(\w*)"', records)[-1]


def test_the_doctor_tries_every_layer_and_says_which_one_submissions_get(tmp_path):
    done = grader("doctor", "--json", cwd=tmp_path)
    said = json.loads(done.stdout)
    layers = {f["name"]: f for f in said["findings"] if f["about"] == "sandbox"}
    assert list(layers) == ["bubblewrap", "namespaces", "landlock", "process"]
    assert all(layer["says"] for layer in layers.values())
    assert not layers["process"]["works"]
    assert said["isolation"] == next(name for name, layer in layers.items() if layer["works"])
    assert (done.returncode == 0) == said["ready"] == layers["namespaces"]["works"]


def test_the_doctor_says_how_to_get_what_is_missing(tmp_path):
    here = Path(GRADER).parent
    done = grader("doctor", path=f"{here}:/nowhere", cwd=tmp_path)
    assert "bubblewrap is not installed (Debian, Ubuntu: apt install bubblewrap)" in done.stdout


def test_the_doctor_ends_with_5_where_no_wall_can_be_had_and_names_the_reason(tmp_path):
    done = grader("doctor", before=NO_NAMESPACES, cwd=tmp_path)
    assert done.returncode == 5, done.stderr
    assert "forbidden: user.max_user_namespaces is 0" in done.stdout
    assert "sysctl user.max_user_namespaces=10000" in done.stdout
    assert "Submissions should not be graded here" in done.stdout


def weak(*lacks: str, opened: Path | None = None) -> list[str]:
    """Run what follows as on a machine that lacks these, where any user can read the course in `opened`."""
    options = [f"--open={opened}"] if opened and os.geteuid() == 0 else []
    return [sys.executable, str(WEAK_MACHINE), *options, *(f"--{one}" for one in lacks)]


def observed(course: Path) -> list[str]:
    records = map(json.loads, (course / "results/tiny/alice/evidence.jsonl").read_text().splitlines())
    return [one["observation"]["outcome"] for one in records if one["record"] == "observation"]


NOT_ROOT = "import os\ndef double(x): return 2 * x if os.getuid() else 'as root'\n"


def test_a_run_falls_back_to_the_strongest_layer_that_works_and_says_why(course):
    if missing := LandlockSandbox().available():
        pytest.skip(missing)
    (course / "alice/work.py").write_text(NOT_ROOT)
    done = grader("run", "alice", before=weak("no-namespaces", opened=course), cwd=course)
    assert done.returncode == 0, done.stderr
    assert isolation(course) == "landlock"
    assert "user namespaces are forbidden here (the container or a security module" in done.stdout
    assert "1 / 1" in done.stdout


def test_a_layer_that_is_no_wall_is_used_where_it_is_named_and_nowhere_else(course):
    (course / "alice/work.py").write_text(NOT_ROOT)
    nothing_better = weak("no-namespaces", "no-landlock", opened=course)
    done = grader("run", "alice", before=nothing_better, cwd=course)
    assert (done.returncode, done.stdout) == (5, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("grader: nothing was run: no sandbox works on this machine: ")
    assert "--min-isolation process" in line
    assert observed(course) == ["not_observed"]

    done = grader("run", "alice", "--min-isolation", "process", before=nothing_better, cwd=course)
    assert done.returncode == 0, done.stderr
    assert isolation(course) == "process"
    assert "1 / 1" in done.stdout


@pytest.mark.parametrize("named", [pytest.param("by the command", marks=pytest.mark.slow), "by the course"])
@pytest.mark.skipif(os.geteuid() != 0, reason="only root could make anybody root")
def test_no_program_runs_as_root_but_where_that_was_said(course, named):
    (course / "alice/work.py").write_text(NOT_ROOT)
    course.parent.chmod(0o700)
    no_second_user = weak("no-namespaces")
    done = grader("run", "alice", before=no_second_user, cwd=course)
    assert (done.returncode, done.stdout) == (5, "")
    (line,) = done.stderr.splitlines()
    assert "sandbox landlock: a program of a student would run as root here: no other user can read" in line
    assert "put it where all may read, such as below /opt or /srv, or run grader as an ordinary user" in line
    assert observed(course) == ["not_observed"]

    said = ["--min-isolation", "process"] if named == "by the command" else []
    if not said:
        (course / "course.yaml").write_text("title: A course\nmin_isolation: process\n")
    done = grader("run", "alice", *said, before=no_second_user, cwd=course)
    assert done.returncode == 0, done.stderr
    assert "0 / 1" in done.stdout, "it did run as root"


SIGNALS_PID_1 = """
import os, signal
def double(x):
    for number in signal.valid_signals():
        try:
            os.kill(1, number)
        except PermissionError:
            pass
    return 2 * x
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="starts as root to become an ordinary user")
def test_no_signal_of_a_program_ends_pid_1_of_its_check_where_both_are_the_same_user(course):
    (course / "alice/work.py").write_text(SIGNALS_PID_1)
    course.chmod(0o777)
    done = grader("run", "alice", before=weak("user=60000", opened=course), cwd=course)
    assert done.returncode == 0, done.stderr
    assert isolation(course) in {"bubblewrap", "namespaces"}
    assert "✗" not in done.stdout


def test_a_demand_that_cannot_be_met_runs_nothing(course):
    done = grader("run", "alice", "--min-isolation", "namespaces", before=NO_NAMESPACES, cwd=course)
    assert (done.returncode, done.stdout) == (5, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "grader: nothing was run: no sandbox of namespaces or stronger works on this machine: "
    )
    assert "user.max_user_namespaces is 0" in line
    assert line.endswith("; see grader doctor (namespaces or stronger is demanded)")
    assert observed(course) == ["not_observed"]

    names = [f"s{number}" for number in range(7)]
    for name in names:
        (course / name).symlink_to("alice")
    done = grader("run", *names, "--min-isolation", "namespaces", before=NO_NAMESPACES, cwd=course)
    assert done.returncode == 5
    first, again, *sums = done.stderr.splitlines()
    assert first == line
    assert again.startswith("grader: the same of 6 more submissions (s")
    assert again.endswith(f", …): {line.removeprefix('grader: ')}")
    assert sums == [
        "0 submissions graded",
        "7 submissions without a grade; the lines above say why",
        "exit code 5: 7 submissions incomplete",
    ]


def test_a_demand_of_the_command_line_never_weakens_that_of_the_course(course):
    (course / "course.yaml").write_text("title: A course\nmin_isolation: namespaces\n")
    done = grader("run", "alice", "--min-isolation", "process", before=NO_NAMESPACES, cwd=course)
    assert done.returncode == 5


def test_a_layer_that_does_not_exist_is_a_mistake_of_usage_with_the_names_there_are(course):
    done = grader("run", "alice", "--min-isolation", "bubblewarp", cwd=course)
    assert done.returncode == 2
    assert done.stderr == (
        "grader: --min-isolation bubblewarp: there is no such layer; "
        "give one of bubblewrap, namespaces, landlock, process\n"
    )
