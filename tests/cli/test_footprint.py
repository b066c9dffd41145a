"""A run touches its results folder and nothing else, and stays small."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


def snapshot(folder: Path) -> dict[str, tuple[int, int, int]]:
    """What could have changed of everything in a folder."""
    paths = [folder, *folder.rglob("*")]
    return {str(p): (s.st_mode, s.st_size, s.st_mtime_ns) for p in paths for s in [p.lstat()]}


def test_nothing_but_the_results_folder_changes(course, tmp_path):
    archive = course.submit()
    assert course.run("plugins").returncode == 0  # our own modules are compiled now
    shared_memory = set(Path("/dev/shm").iterdir())
    before = snapshot(tmp_path)
    assert course.run("run", archive).returncode == 0
    after = {path: seen for path, seen in snapshot(tmp_path).items() if not path.startswith(str(course.out))}
    del before[str(tmp_path)], after[str(tmp_path)]  # it got a new folder, the results
    assert after == before
    assert set(Path("/dev/shm").iterdir()) <= shared_memory


def test_the_results_folder_holds_evidence_workspace_and_reports_and_nothing_secret(course):
    course.run("run", course.submit())
    files = {path.name for path in course.out.rglob("*") if path.is_file()}
    assert files == {"evidence.jsonl", "junit.xml", "report.html", "score.json", "work.py"}


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user gets namespaces by writing to /proc")
@pytest.mark.usefixtures("bubblewrap")
def test_a_machine_on_which_only_the_results_can_be_written_is_enough(course):
    course.out.mkdir()
    readonly = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--bind", str(course.out), str(course.out)]
    done = subprocess.run(
        [*readonly, *course.command("run", course.submit())],
        env=course.environment,
        cwd=course.cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert course.points() == {"double": 1, "square": 2}


def test_graded_again_nothing_is_observed_and_no_file_is_added(course):
    archive = course.submit()
    course.run("run", archive)
    evidence = (course.results() / "evidence.jsonl").read_bytes()
    files = sorted(course.out.rglob("*"))
    assert course.run("run", archive).returncode == 0
    assert (course.results() / "evidence.jsonl").read_bytes() == evidence
    assert sorted(course.out.rglob("*")) == files


@pytest.mark.usefixtures("bubblewrap")
def test_the_evidence_says_where_it_comes_from(course):
    course.run("run", course.submit())
    started, *observed = (r for r in course.records() if r["record"] != "end")
    run = started["run"]
    assert run["isolation"] == "bubblewrap"
    assert {"processor", "python", "kernel", "cores", "memory", "grader", "subject"} <= run[
        "environment"
    ].keys()
    observations = [r["observation"] for r in observed]
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", o["digest"]) for o in observations)
    assert all(re.fullmatch("[0-9a-f]{32}", o["seed"]) for o in observations)
    assert len({o["seed"] for o in observations}) == 2
    assert all(r["run"] == run["id"] for r in observed)


def test_the_seed_is_another_one_in_every_run(course):
    archive = course.submit()
    course.run("run", archive)
    course.run("run", archive, "--fresh")
    seeds = [r["observation"]["seed"] for r in course.records() if r["record"] == "observation"]
    assert len(set(seeds)) == 4


SPY = """
    import os
    def double(x):
        found = []
        for folder, _, files in os.walk("/"):
            if folder.startswith(("/proc", "/usr", "/dev", "/sys", "/python")): continue
            secret = {"evidence.jsonl", "expected.py", "inputs.py"}
            found += [f"{folder}/{f}" for f in files if f in secret or f.startswith("job-")]
        print(sorted(os.listdir(".")), found, [e for e in os.environ if "GRADER" in e])
        return 2 * x
"""


@pytest.mark.slow
def test_the_program_finds_its_own_files_and_no_secret_beside_them(course):
    course.rubric(
        {
            "id": "double",
            "title": "d",
            "points": 1,
            "check": "matches_reference",
            "of": "work.double",
            "inputs": "numbers",
        }
    )
    course.run("run", course.submit(code=SPY))
    seen = next(r["observation"] for r in course.records() if r["record"] == "observation")
    assert set(seen["output"].splitlines()) == {"['work.py'] [] []"}


def test_the_host_stays_below_120_mb(course):
    code = """if True:
        import atexit, re
        from grader.cli.main import main
        # not getrusage: that one remembers the process this one was forked from
        peak = lambda: re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]
        atexit.register(lambda: print("peak", peak()))
        main()
    """
    done = subprocess.run(
        [sys.executable, "-c", code, *course.command("run", course.submit())[1:]],
        env=course.environment,
        cwd=course.cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout.split()[-1]) < 120_000


@pytest.mark.slow
def test_the_host_imports_neither_numpy_nor_what_the_worker_alone_may_know(course):
    code = """if True:
        import atexit, sys
        from grader.cli.main import main
        names = ("numpy", "numba", "torch", "grader.worker")
        names += ("grader_course.tiny.inputs", "grader_course.tiny.expected")
        atexit.register(lambda: print("loaded", *[n for n in names if n in sys.modules]))
        main()
    """
    done = subprocess.run(
        [sys.executable, "-c", code, *course.command("run", course.submit())[1:]],
        env=course.environment,
        cwd=course.cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "loaded"


def test_a_submission_beside_which_we_stand_is_not_imported_by_us(course):
    for name in ("json.py", "click.py", "numpy.py", "grader.py", "sitecustomize.py"):
        (course.cwd / name).write_text("raise SystemExit('imported from the working directory')")
    done = course.run("run", course.submit())
    assert (done.returncode, done.stderr) == (0, "")


def as_an_ordinary_user() -> list[str]:
    """What to put before a command so that whoever runs it has no rights at all."""
    if os.geteuid() != 0:
        return []
    program = ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--uid", "1000", "--gid", "1000"]
    program += ["--unshare-pid", "--proc", "/proc"]
    if subprocess.run([*program, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine gives nobody a user namespace")
    return program


@pytest.mark.usefixtures("bubblewrap")
def test_an_ordinary_user_grades_in_bubblewrap_below_a_home_that_nobody_else_may_enter(course, tmp_path):
    tmp_path.chmod(0o700)
    done = subprocess.run(
        [*as_an_ordinary_user(), *course.command("run", course.submit())],
        env=course.environment,
        cwd=course.cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert course.points() == {"double": 1, "square": 2}
    assert course.records()[0]["run"]["isolation"] == "bubblewrap"


def test_a_user_who_keeps_everything_to_himself_grades_as_well(course):
    done = subprocess.run(
        ["sh", "-c", 'umask 077 && exec "$@"', "sh", *course.command("run", course.submit())],
        env=course.environment,
        cwd=course.cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert course.points() == {"double": 1, "square": 2}


@pytest.mark.parametrize(
    "how", ["upwards", *(pytest.param(how, marks=pytest.mark.slow) for how in ("--course", "GRADER_COURSE"))]
)
def test_the_course_is_found(course, how):
    environment = course.environment | {"GRADER_COURSE": str(course.folder) if how == "GRADER_COURSE" else ""}
    deep = course.folder / "assignments" / "tiny"
    command = course.command("run", course.submit())
    if how == "--course":
        command[1:1] = ["--course", os.path.relpath(course.folder, course.cwd)]
    cwd = deep if how == "upwards" else course.cwd
    done = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_default_results_folder_is_below_the_working_directory(course):
    done = subprocess.run(
        [course.command("run")[0], "run", "--json", course.submit()],
        env=course.environment,
        cwd=course.cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["scores"][0]["students"] == ["ann"]
    assert (course.cwd / "results" / "tiny" / "ann" / "score.json").is_file()
