"""`grader doctor`, `--min-isolation`, and what a run does where the machine forbids the strong layers."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

GRADER = str(Path(sys.executable).with_name("grader"))

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
        timeout=120,
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
    return re.search(r'"isolation": *"(\w*)"', records).group(1)


def test_the_doctor_tries_every_layer_and_says_which_one_hand_ins_get(tmp_path):
    done = grader("doctor", "--json", cwd=tmp_path)
    said = json.loads(done.stdout)
    layers = {f["name"]: f for f in said["findings"] if f["about"] == "sandbox"}
    assert list(layers) == ["bubblewrap", "namespaces", "landlock", "process"]
    assert all(layer["says"] for layer in layers.values())
    assert said["isolation"] == next(name for name, layer in layers.items() if layer["there"])
    assert (done.returncode == 0) == said["ready"] == layers["namespaces"]["there"]


def test_the_doctor_says_how_to_get_what_is_missing(tmp_path):
    here = Path(GRADER).parent
    done = grader("doctor", path=f"{here}:/nowhere", cwd=tmp_path)
    assert "bubblewrap is not installed (Debian, Ubuntu: apt install bubblewrap)" in done.stdout


def test_the_doctor_ends_with_5_where_no_wall_can_be_had_and_names_the_reason(tmp_path):
    done = grader("doctor", before=NO_NAMESPACES, cwd=tmp_path)
    assert done.returncode == 5, done.stderr
    assert "forbidden: user.max_user_namespaces is 0" in done.stdout
    assert "sysctl user.max_user_namespaces=10000" in done.stdout
    assert "Hand-ins should not be graded here" in done.stdout


def test_a_run_falls_back_to_the_strongest_layer_that_works_and_says_why(course):
    done = grader("run", "alice", before=NO_NAMESPACES, cwd=course)
    assert done.returncode == 0, done.stderr
    assert isolation(course) in {"landlock", "process"}
    assert "user namespaces are forbidden here (user.max_user_namespaces is 0" in done.stdout


def test_a_demand_that_cannot_be_met_leaves_every_item_open(course):
    done = grader("run", "alice", "--min-isolation", "namespaces", before=NO_NAMESPACES, cwd=course)
    assert done.returncode == 5
    assert "not observed" in done.stdout or "open" in done.stdout.lower()


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
