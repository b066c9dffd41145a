"""`grader verify` tells a course that does what it says from one that does not."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import pytest

from grader.cli.main import main
from grader.cli.verdicts import rows
from grader.config.course import load_course
from grader.errors import ExitCode
from grader.plugins import Plugins
from grader.selftest.cases import Selection, cases_of
from grader.selftest.compare import Deviation, Verdict

ASSIGNMENT = """
    from dataclasses import dataclass
    from grader.api import Assignment, hookimpl
    from grader.contracts.check import CheckKind
    from grader.errors import NotObservedError
    from grader.model.observation import Observation, Outcome
    from grader.model.options import option
    from grader.model.score import Award

    @hookimpl
    def grader_assignments():
        return [Assignment(name="sums", title="Sums", accepts=("sums.py",), preloads={"sums": ("numpy",)})]

    class Unlucky(CheckKind):
        name = "unlucky"

        @dataclass(frozen=True, slots=True, kw_only=True)
        class Options:
            how: str = option("What happens.")

        def observe(self, options, context):
            if options.how == "unfit":
                raise NotObservedError("no such device")
            if options.how == "bug":
                raise KeyError("a slip")
            return Observation(item=context.item, outcome=Outcome.OBSERVED)

        def award(self, options, observation, related):
            return Award(fraction=1.0, reason="whatever it did")

    @hookimpl
    def grader_checks():
        return [Unlucky]
"""
INPUTS = """
    from grader.api import case

    def numbers(rng):
        yield case("a number", int(rng.integers(3, 9)))
        yield case("zero", 0)
"""
EXPECTED = """
    def double(x):
        return 2 * x

    def square(x):
        return x * x
"""
RIGHT = "def double(x):\n    return x + x\n\n\ndef square(x):\n    return x**2\n"
CONFUSED = RIGHT.replace("x**2", "x + x")
CRASHES = "def double(x):\n    raise ValueError('not today')\n\n\nsquare = double\n"
THREE_CASES = """
from grader.api import case


def numbers(rng):
    return [case(str(number), number) for number in (3, 4, 5)]
"""
ITEMS = """
      - {id: double, title: it doubles, points: 2, check: matches_reference, of: sums.double, inputs: numbers}
      - {id: square, title: it squares, points: 1, check: matches_reference, of: sums.square, inputs: numbers}
"""
UNLUCKY = "      - {id: luck, title: it is lucky, points: 1, check: unlucky, how: %s}\n"


class Course:
    """A course in a folder of its own, small enough to be verified within a second."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("course.yaml", "title: A course\n")
        self.write("assignments/sums/assignment.py", ASSIGNMENT)
        self.write("assignments/sums/inputs.py", INPUTS)
        self.write("assignments/sums/expected.py", EXPECTED)
        self.write("assignments/sums/reference/sums.py", RIGHT)
        self.rubric(3, ITEMS)

    def write(self, path: str, text: str) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text))
        return file

    def rubric(self, points: int, items: str) -> None:
        self.write("rubrics/sums.yaml", f"schema: 1\nassignment: sums\npoints: {points}\nitems:{items}")

    def submit(self, name: str, source: str, expected: str, *, file: str = "sums.py") -> None:
        path = self.write(f"tests/submissions/{name}/files/{file}", source)
        self.write(f"tests/submissions/{name}/expected.yaml", f"about: That is {name}.\n{expected}\n")
        (self.folder / "submissions").mkdir(exist_ok=True)
        with tarfile.open(self.folder / "submissions" / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(path, file)

    def files(self) -> dict[str, bytes]:
        return {
            str(path): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }


def earns(double, square, total, *more):
    return "\n".join(
        ["assignment: sums", f"earns: {{double: {double}, square: {square}}}", f"total: {total}", *more]
    )


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path / "course")


@pytest.fixture
def verify(course, capsys, monkeypatch, forked_workers):
    def run(*arguments: str) -> tuple[int, list[str], list[str]]:
        monkeypatch.setattr(sys, "argv", ["grader", "--course", str(course.folder), "verify", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code, printed.out.splitlines(), printed.err.splitlines()

    return run


def test_a_course_that_does_what_it_says_ends_with_0_and_leaves_nothing_behind(
    course, verify, tmp_path, monkeypatch
):
    course.submit("ann", RIGHT, earns(2, 1, 3))
    course.submit("benedict", CONFUSED, earns(2, 0, 2))
    before = course.files()
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    code, out, err = verify()
    assert code == 0
    assert err == []
    assert out[:4] == [
        "✓ sums/reference  3 / 3  The reference of sums earns everything.",
        "✓ ann             3 / 3  That is ann.",
        "✓ benedict        2 / 3  That is benedict.",
        "",
    ]
    assert out[-1].startswith("2 submissions and 1 reference: 3 as expected; ")
    assert list(place.iterdir()) == []
    assert course.files() == before


@pytest.mark.parametrize("selection", [(), ("--assignment", "sums")])
def test_a_mistake_that_course_check_finds_is_told_and_ends_with_4(course, verify, selection):
    course.write("assignments/sums/inputs.py", INPUTS.replace('"zero"', '"a number"'))
    code, out, err = verify(*selection)
    told = "assignments/sums/inputs.py:4: numbers: two cases are called 'a number'; give each its own name"
    assert [line.replace(f"{course.folder}/", "") for line in err] == [f"grader: {told}"]
    assert (code, out[0].partition(" ")[0]) == (4, "✓")
    document = json.loads("\n".join(verify("--json", *selection)[1]))
    assert [line.replace(f"{course.folder}/", "") for line in document["problems"]] == [told]
    assert document["exit_code"] == 4
    assert verify("sums/reference")[0] == 0, "only what is selected counts"


CANVAS = (
    'canvas: {url: "https://lms.edu", course: 1, assignments: {sums: 2}, rubrics: {NAME: {halve: "_1"}}}\n'
)


@pytest.mark.parametrize("selection", [(), ("--assignment", "sums")])
@pytest.mark.parametrize(
    ("settings", "roster", "told"),
    [
        (
            "extensions: {read: {sums: 12h}}",
            "ann,red",
            "course.yaml:3:14: extensions.read: nobody on the roster",
        ),
        (
            "extensions: {red: {sums: 12h}}",
            "ann,red",
            "course.yaml:3:20: extensions.red.sums: no rubric of sums",
        ),
        (CANVAS.replace("NAME", "sums"), "ann,", "canvas.rubrics.sums.halve: no item of sums is called"),
        ("", "ann,red\nbob,red", "roster.csv:2: team red has 2 students, and teams of sums have at most 1"),
    ],
)
def test_a_mistake_of_what_the_course_sets_for_an_assignment_is_told(
    course, verify, selection, settings, roster, told
):
    team = "team_at_most=1, preloads="
    course.write("assignments/sums/assignment.py", ASSIGNMENT.replace("preloads=", team))
    course.write("course.yaml", f"title: A course\nroster: roster.csv\n{settings}\n")
    course.write("roster.csv", f"student,team\n{roster}\n")
    code, _, (line,) = verify(*selection)
    assert told in line.replace(f"{course.folder}/", "")
    assert code == 4


@pytest.mark.parametrize("selection", [(), ("--assignment", "sums")])
def test_a_mistake_for_which_nothing_can_be_graded_is_told_once(course, verify, selection):
    requires = 'requires={"driver": ("sum.cpp",)}, preloads='
    course.write("assignments/sums/assignment.py", ASSIGNMENT.replace("preloads=", requires))
    code, _, err = verify(*selection)
    (line,) = [line.replace(f"{course.folder}/", "") for line in err if "requires" in line]
    assert line.startswith("grader: assignments/sums/assignment.py:12: requires: ['driver']: given/ has no ")
    assert code == 4
    # where only some submissions are verified, the run alone tells it
    code, _, err = verify("sums/reference")
    assert (code, [each.replace(f"{course.folder}/", "") for each in err]) == (4, [line])


@pytest.mark.slow
def test_out_keeps_the_results_which_are_observed_anew_each_time(course, verify, tmp_path):
    course.submit("ann", RIGHT, earns(2, 1, 3))
    lines = []
    for _ in range(2):
        assert verify("--out", str(tmp_path / "kept"))[0] == 0
        kept = (tmp_path / "kept").rglob("evidence.jsonl")
        lines.append({file.parent.name: len(file.read_text().splitlines()) for file in kept})
    assert lines[0].keys() == {"ann", "reference"}
    assert lines[1] == {student: 2 * count for student, count in lines[0].items()}


def test_a_submission_that_earns_something_else_is_told_item_by_item_with_the_reason(course, verify):
    course.submit("ann", CONFUSED, earns(0, 1, 1))
    code, out, _ = verify("ann")
    assert code == 4
    assert out[0] == "✗ ann: double earned 2, expected 0: 2 of 2 cases agree"
    assert out[1].startswith("✗ ann: square earned 0, expected 1: a number: ")
    assert out[-1].startswith("1 submission and 0 references: 1 not as expected; ")


def test_a_total_that_is_not_the_sum_is_refused_before_anything_runs(course, verify):
    course.submit("ann", CONFUSED, earns(2, 0, 3))
    code, out, err = verify("ann")
    assert (code, out) == (4, [])
    assert err[0].endswith("ann/expected.yaml:4:1: total: must be the sum of earns, 2, got 3")


def test_a_reference_that_does_not_earn_everything_deviates(course, verify):
    course.write("assignments/sums/reference/sums.py", CONFUSED)
    code, out, _ = verify()
    assert code == 4
    assert out[0].startswith("✗ sums/reference: square is pending, expected 1: reference: a number: ")
    assert out[0].endswith("; correct it, expected.py or the tolerance")


@pytest.mark.slow
def test_another_folder_is_verified_as_if_it_were_the_reference(course, verify, tmp_path):
    course.submit("ann", CONFUSED, earns(2, 1, 3))
    wrong = course.write("other/sums.py", CONFUSED).parent
    code, out, _ = verify("--assignment", "sums", "--reference", str(wrong))
    assert code == 4
    assert out[0].startswith("✗ sums/other: square earned 0, expected 1: ")
    assert "0 submissions and 1 reference: 1 not as expected" in out[-1]
    course.write("other/sums.py", RIGHT)
    assert verify("--assignment", "sums", "--reference", str(wrong))[0] == 0


def test_a_team_must_be_marked_together_and_nobody_else(course, verify):
    course.submit("ann+ben", RIGHT, earns(2, 1, 3, "members: [ann, ben]"))
    course.submit("cleo", RIGHT, earns(2, 1, 3, "members: [cleo, dora]"))
    course.submit("emil+fay", RIGHT, earns(2, 1, 3))
    code, out, _ = verify("ann+ben", "cleo", "emil+fay")
    assert code == 4
    assert out[:3] == [
        "✓ ann+ben   3 / 3  That is ann+ben.",
        "✗ cleo: grades cleo, expected cleo, dora; call its folder cleo+dora",
        "✗ emil+fay: grades emil, fay, expected one student; name them in members",
    ]


def test_an_archive_that_must_be_refused_is_refused_with_the_line_it_says(course, verify):
    course.submit("ann", "hello", "refused: holds no file of sums", file="notes.txt")
    code, out, _ = verify("ann")
    assert code == 0
    assert out[0] == "✓ ann  refused  That is ann."


@pytest.mark.parametrize(
    ("expected", "file", "told"),
    [
        (
            "refused: too large",
            "notes.txt",
            "is refused, but the line does not say 'too large': ann.tar.gz: ",
        ),
        ("refused: too large", "sums.py", "is accepted, expected to be refused: too large"),
        (earns(2, 1, 3), "notes.txt", "is refused: ann.tar.gz: holds no file of sums; "),
    ],
)
def test_a_refusal_that_is_not_as_expected_deviates(course, verify, expected, file, told):
    course.submit("ann", RIGHT, expected, file=file)
    code, out, _ = verify("ann")
    assert code == 4
    assert out[0].startswith(f"✗ ann: {told}")


def test_an_archive_that_is_not_there_deviates_and_says_how_to_build_it(course, verify):
    course.submit("ann", RIGHT, earns(2, 1, 3))
    (course.folder / "submissions" / "ann.tar.gz").unlink()
    code, out, _ = verify("ann")
    assert code == 4
    assert "submissions/ann.tar.gz: is not there; run grader pack" in out[0]


def test_an_archive_that_is_not_what_its_sources_are_now_is_named(course, verify):
    course.submit("ann", RIGHT, earns(2, 1, 3))
    course.submit("ben", RIGHT, earns(2, 1, 3))
    course.write("tests/submissions/ann/files/sums.py", CONFUSED)
    code, _, err = verify()
    assert code == 0  # what is graded is the archive, and it earns what it must
    assert [line.rpartition("/submissions/")[2] for line in err] == ["ann holds now; run grader pack"]
    assert "/ann.tar.gz: is not what tests/submissions/ann holds now" in err[0]


def test_what_may_be_pending_is_as_expected_and_what_must_not_be_was_not_observed(course, verify):
    course.rubric(4, ITEMS + UNLUCKY % "unfit")
    course.submit("ann", RIGHT, "assignment: sums\nearns: {double: 2, square: 1, luck: pending}\ntotal: 3")
    course.submit("ben", RIGHT, "assignment: sums\nearns: {double: 2, square: 1, luck: 1}\ntotal: 4")
    code, out, _ = verify("ann")
    assert (code, out[0].endswith(" (1 point open here)")) == (0, True)
    code, out, _ = verify("ben")
    assert code == 5
    assert out[0] == "… ben: luck is pending, expected 1: no such device"
    assert "1 submission and 0 references: 1 not observed; " in out[-1]


def test_what_must_be_pending_and_is_not_deviates(course, verify):
    course.submit("ann", RIGHT, earns("pending", 1, 1))
    code, out, _ = verify("ann")
    assert code == 4
    assert out[0] == "✗ ann: double earned 2, expected pending: 2 of 2 cases agree"


@pytest.mark.slow
def test_a_deviation_outweighs_what_was_not_observed(course, verify):
    course.rubric(4, ITEMS + UNLUCKY % "unfit")
    course.submit("ann", RIGHT, "assignment: sums\nearns: {double: 0, square: 1, luck: 1}\ntotal: 2")
    assert verify("ann")[0] == 4


@pytest.mark.slow
def test_an_exception_of_the_courses_own_kind_is_told_with_file_and_line(course, verify):
    course.rubric(4, ITEMS + UNLUCKY % "bug")
    course.submit("ann", RIGHT, "assignment: sums\nearns: {double: 2, square: 1, luck: 1}\ntotal: 4")
    code, out, _ = verify("ann")
    assert code == 4
    assert re.search(r"assignments/sums/assignment\.py:\d+: check kind unlucky: ", "\n".join(out))


def test_every_mistake_of_every_expected_yaml_is_told_with_its_place(course, verify):
    course.submit("ann", RIGHT, earns(2, 1, 3, "quik: true"))
    course.submit("ben", RIGHT, "assignment: sums\nearns: {doubel: 2, square: 1}\ntotal: 3")
    course.submit("cleo", RIGHT, earns(2, 1, 3, "refused: too large"))
    course.submit("dora", RIGHT, earns("much", 1, 3).replace("assignment: sums", "assignment: sum"))
    course.submit("emil", RIGHT, earns(2, 1, 3, "isolation: bubblewarp"))
    course.submit("fay", RIGHT, "assignment: sums")
    course.submit("gil", RIGHT, earns(2, 1, 4, "submitted_at: 2024-02-30"))
    code, out, err = verify()
    assert code == 4
    assert out == []
    told = {line.rpartition("submissions/")[2] for line in err}
    assert told == {
        "ann/expected.yaml:5:1: quik: unknown key; did you mean quick?",
        "ben/expected.yaml:3:9: earns.doubel: no item of rubric sums has this id; did you mean double?",
        "ben/expected.yaml:3:1: earns.double: missing; give its points, or pending",
        "cleo/expected.yaml:1:1: what is refused earns nothing; take out refused, or earns and total",
        'dora/expected.yaml:2:1: assignment: no assignment is called "sum"; did you mean sums?',
        "dora/expected.yaml:3:9: earns.double: must be a number, a fraction such as 8/3 or pending, "
        'got "much"',
        'emil/expected.yaml:5:1: isolation: no sandbox is called "bubblewarp"; did you mean bubblewrap?',
        "gil/expected.yaml:4:1: total: must be the sum of earns, 3, got 4",
        "gil/expected.yaml:5:1: submitted_at: must be a date and time with its offset from UTC, such as "
        '2024-12-23T23:59:00+02:00, got "2024-02-30" (day is out of range for month)',
        "fay/expected.yaml:1:1: lacks earns, total; add what it earns, or refused for what is not accepted",
    }


@pytest.fixture
def other(course):
    """The assignment `more` beside `sums`, whose rubric and one of whose submissions are wrong."""
    for path in sorted((course.folder / "assignments/sums").rglob("*.py")):
        text = path.read_text().replace('"sums"', '"more"', 1)
        text = text.replace('"unlucky"', '"unlucky_too"')
        course.write(f"assignments/more/{path.relative_to(course.folder / 'assignments/sums')}", text)
    rubric = (course.folder / "rubrics/sums.yaml").read_text()
    course.write("rubrics/more.yaml", rubric.replace("sums\n", "more\n").replace("sums.square", "sums.sqare"))
    course.submit("ann", RIGHT, earns(2, 1, 3))
    course.submit("bea", RIGHT, earns(2, 1, 3, "quik: true").replace("assignment: sums", "assignment: more"))
    course.submit("cem", RIGHT, earns(2, 1, 3).replace("assignment: sums", "assignment: more"))
    return course


@pytest.mark.parametrize("arguments", [["--assignment", "sums"], ["ann", "sums/*"]])
def test_what_is_wrong_in_another_assignment_is_not_in_the_way(other, verify, arguments):
    settings = "extensions: {nobody: {more: 1d}}\n" + CANVAS.replace("NAME", "more")
    other.write("course.yaml", f"title: A course\nroster: roster.csv\n{settings}")
    other.write("roster.csv", "student\nann\n")
    code, out, err = verify(*arguments)
    assert (code, err) == (0, [])
    assert [line.split()[1] for line in out[:2]] == ["sums/reference", "ann"]


@pytest.mark.parametrize("arguments", [[], ["--assignment", "more"], ["more/reference"], ["cem"], ["c*"]])
def test_a_wrong_rubric_is_told_before_anything_runs_where_it_is_needed(other, verify, arguments):
    code, out, err = verify(*arguments)
    assert (code, out) == (4, [])
    assert any("rubrics/more.yaml:6:" in line and "sqare" in line for line in err)


def test_a_rubric_that_is_no_yaml_belongs_to_the_assignment_of_its_name(other, verify):
    other.write("rubrics/more.yaml", "items: [\n")
    assert verify("--assignment", "sums")[0] == 0
    other.write("rubrics/some.yaml", "items: [\n")
    code, _, (line,) = verify("--assignment", "sums")
    assert code == 4
    assert "rubrics/some.yaml:" in line


def test_quick_takes_the_references_and_the_submissions_that_say_so(course, verify):
    course.submit("ann", RIGHT, earns(2, 1, 3, "quick: true"))
    course.submit("ben", CONFUSED, earns(2, 1, 3))
    code, out, _ = verify("--quick")
    assert code == 0
    assert [line.split()[1] for line in out[:2]] == ["sums/reference", "ann"]
    assert out[-1].startswith("1 submission and 1 reference: 2 as expected; ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nobody"], "nobody: there is no submission of that name; there are ann, sums/reference"),
        (
            ["sums"],
            "sums: there is no submission of that name; all of the assignment's are taken by --assign",
        ),
        (["ann", "--quick"], "ann: left out by --quick or --assignment; leave that out instead"),
        (["--assignment", "sum"], "--assignment sum: there is none of that name; did you mean sums?"),
        (
            ["--reference", "/"],
            "--reference: goes with --assignment NAME, and with nothing else that",
        ),
    ],
)
def test_what_names_nothing_is_a_usage_error(course, verify, arguments, told):
    course.submit("ann", RIGHT, earns(2, 1, 3))
    code, out, (err,) = verify(*arguments)
    assert (code, out) == (2, [])
    assert err.startswith(f"grader: {told}")


def test_a_check_that_no_submission_gets_wrong_or_right_is_named(course, verify):
    course.rubric(4, ITEMS + UNLUCKY % "lucky")
    course.submit("ann", CONFUSED, "assignment: sums\nearns: {double: 2, square: 0, luck: 1}\ntotal: 3")
    course.submit("ben", CRASHES, "assignment: sums\nearns: {double: 0, square: 0, luck: 1}\ntotal: 1")
    code, out, _ = verify()
    assert code == 0
    assert [line for line in out if line.endswith("?")] == [
        "sums: double: no submission gets it wrong, crashed calls apart; can this check fail at all?",
        "sums: luck: no submission gets it wrong, crashed calls apart; can this check fail at all?",
        "sums: square: no submission but the reference gets it right; can another right one pass?",
    ]
    assert not any(line.endswith("?") for line in verify("ann")[1])


def untested(out):
    return [line for line in out if line.endswith("?")]


@pytest.mark.slow
def test_the_same_check_in_two_rubrics_is_tested_by_the_submissions_of_either(course, verify):
    rubric = (course.folder / "rubrics" / "sums.yaml").read_text()
    course.write("rubrics/again.yaml", rubric.replace("it squares", "the same with another title"))
    course.submit("ann", RIGHT, earns(2, 1, 3, "rubric: again"))
    course.submit("ben", CONFUSED, earns(2, 0, 2))
    code, out, _ = verify()
    assert code == 0
    assert untested(out) == [
        "again: double: no submission gets it wrong, crashed calls apart; can this check fail at all?",
        "sums: double: no submission gets it wrong, crashed calls apart; can this check fail at all?",
    ]
    course.write("rubrics/again.yaml", rubric.replace("inputs: numbers", "inputs: numbers, credit: per_case"))
    assert (
        "again: square: no submission gets it wrong, crashed calls apart; can this check fail at all?"
        in untested(verify()[1])
    )


@pytest.mark.slow
def test_an_item_of_no_points_is_put_to_the_test_like_any_other(course, verify):
    course.rubric(2, ITEMS.replace("points: 1", "points: 0"))
    course.submit("ann", CONFUSED, earns(2, 0, 2))
    assert untested(verify()[1]) == [
        "sums: double: no submission gets it wrong, crashed calls apart; can this check fail at all?",
        "sums: square: no submission but the reference gets it right; can another right one pass?",
    ]


def test_what_was_not_observed_of_a_right_one_is_not_said_to_be_impossible(course, verify):
    course.rubric(4, ITEMS + UNLUCKY % "unfit")
    course.submit("ann", RIGHT, "assignment: sums\nearns: {double: 2, square: 1, luck: 1}\ntotal: 4")
    course.submit(
        "ben", "import nowhere\n", "assignment: sums\nearns: {double: 0, square: 0, luck: 0}\ntotal: 0"
    )
    code, out, _ = verify()
    assert code == 5
    assert not [line for line in out if line.endswith("can it be passed?")]


def test_what_was_not_observed_of_a_wrong_one_is_not_said_to_be_unable_to_fail(course, verify):
    course.rubric(4, ITEMS + UNLUCKY.replace("points", "needs: [square], points") % "unfit")
    course.submit("ann", CONFUSED, "assignment: sums\nearns: {double: 2, square: 0, luck: 0}\ntotal: 2")
    course.submit("ben", RIGHT, "assignment: sums\nearns: {double: 2, square: 1, luck: 0}\ntotal: 3")
    code, out, _ = verify()
    assert code == 5
    assert untested(out) == [
        "sums: double: no submission gets it wrong, crashed calls apart; can this check fail at all?",
        "sums: luck: no submission gets it right; can it be passed?",
    ]


def test_what_needs_a_device_or_a_person_here_is_not_said_to_be_untested(course, verify):
    needs = "points: 1, needs: [square]"
    course.rubric(
        5,
        ITEMS
        + f"      - {{id: gpu, title: it does, {needs}, check: unlucky, how: well, devices: {{gpu: 99}}}}\n"
        + f"      - {{id: style, title: it reads well, {needs}, check: manual}}\n",
    )
    course.submit(
        "ann",
        CONFUSED,
        "assignment: sums\nearns: {double: 2, square: 0, gpu: 0, style: 0}\ntotal: 2",
    )
    code, out, _ = verify()
    assert code == 0
    assert untested(out) == [
        "sums: double: no submission gets it wrong, crashed calls apart; can this check fail at all?",
        "sums: square: no submission but the reference gets it right; can another right one pass?",
    ]


@pytest.mark.parametrize("written", ["0.67", "2/3", "0.6666666666666666"])
def test_points_are_written_as_a_scorecard_prints_them_or_exactly(course, verify, written):
    each = ITEMS.replace("id: square,", "id: square, credit: per_case,")
    course.write("rubrics/sums.yaml", f"schema: 1\nassignment: sums\npoints: 3\nitems:{each}")
    course.write("assignments/sums/inputs.py", THREE_CASES)
    course.submit("ann", RIGHT.replace("x**2", "x + x if x == 3 else x**2"), earns(2, written, 2.67))
    code, out, _ = verify("ann")
    assert (code, out[0].split()[:3]) == (0, ["✓", "ann", "2.67"])


def test_what_cannot_be_imported_counts_as_got_wrong(course, verify):
    course.submit("ann", "import nothing_of_that_name\n", earns(0, 0, 0))
    assert untested(verify()[1]) == [
        "sums: double: no submission but the reference gets it right; can another right one pass?",
        "sums: square: no submission but the reference gets it right; can another right one pass?",
    ]


def test_a_course_without_submissions_says_so_and_verifies_its_references(course, verify):
    code, out, _ = verify()
    assert code == 0
    assert out[0].startswith("✓ sums/reference  3 / 3  ")
    assert (
        out[2] == "tests/submissions: has no submission of sums; only references and starters were verified"
    )
    assert out[3].startswith("0 submissions and 1 reference: 1 as expected; ")


def test_a_rubric_that_marks_no_submission_is_named(course, verify):
    course.submit("ann", RIGHT, earns(2, 1, 3))
    rubric = (course.folder / "rubrics" / "sums.yaml").read_text()
    course.write("rubrics/again.yaml", rubric)
    code, out, _ = verify()
    assert code == 0
    assert [line.split()[1] for line in out[:3]] == ["again/reference", "sums/reference", "ann"]
    assert out[4] == "again: no submission is graded by this rubric"


def test_an_assignment_without_a_rubric_cannot_be_verified(course, verify):
    shutil.rmtree(course.folder / "rubrics")
    assert verify() == (4, [], ["grader: assignment sums: no rubric grades it; write one"])


def test_json_says_the_same_to_programs(course, verify):
    course.submit("ann", CONFUSED, earns(2, 1, 3))
    code, out, err = verify("--json")
    told = json.loads("\n".join(out))
    reference, ann = told["verdicts"]
    assert (code, err, told["exit_code"]) == (4, [], 4)
    assert (reference["name"], reference["deviations"], reference["points"]) == ("sums/reference", [], 3)
    assert (ann["name"], ann["points"], ann["total"]) == ("ann", 2, 3)
    assert [deviation["item"] for deviation in ann["deviations"]] == ["square"]
    assert told["never_mistaken"] == ["sums: double"]
    assert told["never_earned"] == ["sums: square"]


def test_signs_are_plain_where_the_encoding_has_no_others(course, verify, monkeypatch):
    course.submit("ann", RIGHT, earns(2, 1, 3))
    monkeypatch.setattr(type(sys.stdout), "encoding", "ascii", raising=False)
    assert verify("ann")[1][0].startswith("+ ann  3 / 3  ")


def test_a_submission_that_asks_for_a_stronger_sandbox_is_never_run_in_a_weaker_one(
    course, verify, monkeypatch, tmp_path
):
    course.submit("ann", RIGHT, earns(2, 1, 3, "isolation: bubblewrap"))
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, _ = verify("ann")
    assert code == 5
    assert out[0].startswith("… ann: nothing was run: ")
    assert "(bubblewrap or stronger is demanded)" in out[0]


def test_what_the_machine_lacks_is_told_once(course, verify, monkeypatch, tmp_path):
    for name in ("ann", "ben", "cem"):
        course.submit(name, RIGHT, earns(2, 1, 3, "isolation: bubblewrap"))
    monkeypatch.setenv("PATH", str(tmp_path))
    code, (first, *others), _ = verify("ann", "ben", "cem")
    assert code == 5
    told = first.removeprefix("… ").partition(": ")[0]
    same = {f"… {name}: the same as {told}" for name in ("ann", "ben", "cem")}
    assert set(others[:2]) < same


def test_what_the_machine_lacks_is_told_whole():
    lacks = Deviation(text="nothing was run: " + 500 * "a", exit_code=ExitCode.NOT_OBSERVED)
    verdict = Verdict(case=SimpleNamespace(name="ann"), deviations=(lacks,))
    assert list(rows(verdict, (3, 3), sys.stdout, {})) == [f"… ann: {lacks.text}"]


def test_what_is_left_out_of_a_submission_is_not_observed(course, verify, tmp_path):
    course.submit("ann", CONFUSED, earns(2, "pending", 2, "leaves_out: [square]"))
    out = tmp_path / "out"
    assert verify("ann", "--out", str(out))[0] == 0
    (evidence,) = out.rglob("evidence.jsonl")
    assert '"item":"double"' in evidence.read_text()
    assert '"item":"square"' not in evidence.read_text()


def test_what_is_left_out_earns_nothing_where_what_it_needs_does(course, verify):
    course.rubric(3, ITEMS.replace("square, title", "square, needs: [double], title"))
    course.submit("ann", CRASHES, earns(0, 0, 0, "leaves_out: [square]"))
    assert verify("ann")[0] == 0


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("leaves_out: [square]", "earns.square: is left out; write pending"),
        ("leaves_out: [double]\non_gpu: {double: 1}", "on_gpu.double: is left out; write pending"),
        (
            "leaves_out: [square]\non_gpu: {square: 1}",
            "on_gpu.square: is left out; write pending, or 0 where",
        ),
        ("leaves_out: [circle]", "leaves_out[0]: no item of rubric sums has this id; "),
    ],
)
def test_what_is_left_out_must_be_pending_or_nothing(course, verify, more, told):
    course.submit("ann", RIGHT, earns(2, 1, 3, more))
    code, _, err = verify("ann")
    assert code == 4
    assert any(told in line for line in err)


@pytest.mark.parametrize(
    ("needs", "points", "right"),
    [("", 0, False), ("", 1, False), ("", '"pending"', True), ("double", 1, False), ("double", 0, True)],
)
def test_what_a_person_gives_is_pending_or_behind_a_gate(course, verify, needs, points, right):
    course.rubric(4, f"{ITEMS}      - {{id: style, title: s, points: 1, needs: [{needs}], check: manual}}\n")
    earned = f"{{double: 0, square: 0, style: {points}}}\ntotal: {0 if points != 1 else 1}"
    course.submit("ann", CRASHES, f"assignment: sums\nearns: {earned}")
    _, _, err = verify("ann")
    told = [line for line in err if "earns.style: a person gives its points; write pending" in line]
    assert bool(told) is not right


@pytest.mark.parametrize(
    ("gpus", "wanted", "total"),
    [
        (0, {"double": "pending", "square": "pending"}, 0),
        (1, {"double": 2, "square": "pending"}, None),
        (2, {"double": 2, "square": 1}, 3),
    ],
)
def test_what_a_submission_earns_on_gpus_counts_where_there_are_so_many(course, gpus, wanted, total):
    devices = ("devices: {gpu: 1}", "devices: {gpu: 2}")
    lines = ITEMS.replace("numbers}", "numbers, %s}").rstrip() % devices
    course.rubric(3, lines + "\n")
    there = "on_gpu: {double: 2, square: 1}\ntotal_on_gpu: 3"
    course.submit("ann", RIGHT, earns("pending", "pending", 0, there))
    selection = Selection(patterns=("ann",), gpus=gpus)
    (case,) = cases_of(load_course(course.folder), Plugins(course.folder), selection)
    assert (case.earns, case.total) == (wanted, total)


QUESTION = """
      - id: why
        title: "1: why"
        points: 2
        check: answer
        file: why.md
        question: 1
        text: Why is it right?
        model: It adds the number to itself.
        criteria:
          - {name: itself, points: 2, match: {terms: [itself]}}
"""


def test_an_answer_of_the_reference_that_waits_for_a_person_is_as_expected(course, verify):
    course.rubric(5, ITEMS + QUESTION)
    assignment = dedent(ASSIGNMENT).replace('("sums.py",)', '("sums.py", "why.md")')
    course.write("assignments/sums/assignment.py", assignment)
    course.write(
        "assignments/sums/reference/why.md", "1. Why is it right?\n\nIt adds the number to itself.\n"
    )
    course.submit("ann", RIGHT, "assignment: sums\nearns: {double: 2, square: 1, why: 0}\ntotal: 3")
    code, out, _ = verify()
    assert code == 0, out
    assert "2 as expected; " in out[-1]
    assert not [line for line in out if "why: no submission gets it right" in line]
    # an empty reference is no answer that waits: it earns nothing
    (course.folder / "assignments/sums/reference/why.md").unlink()
    code, out, _ = verify("--assignment", "sums")
    assert code == 4
    assert "✗ sums/reference: why earned 0, expected 2: " in "\n".join(out)


STARTER = "def double(x):\n    raise NotImplementedError\n\n\nsquare = double\n"
FIRST_IS_WRITTEN = RIGHT.replace("x**2", "None")


def test_a_starter_that_earns_nothing_is_as_expected(course, verify):
    course.write("assignments/sums/starter/sums.py", STARTER)
    course.write("assignments/sums/starter/main.py", "import sums\n")
    course.submit("ann", RIGHT, earns(2, 1, 3))
    code, out, err = verify()
    assert (code, err) == (0, [])
    assert out[:3] == [
        "✓ sums/reference  3 / 3  The reference of sums earns everything.",
        "✓ sums/starter    0 / 3  The starter of sums as it is handed out.",
        "✓ ann             3 / 3  That is ann.",
    ]
    assert out[-1].startswith("1 submission, 1 reference and 1 starter: 3 as expected; ")
    # it is no submission of the course's own, which puts a check to the test
    assert (
        "sums: square: no submission gets it wrong, crashed calls apart; can this check fail at all?" in out
    )


def test_a_starter_that_earns_points_is_named_with_the_items(course, verify):
    course.write("assignments/sums/starter/sums.py", FIRST_IS_WRITTEN)
    code, out, _ = verify("sums/starter")
    assert code == 0
    assert out[0] == "✓ sums/starter  2 / 3  The starter of sums as it is handed out."
    assert "sums/starter: earns 2 / 3 points as it is handed out, by double; is that meant?" in out
    assert "0 submissions, 0 references and 1 starter: 1 as expected; " in out[-1]
    document = json.loads("".join(verify("sums/starter", "--json")[1]))
    (verdict,) = document["verdicts"]
    assert (verdict["reference"], verdict["starter"], document["exit_code"]) == (False, True, 0)
    assert verdict["remark"] == "earns 2 / 3 points as it is handed out, by double; is that meant?"


def test_a_starter_that_earns_everything_is_not_as_expected(course, verify):
    course.write("assignments/sums/starter/sums.py", RIGHT)
    code, out, _ = verify()
    assert code == 4
    assert out[1] == (
        "✗ sums/starter: earns everything as it is handed out; take the solution out of starter/, or make "
        "the checks tell them apart"
    )
    assert not any("is that meant?" in line for line in out)


def test_what_a_starter_was_not_observed_in_is_named_with_whose_fault_it_is(course, verify):
    course.write("assignments/sums/starter/sums.py", STARTER)
    course.rubric(4, ITEMS + UNLUCKY % "unfit")
    assert verify("sums/starter")[1][0].startswith("… sums/starter: luck is pending: no such device")
    course.rubric(4, ITEMS + UNLUCKY % "bug")
    code, out, _ = verify("sums/starter")
    assert code == 4
    assert out[0].startswith("✗ sums/starter: luck is pending: ")


def test_a_starter_without_a_file_that_is_handed_in_earns_nothing(course, verify):
    course.write("assignments/sums/starter/profile_me.py", "print()\n")
    code, out, _ = verify("sums/starter")
    assert code == 0
    assert out[0] == "✓ sums/starter  refused  The starter of sums as it is handed out."


def test_quick_leaves_the_starters_out(course, verify):
    course.write("assignments/sums/starter/sums.py", RIGHT)
    code, out, _ = verify("--quick")
    assert (code, [line.split()[1] for line in out if line.startswith("✓")]) == (0, ["sums/reference"])
