"""A whole class in one command: side by side, killed and continued, one at a time where it is timed."""

from __future__ import annotations

import json
import os
import signal
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from grader.cli.outcome import FEW, RunSummary
from grader.cli.submissions import RunInput
from grader.config.course import load_course
from grader.cuda.gpus import gpus
from grader.errors import NotObservedError
from grader.grading.grade import Grading
from grader.grading.sessions import open_session
from grader.grading.submission import CourseFiles, Request
from grader.plugins import Plugins

DOUBLE = {"id": "double", "title": "double doubles", "points": 1, "check": "matches_reference"}
DOUBLE |= {"of": "work.double", "inputs": "numbers"}
SQUARE = DOUBLE | {"id": "square", "title": "square squares", "points": 2, "of": "work.square"}
WITHIN_S = 600

PROGRAMS = {
    "right": "def double(x): return 2 * x\ndef square(x): return x * x",
    "half": "def double(x): return 2 * x\ndef square(x): return x + x",
    "broken": "def double(x): return 2 *",
    "crashing": "import os\ndef double(x): os.abort()\ndef square(x): return x * x",
}
POINTS = {"right": 3.0, "half": 1.0, "broken": 0.0, "crashing": 2.0}

KINDS = """
    import os, time
    from dataclasses import dataclass

    from grader.contracts.check import CheckKind
    from grader.model.observation import Observation, Outcome
    from grader.model.options import option
    from grader.model.score import Award

    class _Kind(CheckKind):
        @dataclass(frozen=True, slots=True, kw_only=True)
        class Options:
            path: str = option("A file or folder outside.")

        def observe(self, options, context):
            self.act(options.path)
            return Observation(item=context.item, outcome=Outcome.OBSERVED, seed=context.seed)

        def award(self, options, observation, related):
            return Award(fraction=1.0, reason="it was looked at")

    class Unsure(_Kind):
        name = "unsure"

        def act(self, path):
            pass

        def award(self, options, observation, related):
            return Award(fraction=0.0, reason="who knows", undecided=True, again=True)

    class Alone(_Kind):
        name = "alone"
        timed = True

        def act(self, path):
            for what in ("in", "out"):
                with open(path, "a") as file:
                    file.write(what + "\\n")

    class Threads(_Kind):
        name = "threads"

        def act(self, path):
            with open(path, "w") as file:
                file.write(f"{os.environ['OPENBLAS_NUM_THREADS']} {os.environ['OMP_NUM_THREADS']}")

    class Together(_Kind):
        name = "together"

        def act(self, path):
            open(f"{path}/{os.getpid()}", "w").close()
            ends = time.monotonic() + 60
            while len(os.listdir(path)) < 2:
                assert time.monotonic() < ends, "nobody else came"
                time.sleep(0.01)
"""


def archive(code: str) -> bytes:
    content = code.encode()
    member = tarfile.TarInfo("hw/work.py")
    member.size = len(content)
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as file:
        file.addfile(member, BytesIO(content))
    return packed.getvalue()


@pytest.fixture
def canvas(course):
    """Writes the zip that Canvas gives out, of `count` mixed submissions, and tells who earns what."""

    def download(count: int) -> tuple[str, dict[str, float]]:
        earned = {}
        path = course.submissions_folder / "submissions.zip"
        with zipfile.ZipFile(path, "w") as file:
            for number in range(count):
                kind = list(PROGRAMS)[number % len(PROGRAMS)]
                late = "LATE_" if number % 5 == 0 else ""
                name = f"student{number}_{late}{1000 + number}_{5000 + number}_hw1"
                if number % 10 == 7:  # handed in twice: the first one is wrong
                    file.writestr(f"{name}.tar.gz", archive(PROGRAMS["broken"]))
                    name = f"student{number}_{1000 + number}_{7000 + number}_hw1-1"
                if number % 10 == 9:
                    file.writestr(f"{name}.zip", b"this is no archive")
                    continue
                file.writestr(f"{name}.tar.gz", archive(PROGRAMS[kind]))
                earned[f"student{number}_{1000 + number}"] = POINTS[kind]
        return str(path), earned

    return download


def marks(course, book: Path) -> list[dict[str, object]]:
    """All of a gradebook but times, ids, and values that were drawn."""
    done = course.run("export", "json", "--gradebook", str(book))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for one in found:
        del one["run"], one["score"]
        for item in one["items"]:
            del item["reason"]
    return found


def test_a_download_of_canvas_is_graded_with_one_command(course, canvas):
    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student,canvas id\nann,1000\nben,1001\nmax,1009\nzoe,9\n")
    download, earned = canvas(10)
    earned["ann"], earned["ben"] = earned.pop("student0_1000"), earned.pop("student1_1001")

    done = course.run("run", download)

    assert done.returncode == 6
    rows = {row.split()[1]: row for row in done.stdout.splitlines()}
    assert {student: float(row.split()[2]) for student, row in rows.items()} == earned
    said = done.stderr.splitlines()
    assert (
        "grader: student7_1007_7007_hw1-1.tar.gz: counts, the newest of 2 attempts, before "
        "student7_1007_5007_hw1.tar.gz"
    ) in said
    assert [line for line in said if "student9" in line] == [
        "grader: student9_1009_5009_hw1.zip: is no archive, whatever its name says; "
        "pack the files as .tar.gz or .zip"
    ]
    assert said[-6:] == [
        "9 submissions graded: 9 final",
        "1 submission without a grade; the lines above say why",
        f"{course.folder}/roster.csv: 1 student whose submission was not graded, as told above: max",
        f"{course.folder}/roster.csv: 1 student without a submission in this run: zoe",
        f"{course.folder}/roster.csv: 7 students not on it: {', '.join(sorted({*earned} - {'ann', 'ben'}))}",
        "exit code 6: 1 submission refused",
    ]
    assert not list(course.out.glob(".*"))


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, 60])
def test_killed_three_times_and_continued_the_gradebook_is_that_of_an_uninterrupted_run(
    course, canvas, tmp_path, count
):
    pytest.importorskip("sqlalchemy")
    download, earned = canvas(count)
    book, whole = tmp_path / "book.db", tmp_path / "whole.db"
    for rows in (2, count // 3, count // 2):
        with course.start("run", download, "--gradebook", str(book)) as run:
            seen = [run.stdout.readline() for _ in range(rows)]
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate(timeout=WITHIN_S)
        assert all(seen), "it was killed in the middle"
    done = course.run("run", download, "--gradebook", str(book))
    assert done.returncode == 6, done.stderr
    assert len(done.stdout.splitlines()) == len(earned)
    assert not list(course.out.glob(".*"))

    course.out = tmp_path / "elsewhere"
    assert course.run("run", download, "--gradebook", str(whole)).returncode == 6
    found = marks(course, book)
    assert {one["student"]: one["points"]["raw"] for one in found} == earned
    assert found == marks(course, whole)

    course.rubric(DOUBLE | {"points": 4}, SQUARE)
    assert course.run("rescore", "tiny", "--apply", "--gradebook", str(book)).returncode == 0
    dearer = {one["student"]: one["points"]["raw"] for one in marks(course, book)}
    assert {student: points + 3 * (points in {1.0, 3.0}) for student, points in earned.items()} == dearer


def test_what_is_done_is_not_run_again(course, canvas):
    download, earned = canvas(6)
    assert course.run("run", download).returncode == 0
    before = {path: path.read_bytes() for path in course.out.rglob("evidence.jsonl")}
    assert len(before) == len(earned)
    assert course.run("run", download).returncode == 0
    assert {path: path.read_bytes() for path in course.out.rglob("evidence.jsonl")} == before


@pytest.mark.slow
def test_a_few_get_their_cards_in_the_order_in_which_they_were_named(course):
    names = [course.submit(name, PROGRAMS["right"]) for name in ("zoe", "ann", "mia")]
    done = course.run("run", *names)
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if line.startswith("tiny")] == [
        "tiny  zoe",
        "tiny  ann",
        "tiny  mia",
    ]
    many = [course.submit(f"s{number}", PROGRAMS["right"]) for number in range(FEW + 1)]
    assert len(course.run("run", *many).stdout.splitlines()) == FEW + 1


def test_below_the_cards_of_two_submissions_are_the_sums_as_of_a_class(course):
    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student\nann\nzoe\n")
    broken = course.submissions_folder / "benn.zip"
    broken.write_bytes(b"this is no archive")
    done = course.run("run", course.submit("ann", PROGRAMS["right"]), course.submit("zo"), str(broken))
    assert done.returncode == 6
    assert done.stdout.startswith("tiny  ann\n")
    assert done.stderr.splitlines()[-6:] == [
        "grader: benn.zip: is no archive, whatever its name says; pack the files as .tar.gz or .zip",
        "2 submissions graded: 2 final",
        "1 submission without a grade; the lines above say why",
        f"{course.folder}/roster.csv: 1 student without a submission in this run: zoe",
        f"{course.folder}/roster.csv: 2 students not on it: benn, zo (is zoe meant?)",
        "exit code 6: 1 submission refused",
    ]


def test_trouble_of_the_machine_is_told_with_the_submission_that_met_it(course):
    for student in ("ann", "ben"):  # the workspace cannot be made in what is no folder
        (course.out / "tiny" / student).parent.mkdir(parents=True, exist_ok=True)
        (course.out / "tiny" / student).write_text("")
    done = course.run("run", *(course.submit(student) for student in ("ann", "ben")))
    assert done.returncode == 5
    assert [line.split(": ")[1] for line in done.stderr.splitlines()[:2]] == ["ann.tar.gz", "ben.tar.gz"]
    assert done.stderr.splitlines()[2:] == [
        "0 submissions graded",
        "2 submissions without a grade; the lines above say why",
        "exit code 5: 2 submissions incomplete",
    ]


def test_a_full_disk_is_counted_in_a_class_whatever_the_temporary_folder(course, tmp_path, capsys):
    uploads = tuple(tmp_path / f"{student}.zip" for student in ("ann", "ben", "cem"))
    parts = RunInput(uploads=uploads, older=((),) * 3, several=True, problems=(), unread=())
    out = tmp_path / "results"
    summary = RunSummary(
        load_course(course.folder), parts, out, accepts=lambda _: (), as_json=False, require_final=False
    )
    trouble = "cannot be filled (No space left on device); make room or choose another place"
    for number in range(3):
        summary.add(number, NotObservedError(f"{out}/.incoming-7-{number}/workspace: {trouble}"))
    assert summary.close() == 5
    assert capsys.readouterr().err.splitlines()[:2] == [
        f"grader: ann.zip: {out}/.incoming-7-0/workspace: {trouble}",
        f"grader: the same of 2 more submissions (ben.zip, cem.zip): {out}/.incoming-…/workspace: {trouble}",
    ]


def test_a_bug_of_ours_is_told_with_the_submission_that_met_it(course, tmp_path, capsys):
    uploads = tuple(tmp_path / f"{student}.zip" for student in ("ann", "ben"))
    parts = RunInput(uploads=uploads, older=((),) * 2, several=False, problems=(), unread=())
    summary = RunSummary(
        load_course(course.folder), parts, tmp_path, accepts=lambda _: (), as_json=False, require_final=False
    )
    for number in range(2):
        summary.add(number, RuntimeError("a bug"))
    assert summary.close() == 3
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if "zip" in line] == [
        f"grader: {student}.zip: is not graded, for the bug above" for student in ("ann", "ben")
    ]


@pytest.fixture
def lanes(course, tmp_path):
    """A course whose items meet, or want to be alone."""
    course.write("assignments/tiny/kinds.py", KINDS)
    text = (course.folder / "assignments/tiny/assignment.py").read_text()
    text = text.replace(
        "from .checks import", "from .kinds import Alone, Threads, Together, Unsure\n    from .checks import"
    )
    text = text.replace("return [Breaks", "return [Alone, Threads, Together, Unsure, Breaks")
    course.write("assignments/tiny/assignment.py", text)
    course.environment["GRADER_LEASES"] = str(tmp_path / "leases")  # nobody else's work holds ours up
    (tmp_path / "meeting").mkdir()
    alone = {"id": "alone", "title": "a", "points": 1, "check": "alone", "path": str(tmp_path / "log")}
    together = alone | {"id": "together", "check": "together", "path": str(tmp_path / "meeting")}
    course.rubric(together, alone)
    return course


def test_what_is_not_timed_goes_on_side_by_side_and_what_is_timed_alone(lanes, tmp_path):
    done = lanes.run("run", *(lanes.submit(f"s{n}", PROGRAMS["right"]) for n in range(4)), "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "log").read_text().split() == ["in", "out"] * 4
    for number in range(4):
        assert lanes.observed(f"s{number}") == ["together", "alone"]
        assert lanes.points(f"s{number}") == {"together": 1, "alone": 1}


def test_a_worker_multiplies_on_one_thread_unless_somebody_says_more(lanes, tmp_path):
    """Threads of BLAS spin for one another; beside other programs a training took minutes outside."""
    lanes.environment["OMP_NUM_THREADS"] = "3"
    lanes.rubric({"id": "it", "title": "a", "points": 1, "check": "threads", "path": str(tmp_path / "log")})
    done = lanes.run("run", lanes.submit("ann", PROGRAMS["right"]))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "log").read_text() == "1 3"


@pytest.mark.slow
def test_what_was_simulated_beside_others_is_not_simulated_again(lanes, tmp_path):
    if gpus():
        pytest.skip("with a GPU nothing is simulated")
    alone = {"id": "alone", "title": "a", "points": 1, "check": "alone", "path": str(tmp_path / "log")}
    squared = SQUARE | {"devices": {"gpu": 1}, "simulated_inputs": "numbers"}
    lanes.rubric(DOUBLE, squared, alone | {"needs": ["square"]}, alone | {"id": "later"})
    names = [lanes.submit(f"s{n}", PROGRAMS["right"]) for n in range(2)]
    for again in ([], ["square"]):  # the next run may find a device
        done = lanes.run("run", *names)
        assert done.returncode == 0, done.stderr
        for number in range(2):
            assert lanes.observed(f"s{number}") == ["double", "square", "later", "alone", *again]


@pytest.mark.slow
def test_what_was_looked_at_beside_others_and_not_decided_waits_for_the_next_run(lanes, tmp_path):
    alone = {"id": "alone", "title": "a", "points": 1, "check": "alone", "path": str(tmp_path / "log")}
    lanes.rubric(DOUBLE, alone | {"id": "unsure", "check": "unsure"}, alone)
    names = [lanes.submit(f"s{n}", PROGRAMS["right"]) for n in range(2)]
    for again in ([], ["unsure"]):
        done = lanes.run("run", *names)
        assert done.returncode == 0, done.stderr
        for number in range(2):
            assert lanes.observed(f"s{number}") == ["double", "unsure", "alone", *again]


def test_two_submissions_of_one_student_are_graded_one_after_the_other(course):
    first = course.submit("ann", PROGRAMS["half"])
    again = Path(first).with_name("again")
    again.mkdir()
    second = again / "ann.tar.gz"
    second.write_bytes(archive(PROGRAMS["right"]))
    done = course.run("run", first, str(second))
    assert done.returncode == 0
    assert done.stderr.startswith(
        "grader: again/ann.tar.gz: counts, graded last of 2 uploads, after ann.tar.gz; their names give no"
    )
    assert course.points() == {"double": 1, "square": 2}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_class_that_is_stopped_leaves_no_process_and_no_mark_of_what_was_cut_short(
    course, signal_pipe, number
):
    from tests.cli.test_interruptions import family, handles_of, wait_for_the_end

    waits = {"id": "waits", "title": "w", "points": 1, "check": "waits", "path": str(signal_pipe.path)}
    course.rubric(DOUBLE, waits)
    with course.start("run", course.submit("ann"), course.submit("ben"), "--jobs", "2") as host:
        signal_pipe.wait()
        handles = list(handles_of(family(host.pid)))
        os.kill(host.pid, number)
        _, said = host.communicate(timeout=WITHIN_S)
        wait_for_the_end(handles)
    assert host.returncode == 128 + number
    assert said.split("\n")[-2:] == ["grader: stopped; what is done is kept", ""]
    assert len(said.strip().splitlines()) == 1
    assert not list(course.out.rglob("score.json"))
    assert not [path for path in course.out.rglob("*") if path.name.startswith(".")]
    assert not list(course.out.rglob("job*.json"))


LEAVES = """
def double(x):
    import os
    for folder in ("/tmp", "/dev/shm"):
        open(f"{folder}/left", "w").close()
    if os.fork() == 0:
        os.setsid()
        while True: pass
    return 2 * x
def square(x): return x * x
"""
LOOKS = """
import os
def seen():
    yield from (f"{folder}/{name}" for folder in ("/tmp", "/dev/shm", "/stage") if os.path.isdir(folder)
                for name in os.listdir(folder))
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) not in (1, os.getpid()): yield f"process {pid}"
    if "LEAVES" in open("/proc/self/mountinfo").read(): yield "mounts"
def double(x):
    found = [one for one in seen() if one != "/tmp/mine"]
    assert not found, found
    open("/tmp/mine", "w").close()
    return 2 * x
def square(x): return x * x
"""


def test_a_worker_that_is_kept_shows_a_submission_nothing_of_the_one_before(course, bubblewrap):
    for turn in range(2):
        course.submit(f"a{turn}_leaves", LEAVES)
        course.submit(f"b{turn}_looks", LOOKS)
    done = course.run("run", str(course.submissions_folder), "--jobs", "1")
    assert done.returncode == 0, done.stderr
    for student in ("a0_leaves", "a1_leaves", "b0_looks", "b1_looks"):
        assert course.points(student) == {"double": 1, "square": 2}, done.stdout
    assert preload_s(course, "b0_looks") == preload_s(course, "b1_looks"), "the same server: it imported once"
    assert not list(course.out.glob(".*"))


def preload_s(course, student) -> float:
    (run,) = (record["run"] for record in course.records(student) if record["record"] == "run")
    return run["environment"]["subject"]["preload_s"]


@pytest.mark.slow
def test_what_one_of_a_team_hands_in_is_graded_for_all_of_it(course):
    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student,canvas id,team\nann,12,\nben,13,red\ncy,14,red\n")
    ben, cy, red = (course.submit(name, "right") for name in ("ben", "cy", "red"))
    course.run("run", ben, "--gradebook", "book.db")
    assert "ben+cy" in course.run("show", "cy", "--gradebook", "book.db").stdout
    both = course.run("run", ben, cy, red, "--gradebook", "book.db")
    assert "ben+cy" in both.stdout
    assert "red.tar.gz: counts, graded last of 3 uploads, after ben.tar.gz, cy.tar.gz" in both.stderr
    assert "not on it" not in both.stderr
    wrong = course.run("run", ben, "--student", "benn")
    assert wrong.stderr.splitlines()[0] == (
        "grader: ben.tar.gz: benn (is ben meant?) is not on the roster "
        f"({course.folder}/roster.csv), so the grade is nobody's there; correct the name, or add it there"
    )
    assert "roster" not in course.run("run", ben).stderr
    assert sorted(path.name for path in course.results("ben+cy").parent.iterdir()) == ["ben+cy", "benn"]


@pytest.mark.slow
def test_a_list_of_the_platform_says_when_each_was_handed_in(course, tmp_path):
    course.write("course.yaml", "title: x\ntime_zone: Asia/Jerusalem\nroster: roster.csv\n")
    course.write("roster.csv", "student,canvas id,team\nann,12,\nben,13,b\ncy,14,b\n")
    course.rubric(DOUBLE, SQUARE, due="2024-12-23T12:00:00+02:00", late={"per_day": "10%"})
    for name in ("doeann_12_1_hw.tar.gz", "roeben_13_2_hw.tar.gz", "unknown_15_3_hw.tar.gz"):
        (course.submissions_folder / name).write_bytes(archive(PROGRAMS["right"]))
    times = tmp_path / "times.csv"
    times.write_text(
        "canvas id,submitted at\n12,2024-12-23 11:00\n13,2024-12-23 11:00\n14,2024-12-23 12:01\n"
    )
    assert untimed(course.run("run", str(course.submissions_folder))) == ["ann, ben, cy, unknown_15"]
    assert untimed(course.run("run", str(course.submissions_folder), "--times", str(times))) == ["unknown_15"]
    # what was said once stays with the same files
    assert untimed(course.run("run", str(course.submissions_folder))) == ["unknown_15"]

    def left(student):
        points = json.loads((course.results(student) / "score.json").read_text())["points"]
        return set(points["adjusted"].values())

    assert {student: left(student) for student in ("ann", "ben+cy", "unknown_15")} == {
        "ann": {3.0},
        "ben+cy": {2.7},
        "unknown_15": {3.0},
    }
    both = course.run(
        "run", str(course.submissions_folder), "--times", str(times), "--submitted-at", "2024-12-23T10:00Z"
    )
    assert (both.returncode, both.stderr) == (
        2,
        "grader: --times: says when each was handed in; leave out --submitted-at\n",
    )


def test_a_name_of_the_list_that_nobody_has_is_told_to_whom_it_resembles(course, tmp_path):
    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student,name\nann,Ann\nanna,Anna\n")
    times = tmp_path / "times.csv"
    times.write_text("student,submitted at\nannn,2024-12-23 13:00\nanna,2024-12-23 11:00\n")
    done = course.run("run", course.submit("ann"), "--times", str(times))
    assert (done.returncode, done.stderr) == (
        0,
        f'grader: {times}:2: student: "annn": nobody on the roster is called so; did you mean ann?\n',
    )


def test_a_name_of_the_list_that_nobody_has_is_told_with_each_that_is_as_near_or_the_one_of_the_run(
    course, tmp_path
):
    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student,name\nann,Ann\nben,Ben\ndan,Dan\n")
    times = tmp_path / "times.csv"
    times.write_text("student,submitted at\nan,2024-12-23 13:00\nben,2024-12-23 13:00\n")
    nobody = f'grader: {times}:2: student: "an": nobody on the roster is called so; did you mean'
    done = course.run("run", course.submit("ann"), "--times", str(times))
    assert done.stderr == f"{nobody} ann?\n"
    done = course.run("run", course.submit("ben"), "--times", str(times))
    assert done.stderr == f"{nobody} ann or dan?\n"
    done = course.run("run", course.submit("ann"), "--student", "an")
    assert "an (is ann or dan meant?) is not on the roster" in done.stderr


def test_names_of_the_list_that_nobody_has_are_told_without_a_roster_only_where_somebody_lacks_a_time(
    course, tmp_path
):
    times = tmp_path / "times.csv"
    times.write_text("student,submitted at\nannn,2024-12-23 13:00\nxyz,2024-12-23 11:00\n")
    done = course.run("run", course.submit("ann"), "--times", str(times))
    assert done.stderr == f"grader: {times}: has no time of ann; is that meant by annn?\n"


def test_many_names_of_the_list_that_nobody_has_are_counted(course, tmp_path):
    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student,name,team\nann,Ann,red\nben,Ben,red\ncy,Cy,\n")
    rows = ["ann+ben", "red", "CY", *(f"stranger{number}" for number in range(8))]
    times = tmp_path / "times.csv"
    times.write_text("student,time\n" + "".join(f"{name},2024-12-23 13:00\n" for name in rows))
    done = course.run("run", course.submit("cy"), "--times", str(times))
    nobody = "nobody on the roster is called so; there are ann, ben, cy, red"
    assert done.stderr.splitlines() == [
        *(f'grader: {times}:{number + 5}: student: "stranger{number}": {nobody}' for number in range(5)),
        f"grader: {times}: 3 more names are nobody's on the roster",
    ]


@pytest.mark.parametrize("student", ["ann", "ben+ann"])
def test_a_list_of_times_goes_by_the_student_that_the_command_names(course, tmp_path, student):
    course.rubric(DOUBLE, SQUARE, due="2024-12-23T12:00:00+00:00", late={"per_day": "10%"})
    times = tmp_path / "times.csv"
    times.write_text("student,submitted at\nann,2024-12-23 13:00\nhw1,2024-12-23 11:00\n")
    done = course.run("run", course.submit("hw1"), "--student", student, "--times", str(times))
    assert (done.returncode, done.stderr) == (0, "")
    folder = "+".join(sorted(student.split("+")))
    points = json.loads((course.results(folder) / "score.json").read_text())["points"]
    assert set(points["adjusted"].values()) == {2.7}


def untimed(done):
    """Of whom a run says that the late rule could not be applied, a line for each rubric."""
    assert done.returncode == 0, done.stderr
    said = "grader: tiny: has a late rule, which takes nothing off where no time of submission is known"
    lines = [line for line in done.stderr.splitlines() if line.startswith(said)]
    return [line.partition("that has them: ")[2] for line in lines]


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("keys", "submitted_at", "names"),
    [
        ({"due": "2024-12-23T12:00:00+02:00", "late": {"per_day": "10%"}}, (), ["ann"]),
        ({"due": "2024-12-23T12:00:00+02:00", "late": {"at_most": "1d"}}, (), ["ann"]),
        ({"due": "2024-12-23T12:00:00+02:00", "late": {"grace": "1h"}}, (), []),
        ({"due": "2024-12-23T12:00:00+02:00"}, (), []),
        ({}, (), []),
        (
            {"due": "2024-12-23T12:00:00+02:00", "late": {"per_day": "10%"}},
            ("--submitted-at", "2024-12-24T12:00:00+02:00"),
            [],
        ),
    ],
)
def test_a_late_rule_without_a_time_is_said_of_one_submission_as_well(course, keys, submitted_at, names):
    course.rubric(DOUBLE, SQUARE, **keys)
    assert untimed(course.run("run", course.submit("ann"), *submitted_at)) == names


def test_where_the_rubric_says_so_the_best_attempt_counts_and_is_not_observed_twice(course, tmp_path):
    pytest.importorskip("sqlalchemy")
    course.rubric(DOUBLE, SQUARE, attempts="best")
    programs = {"d_12_1_hw": "half", "d_12_2_hw-1": "right", "d_12_3_hw-2": "broken", "e_13_4_hw": "half"}
    for name, program in programs.items():
        (course.submissions_folder / f"{name}.tar.gz").write_bytes(archive(PROGRAMS[program]))
    book = tmp_path / "book.db"
    done = course.run("run", str(course.submissions_folder), "--gradebook", str(book))
    assert done.returncode == 0
    assert sorted(row.split()[1:3] for row in done.stdout.splitlines()) == [["d_12", "3"], ["e_13", "1"]]
    assert done.stderr.splitlines()[0] == (
        "grader: d_12_2_hw-1.tar.gz: counts, the best of 3 attempts, with 3 points, before "
        "d_12_3_hw-2.tar.gz, d_12_1_hw.tar.gz"
    )
    assert {one["student"]: one["points"]["raw"] for one in marks(course, book)} == {"d_12": 3.0, "e_13": 1.0}
    assert len(course.observed("d_12")) == 6, "two items of three attempts, each once"
    before = course.observed("d_12")
    assert course.run("run", str(course.submissions_folder), "--gradebook", str(book)).returncode == 0
    assert course.observed("d_12") == before
    assert {one["student"]: one["points"]["raw"] for one in marks(course, book)} == {"d_12": 3.0, "e_13": 1.0}


@pytest.mark.slow
def test_what_needs_a_gpu_is_observed_by_itself_after_the_rest(course):
    course.rubric(DOUBLE, SQUARE | {"devices": {"gpu": 1}}, {**DOUBLE, "id": "after", "needs": ["square"]})
    requests = [
        Request(archive=Path(course.submit(f"s{number}", PROGRAMS["right"])), out=course.out)
        for number in range(4)
    ]
    loaded = load_course(course.folder)
    plugins = Plugins(loaded.folder)
    with open_session(plugins, out=course.out, at_once=2, gpus=1) as session:
        grading = Grading(CourseFiles(loaded, plugins), session, alone=False)
        grading._gpus = 1  # as if the machine had one
        ended = dict(grading.grade(requests))
    assert sorted(ended) == [0, 1, 2, 3]
    for number, graded in ended.items():
        assert not isinstance(graded, Exception), graded
        assert graded.submission.student == f"s{number}"
        assert len(graded.evidence.runs) == 2, "one beside others, one exclusive"
        seen = graded.evidence.observations
        assert [seen[item].outcome for item in ("double", "square", "after")] == [
            "observed",
            "not_observed",
            "not_observed",
        ]
    assert not list(course.out.glob(".*"))


def test_a_row_of_a_class_does_not_call_nothing_open_points(course):
    waits = {"id": "look", "title": "a person looks", "points": 0, "check": "manual"}
    course.rubric(DOUBLE, waits)
    archives = [course.submit(f"s{number}") for number in range(FEW + 1)]
    rows = course.run("run", *archives).stdout.splitlines()
    assert sum("some items open" in row for row in rows) == FEW + 1, rows
    assert not any("0 points open" in row for row in rows)


@pytest.mark.parametrize("count", [2, 7])
def test_a_mistake_of_the_course_is_told_once_however_many_archives_show_it(course, count):
    (course.folder / "assignments/tiny/expected.py").unlink()
    (course.folder / "assignments/tiny/inputs.py").unlink()
    done = course.run("run", *(course.submit(f"s{number}") for number in range(count)))
    assert done.returncode == 4
    assert done.stderr.count("expected.py: cannot be read") == 1
    assert done.stderr.count("inputs.py: cannot be read") == 1


def test_an_unknown_name_of_the_list_is_told_with_its_other_mistakes(course, tmp_path):
    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student\nann\nben\n")
    times = tmp_path / "times.csv"
    times.write_text("student,time\nann,2024-12-23\nbne,2024-12-23 13:00\nann,2024-13-23 11:00\nxyz,soon\n")
    done = course.run("run", course.submit("ann"), "--times", str(times))
    assert (done.returncode, [line.partition(";")[0] for line in done.stderr.splitlines()]) == (
        2,
        [
            f'grader: {times}:2: "2024-12-23" is a day without a time',
            f'grader: {times}:4: "2024-13-23 11:00" is no date and time',
            f'grader: {times}:5: "soon" is no date and time',
            f'grader: {times}:3: student: "bne": nobody on the roster is called so',
            f'grader: {times}:5: student: "xyz": nobody on the roster is called so',
        ],
    )
    assert "did you mean ben?" in done.stderr


def test_without_a_roster_the_list_names_who_may_be_meant_with_its_other_mistakes(course, tmp_path):
    times = tmp_path / "times.csv"
    times.write_text("student,time\nanna,2024-12-23 13:00\nben,soon\n")
    done = course.run("run", course.submit("ann"), course.submit("ben"), "--times", str(times))
    assert done.returncode == 2
    assert f"{times}: has no time of ann; is that meant by anna?\n" in done.stderr
    assert "has no time of ben" not in done.stderr


def test_an_assignment_that_is_not_there_is_told_once_and_before_the_class_is_read(course):
    for student in ("ann", "ben"):
        course.submit(student)
    done = course.run("run", str(course.submissions_folder), "--assignment", "tinny")
    line = "grader: --assignment tinny: there is none of that name; did you mean tiny?"
    assert (done.returncode, done.stdout, done.stderr.splitlines()) == (2, "", [line])
