"""`grader replay`: an item is seen again with the inputs it had, and what differs from then is said."""

from __future__ import annotations

import json
import re
from pathlib import Path
from shutil import copy, rmtree

import pytest

from grader.config.points_file import PointsGiven, append_points
from grader.grading.replay import surroundings
from grader.model.evidence import WorkerRun

DOUBLE = {"id": "double", "title": "double doubles", "points": 2, "check": "matches_reference"}
DOUBLE |= {"of": "work.double", "inputs": "numbers"}
SQUARE = DOUBLE | {"id": "square", "title": "square squares", "of": "work.square", "needs": ["double"]}
WRONG = "def double(x): return 3 * x\ndef square(x): return x * x"


@pytest.fixture
def graded(course, kept):
    course.rubric(DOUBLE, SQUARE)
    course.run_once(kept, "run", course.submit("ann"), course.submit("ben", WRONG))
    return course


def score(course, student="ann"):
    return str(course.results(student) / "score.json")


def replayed(course, *arguments):
    done = course.run("replay", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def called(look):
    return [case["called"] for case in look["observation"]["cases"]]


def differing(seen):
    return [name for name, fact in seen["facts"].items() if fact["same"] is not True]


def test_the_same_inputs_are_drawn_and_everything_is_as_it_was(graded):
    files = {p: p.read_bytes() for p in graded.out.rglob("*") if p.is_file()}
    seen = replayed(graded, score(graded, "ben"), "--item", "double")
    assert seen["seed"] == graded.records("ben")[1]["observation"]["seed"]
    assert called(seen["then"]) == called(seen["now"])
    assert (
        seen["then"]["observation"]["cases"][0]["returned"]
        == seen["now"]["observation"]["cases"][0]["returned"]
    )
    assert [seen[when]["points"] for when in ("then", "now")] == [0, 0]
    assert differing(seen) == []
    assert {p: p.read_bytes() for p in graded.out.rglob("*") if p.is_file()} == files


def test_points_of_a_person_are_named_beside_what_the_program_saw(graded):
    digest = json.loads(Path(score(graded, "ben")).read_text())["digests"]["submission"]
    given = PointsGiven(item="double", points=1.5, possible=2.0, by="Ada", at="2026-01-01", submission=digest)
    append_points(graded.results("ben"), [given])
    done = graded.run("replay", score(graded, "ben"), "--item", "double")
    assert done.returncode == 0
    assert "    Ada gave 1.5 of 2; below is what the program saw" in done.stdout.splitlines()
    assert replayed(graded, score(graded, "ben"), "--item", "double")["given"]["by"] == "Ada"


@pytest.mark.parametrize(
    ("then", "now", "differs"),
    [
        ([], None, []),
        ([{"name": "H200"}], None, []),
        ([], [], []),
        ([], [{"name": "H200"}], [("none", '[{"name":"H200"}]')]),
        (None, [{"name": "H200"}], [("none", '[{"name":"H200"}]')]),
    ],
)
def test_gpus_are_compared_where_the_item_uses_them(then, now, differs):
    def run(gpus):
        environment = {} if gpus is None else {"gpus": gpus}
        return WorkerRun(id="r", started_at="", isolation="", course="", environment=environment)

    compared = surroundings(run(then), run(now), "")
    assert [(fact.then, fact.now) for fact in compared if fact.name == "gpus" and not fact.same] == differs


def test_a_person_reads_both_side_by_side(graded):
    done = graded.run("replay", score(graded, "ben"), "--item", "double")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("double: double doubles\n    seed ")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["points", "0", "/", "2"] in lines
    same = "    the same: submission, rubric, task, course code, sandbox, grader, python, "
    assert done.stdout.splitlines()[2].startswith(same)
    assert any(line[:1] == ["expected"] for line in lines)
    assert any("largest difference" in line for line in done.stdout.splitlines()), "in the page's words"
    right = graded.run("replay", score(graded), "--item", "double").stdout
    assert "a number:" in right
    assert "expected" not in right, "nobody doubts it"


def test_what_is_the_same_as_then_is_shown_once(graded):
    done = graded.run("replay", score(graded, "ben"), "--item", "double", COLUMNS="100")
    assert re.search("^    all below is the same as then(, except time)?$", done.stdout, re.MULTILINE)
    seen = replayed(graded, score(graded, "ben"), "--item", "double")
    (text,) = {look["observation"]["cases"][0]["called"] for look in (seen["then"], seen["now"])}
    assert done.stdout.count(text) == 1
    other = graded.submit("cem", "def double(x): return 4 * x")
    done = graded.run("replay", score(graded, "ben"), "--item", "double", "--archive", other, COLUMNS="100")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "then now" in lines
    assert "points the same as then: 0 / 2" in lines
    assert f"called the same as then: {text}" in lines
    assert "all below" not in done.stdout
    assert sum(line.startswith("returned") and "the same" not in line for line in lines) == 1


@pytest.mark.parametrize("name", ["", "feedback/score.json"], ids=["the folder", "the student's copy"])
def test_the_score_may_be_named_by_its_folder_or_the_students_copy(graded, name):
    assert replayed(graded, str(graded.results() / name), "--item", "double")["item"] == "double"


def test_a_score_that_was_copied_elsewhere_has_no_evidence_to_go_by(graded, tmp_path):
    copied = copy(score(graded), tmp_path)
    done = graded.run("replay", copied, "--item", "double")
    advice = "name the score in its results folder, or grade again if that was removed"
    line = f"score.json: has no evidence.jsonl beside it; {advice}\n"
    assert (done.returncode, done.stderr.endswith(line)) == (5, True)


def test_what_it_needed_had_passed_and_is_not_run_again(graded):
    oracles = graded.folder / "assignments/tiny/expected.py"
    oracles.write_text(oracles.read_text().replace("x + x", "x * 3"))  # now it would not pass
    seen = replayed(graded, score(graded), "--item", "square")
    assert seen["now"]["observation"]["outcome"] == "observed"
    assert (seen["then"]["points"], seen["now"]["points"]) == (2, 2)
    skipped = replayed(graded, score(graded, "ben"), "--item", "square")
    assert [skipped[when]["observation"]["outcome"] for when in ("then", "now")] == ["skipped", "skipped"]


def test_where_its_files_were_removed_the_option_is_named_that_gives_them(graded):
    rmtree(graded.results() / "workspace")
    done = graded.run("replay", score(graded), "--item", "double")
    line = "workspace: is there no more; name what was handed in by --archive\n"
    assert (done.returncode, done.stderr.endswith(line)) == (2, True)


def test_another_submission_is_said_to_be_one(graded):
    archive = graded.submit("ben", "def double(x): return 2 * x\ndef square(x): return x * x")
    seen = replayed(graded, score(graded, "ben"), "--item", "double", "--archive", archive)
    assert differing(seen) == ["submission", "task"]
    assert [seen[when]["points"] for when in ("then", "now")] == [0, 2]
    assert called(seen["then"]) == called(seen["now"])


def test_the_archive_it_was_is_the_same_submission_whatever_its_name(graded):
    archive = graded.submit("somebody")
    assert differing(replayed(graded, score(graded), "--item", "double", "--archive", archive)) == []


def test_course_code_that_changed_is_said_to_have(graded):
    oracles = graded.folder / "assignments/tiny/expected.py"
    oracles.write_text(oracles.read_text().replace("x + x", "x * 3"))
    seen = replayed(graded, score(graded, "ben"), "--item", "double")
    assert differing(seen) == ["task", "course code"]
    assert [seen[when]["points"] for when in ("then", "now")] == [0, 2]


def test_the_rubric_that_gave_the_score_is_found_by_its_digest_and_another_is_said_to_be_one(graded):
    rubric = graded.folder / "rubrics/tiny.yaml"
    rubric.rename(rubric.with_name("as_it_was.yaml"))
    graded.rubric(DOUBLE | {"points": 9})
    assert differing(replayed(graded, score(graded), "--item", "double")) == []
    seen = replayed(graded, score(graded), "--item", "double", "--rubric", "tiny")
    assert differing(seen) == ["rubric"]
    rubric.with_name("as_it_was.yaml").unlink()
    done = graded.run("replay", score(graded), "--item", "double")
    assert "    another rubric: then sha256:" in done.stdout


def test_evidence_of_an_early_version_leaves_open_what_it_did_not_keep(graded):
    evidence = graded.results() / "evidence.jsonl"
    records = [json.loads(line) for line in evidence.read_text().splitlines()]
    del records[0]["run"]["course"], records[0]["run"]["environment"]["processor"]
    evidence.write_text("".join(json.dumps(record) + "\n" for record in records))
    seen = replayed(graded, score(graded), "--item", "double")
    assert seen["facts"]["course code"]["same"] is None
    assert (
        "perhaps another course code: then unknown, now sha256:"
        in graded.run("replay", score(graded), "--item", "double").stdout
    )


def test_5_if_it_cannot_be_observed_now(graded):
    inputs = graded.folder / "assignments/tiny/inputs.py"
    inputs.write_text("def numbers(rng):\n    yield 1 / 0\n")
    done = graded.run("replay", score(graded), "--item", "double")
    assert (done.returncode, done.stderr) == (5, "")
    assert "ZeroDivisionError" in done.stdout


def test_no_place_is_left_behind(graded):
    before = set(graded.tmp.iterdir())
    replayed(graded, score(graded), "--item", "double")
    assert set(graded.tmp.iterdir()) == before


@pytest.mark.parametrize(
    ("of", "item", "line"),
    [
        ("score.json", "duoble", "--item duoble: was not observed under this name; did you mean double?"),
        (
            "nowhere.json",
            "double",
            "nowhere.json: cannot be read (No such file or directory); name a score.json",
        ),
        ("junit.xml", "double", "junit.xml: is no score; name a score.json of a results folder"),
    ],
)
def test_what_is_not_there_is_said_in_a_line(graded, of, item, line):
    done = graded.run("replay", str(graded.results() / of), "--item", item)
    assert done.returncode == 2
    (said,) = done.stderr.splitlines()
    assert line in said


def test_a_score_that_was_removed_is_written_anew_by_a_run(graded):
    (graded.results() / "score.json").unlink()
    done = graded.run("replay", str(graded.results()), "--item", "double")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    advice = "is not there, and the evidence is; grader run of the archive writes it anew"
    assert line.endswith(f"score.json: {advice}")


def test_the_score_of_an_earlier_submission_is_told_from_that_of_the_evidence(graded):
    old = graded.cwd / "kept"
    (graded.results()).rename(old)
    graded.run("run", graded.submit("ann", WRONG))
    (old / "score.json").replace(graded.results() / "score.json")
    done = graded.run("replay", score(graded), "--item", "double")
    assert done.returncode == 2
    assert "is the score of another submission than the evidence beside it" in done.stderr
