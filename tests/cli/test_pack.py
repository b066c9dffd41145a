"""`grader pack` writes what is stale and nothing else, and with --check nothing at all."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import sys
import zipfile

import pytest

from grader.cli.main import main


@pytest.fixture
def course(tmp_path):
    (tmp_path / "course.yaml").write_text("title: A course\n")
    submission(tmp_path, "ann", "about: a.\n", "x = 1\n")
    submission(tmp_path, "ben", "base: ann\n", "x = 2\n")
    submission(tmp_path, "cleo", "archive: zip\n", "x = 3\n")
    return tmp_path


def submission(course, name, expected, text):
    folder = course / "tests" / "submissions" / name
    (folder / "files").mkdir(parents=True)
    (folder / "files" / "utils.py").write_text(text)
    (folder / "expected.yaml").write_text(expected)


@pytest.fixture
def pack(course, capsys, monkeypatch):
    def run(*arguments: str) -> tuple[int, list[str], list[str]]:
        monkeypatch.delenv("GRADER_COURSE", raising=False)
        monkeypatch.chdir(course)
        monkeypatch.setattr(sys, "argv", ["grader", "pack", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code, printed.out.splitlines(), printed.err.splitlines()

    return run


def test_all_submissions_are_packed_and_a_second_time_nothing_is_written(course, pack):
    written = [f"submissions/{name}: written" for name in ("ann.tar.gz", "ben.tar.gz", "cleo.zip")]
    assert pack() == (0, written, [])
    assert pack() == (0, [], [])
    assert pack("--check") == (0, [], [])
    assert sorted(path.name for path in (course / "submissions").iterdir()) == [
        *("ann.tar.gz", "ben.tar.gz", "cleo.zip")
    ]


def test_only_submissions_that_match_are_packed(pack):
    assert pack("a*") == (0, ["submissions/ann.tar.gz: written"], [])
    assert pack("bem") == (2, [], ["grader: bem: there is no submission of that name; did you mean ben?"])


def test_check_names_a_stale_archive_and_leaves_it(course, pack):
    pack()
    (course / "tests" / "submissions" / "ann" / "files" / "utils.py").write_text("x = 4\n")
    archive = course / "submissions" / "ann.tar.gz"
    before = archive.read_bytes()
    assert pack("--check") == (4, ["submissions/ann.tar.gz: stale; run grader pack"], [])
    assert archive.read_bytes() == before
    assert pack() == (0, ["submissions/ann.tar.gz: written"], [])
    assert pack("--check")[0] == 0


def test_check_names_missing_broken_and_orphaned_archives(course, pack):
    pack()
    archives = course / "submissions"
    (archives / "ann.tar.gz").unlink()
    (archives / "ben.tar.gz").write_bytes((archives / "ben.tar.gz").read_bytes()[:40])
    (archives / "cleo.zip").write_bytes(b"PK, but no zip")
    (archives / "dora.tar.gz").write_bytes(b"")
    code, out, _ = pack("--check")
    assert code == 4
    assert [line.partition(":")[0] for line in out] == [
        f"submissions/{name}" for name in ("ann.tar.gz", "ben.tar.gz", "cleo.zip", "dora.tar.gz")
    ]
    code, out, _ = pack()
    assert code == 0
    assert out[-1] == "submissions/dora.tar.gz: has no source; remove it or add its sources"
    assert (archives / "dora.tar.gz").exists()


def test_an_archive_that_is_only_compressed_otherwise_is_left_alone(course, pack):
    pack()
    archive = course / "submissions" / "ann.tar.gz"
    head, content = archive.read_bytes()[:10], gzip.decompress(archive.read_bytes())
    otherwise = head + gzip.compress(content, 0, mtime=0)[10:]
    archive.write_bytes(otherwise)
    assert pack()[0] == 0
    assert archive.read_bytes() == otherwise


def test_what_lies_beside_the_files_of_a_submission_is_remarked(course, pack):
    folder = course / "tests" / "submissions" / "ann"
    for name in ("utils.py", "report.docx", ".DS_Store", "utils.py~", "report.txt", "without.txt"):
        (folder / name).write_text("")
    for name in ("src", "answers.docx", "__pycache__"):
        (folder / name).mkdir()
    remark = "grader: tests/submissions/ann/{}: lies beside files/, so that it is not handed in; {}"
    advice = "move it into ann/files, or remove it"
    lines = [remark.format(name, advice) for name in ("report.docx", "src", "utils.py")]
    code, out, err = pack("ann")
    assert (code, out, err) == (0, ["submissions/ann.tar.gz: written"], lines)
    assert pack("ben")[2] == pack("--check", "ann")[2] == []


def test_wrong_sources_are_a_line_each_and_nothing_is_written(course, pack):
    submission(course, "dora", "base: nobody\n", "x = 4\n")
    submission(course, "emil", "archive: rar\n", "x = 4\n")
    code, out, err = pack()
    assert (code, out) == (4, [])
    assert err == [
        "grader: tests/submissions/dora/expected.yaml: base: nobody: name a submission that has no base "
        "itself",
        "grader: tests/submissions/emil/expected.yaml: archive: rar: must be one of tar.gz, zip",
    ]
    assert not (course / "submissions").exists()


def test_a_course_without_submissions_is_told_what_one_is(tmp_path, pack):
    for folder in ("ann", "ben", "cleo"):
        (tmp_path / "tests" / "submissions" / folder / "expected.yaml").unlink()
    code, _, err = pack()
    assert code == 4
    assert "grader: tests/submissions/ann: has no expected.yaml; say there what it must earn" in err
    shutil.rmtree(tmp_path / "tests" / "submissions")
    code, _, err = pack()
    assert code == 4
    assert err[0].startswith("grader: tests/submissions: has no submissions; make a folder there")
    assert pack("--check") == (0, [], [])  # nothing is stale
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "ann.tar.gz").write_bytes(b"")
    assert pack("--check")[0] == 4


def test_where_nothing_can_be_written_a_line_says_so(course, pack):
    (course / "submissions").write_text("a file in the way")
    code, _, err = pack()
    assert code == 4
    assert err[0].startswith(f"grader: {course}/submissions/ann.tar.gz: cannot be written (File exists)")
    assert (course / "submissions").read_text() == "a file in the way"


@pytest.fixture
def assignment(course):
    """An assignment with something of each kind."""
    folder = course / "assignments" / "layers"
    sources = {
        "handout.md": "# Layers\n",
        "assignment.py": "ASSIGNMENT\n",
        "checks.py": "CHECKS\n",
        "data/secret.txt": "DATA\n",
        "expected.py": "ORACLE\n",
        "given/driver.py": "DRIVER\n",
        "given/src/Makefile": "all:\n",
        "inputs.py": "INPUTS\n",
        "reference/layers.py": "SOLUTION\n",
        "starter/layers.py": "# yours to write\n",
        "starter/layers.py~": "SOLUTION\n",
        "starter/.layers.py.swp": "SOLUTION\n",
        "starter/.ipynb_checkpoints/layers.py": "SOLUTION\n",
        "starter/__pycache__/layers.pyc": "SOLUTION\n",
        "starter/src/Makefile": "all:\n",
    }
    for name, text in sources.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (course / "rubrics").mkdir()
    (course / "rubrics" / "layers.yaml").write_text("RUBRIC\n")
    return folder


def handed_out(course):
    with zipfile.ZipFile(course / "handouts" / "layers.zip") as opened:
        return {name: opened.read(name).decode() for name in opened.namelist()}


STARTED = {
    "layers/handout.md": "# Layers\n",
    "layers/layers.py": "# yours to write\n",
    "layers/src/Makefile": "all:\n",
}


def test_a_hand_out_holds_the_page_and_the_starter_and_nothing_else(course, assignment, pack):
    written = "handouts/layers.zip: written with handout.md, layers.py, src/Makefile"
    assert pack("--handout") == (0, [written], [])
    assert handed_out(course) == STARTED
    assert not (course / "submissions").exists()


def test_given_files_are_handed_out_where_that_is_asked_for(course, assignment, pack):
    code, out, _ = pack("--handout", "--given", "lay*")
    assert (code, out) == (
        0,
        ["handouts/layers.zip: written with driver.py, handout.md, layers.py, src/Makefile"],
    )
    assert handed_out(course) == {**STARTED, "layers/driver.py": "DRIVER\n"}
    assert pack("--handout", "--check", "--given") == (0, [], [])
    assert pack("--handout", "--check")[0] == 4


def test_a_hand_out_has_the_same_bytes_whenever_it_is_packed(course, assignment, pack):
    pack("--handout")
    archive = course / "handouts" / "layers.zip"
    before = archive.read_bytes()
    assert pack("--handout") == (0, [], [])
    archive.unlink()
    os.utime(assignment / "handout.md", (1, 1))
    (assignment / "starter" / "layers.py").chmod(0o600)
    pack("--handout")
    assert archive.read_bytes() == before


def test_check_names_a_hand_out_that_is_stale_and_leaves_it(course, assignment, pack):
    pack("--handout")
    (assignment / "handout.md").write_text("# Layers, corrected\n")
    stale = "handouts/layers.zip: stale; run grader pack --handout"
    assert pack("--handout", "--check") == (4, [stale], [])
    assert handed_out(course) == STARTED
    code, out, _ = pack("--handout", "--json")
    assert (code, json.loads("".join(out))["written"]) == (0, ["handouts/layers.zip"])


def test_a_link_in_the_starter_is_refused_for_it_may_lead_to_the_solution(course, assignment, pack):
    (assignment / "starter" / "more.py").symlink_to("../reference/layers.py")
    (assignment / "starter" / "all").symlink_to("../reference")
    code, out, err = pack("--handout")
    assert (code, out) == (4, [])
    why = "is a link, which may lead to a solution; put a copy there"
    assert err == [f"grader: assignments/layers/starter/{name}: {why}" for name in ("all", "more.py")]
    assert not (course / "handouts").exists()
    shutil.rmtree(assignment / "starter")
    (assignment / "starter").symlink_to("reference")
    assert "layers/starter: is a link" in pack("--handout")[2][0]


def test_a_given_file_that_is_another_one_in_the_starter_is_named(assignment, pack):
    (assignment / "given" / "src" / "Makefile").write_text("none:\n")
    code, _, (err,) = pack("--handout", "--given")
    assert code == 4
    given, starter = (f"assignments/layers/{part}/src/Makefile" for part in ("given", "starter"))
    why = "and would lie in its place; make them equal, or remove one"
    assert err == f"grader: {given}: differs from {starter}, {why}"


def test_a_file_that_the_page_shows_and_nobody_gets_is_named(course, assignment, pack):
    page = assignment / "handout.md"
    page.write_text(
        "![a plan](figures/the%20plan.png 'Plan') [&](int i) [web](https://a.edu/inputs.py) [a](#b)\n"
        "[c](./layers.py#L2)\n"
    )
    code, _, err = pack("--handout")
    assert code == 4
    place = "grader: assignments/layers/handout.md: links to figures/the plan.png, which is not there; "
    assert err == [f"{place}put it into starter/, or correct the link"]
    (assignment / "figures").mkdir()
    (assignment / "figures" / "the plan.png").write_text("PNG")
    page.write_text(f"{page.read_text()}[c](starter/layers.py) [d](reference/layers.py)")
    code, _, err = pack("--handout")
    assert code == 4
    line = "grader: assignments/layers/handout.md: links to {}, which is not in the zip; {}"
    assert err == [
        line.format("figures/the plan.png", "put it into starter/, or remove the link"),
        line.format("starter/layers.py", "write layers.py"),
        line.format("reference/layers.py", "put it into starter/, or remove the link"),
    ]
    (assignment / "figures").rename(assignment / "starter" / "figures")
    page.write_text("![a plan](figures/the%20plan.png)")
    assert pack("--handout")[0] == 0
    assert "layers/figures/the plan.png" in handed_out(course)


def test_what_has_no_hand_out_is_one_line(course, assignment, pack):
    none = "there is no assignment of that name; did you mean layers?"
    assert pack("--handout", "layer") == (2, [], [f"grader: layer: {none}"])
    assert pack("--given") == (2, [], ["grader: --given: goes with --handout"])
    (course / "assignments" / "empty").mkdir()
    (course / "assignments" / "empty" / "assignment.py").write_text("")
    code, out, (err,) = pack("--handout")
    assert (code, out) == (4, [])
    assert err == "grader: assignments/empty: has neither handout.md nor starter/; write what students get"
    assert pack("--handout", "layers")[0] == 0
    shutil.rmtree(course / "assignments")
    code, _, (err,) = pack("--handout")
    assert (code, err) == (4, "grader: assignments: has no assignments; grader new NAME begins one")


def test_a_starter_that_includes_a_header_of_given_alone_is_remarked(course, assignment, pack):
    for name in ("par.h", "src/par.h"):
        (assignment / "given" / name).parent.mkdir(parents=True, exist_ok=True)
        (assignment / "given" / name).write_text("int f();\n")
    source = assignment / "starter" / "par.cpp"
    source.write_text('#include <vector>\n# include "par.h"\n#include "src/own.h"\n')
    (assignment / "starter" / "src").mkdir(exist_ok=True)
    (assignment / "starter" / "src" / "own.h").write_text("")
    line = (
        "grader: assignments/layers/starter/par.cpp:2: includes par.h, which students do not get; "
        "put a copy into starter/, or say --given"
    )
    assert pack("--handout")[2] == [line]
    assert pack("--handout", "--given")[2] == []
    (assignment / "starter" / "par.h").write_text("int f();\n")
    (assignment / "starter" / "src" / "own.h").write_text('#include "../par.h"\n')
    assert pack("--handout")[2] == []


def test_a_hand_out_without_a_page_or_a_starter_is_remarked(course, assignment, pack):
    (assignment / "handout.md").rename(course / "aside")
    line = "grader: assignments/layers: has no handout.md; students read nothing of what is asked"
    assert pack("--handout")[2] == [line]
    (course / "aside").rename(assignment / "handout.md")
    shutil.rmtree(assignment / "starter")
    (assignment / "starter").mkdir()
    code, out, err = pack("--handout")
    assert (code, out) == (0, ["handouts/layers.zip: written with handout.md"])
    line = "grader: assignments/layers/starter: holds no files; students have nothing to begin with"
    assert err == [line]
    assert pack("--handout") == (0, [], [line])
    assert pack("--handout", "--check") == (0, [], [])


def test_a_deadline_that_has_passed_when_the_homework_goes_out_is_remarked(course, assignment, pack):
    rubric = course / "rubrics" / "layers.yaml"
    rubric.write_text("assignment: layers\ndue: 2020-12-05T23:59:00+01:00\n")
    code, _, (line,) = pack("--handout")
    told = r"grader: rubrics/layers\.yaml:2:1: due: this deadline passed \d+ days ago; give the one to come"
    assert (code, re.fullmatch(told, line) is not None) == (0, True), line
    for other in ("due: 2999-12-05T23:59:00+01:00", "due: 2020-13-05", "due: 2020-12-05", "due: 2020"):
        rubric.write_text(f"assignment: layers\n{other}\n")
        assert pack("--handout") == (0, [], [])
    rubric.write_text("assignment: other\ndue: 2020-12-05T23:59:00+01:00\n")
    assert pack("--handout") == (0, [], [])


def test_a_page_that_speaks_of_the_example_of_grader_new_is_remarked(course, pack, monkeypatch, capsys):
    monkeypatch.chdir(course)
    monkeypatch.setattr(sys, "argv", ["grader", "new", "heat", "--function", "heat.step"])
    with pytest.raises(SystemExit):
        main()
    capsys.readouterr()
    code, out, err = pack("--handout")
    assert (code, out) == (0, ["handouts/heat.zip: written with handout.md, heat.py"])
    page = course / "assignments" / "heat" / "handout.md"
    remark = "grader: assignments/heat/handout.md:{}: is the example of grader new still; say what is asked"
    assert err == [remark.format(5)]
    rubric = course / "rubrics" / "heat.yaml"
    rubric.write_text(rubric.read_text().replace("10", "20"))
    lines = page.read_text().splitlines()
    points = "its points are 10, and in rubrics/heat.yaml 20; write one number in both"
    assert pack("--handout")[2] == [remark.format(5), f"grader: assignments/heat/handout.md:10: {points}"]
    page.write_text("\n".join([*lines[:4], "* `x` is a field.", *lines[6:]]))
    assert pack("--handout")[2] == [f"grader: assignments/heat/handout.md:9: {points}"]


RUBRIC = """\
points: 21
items:
  - {id: a, points: 7}
  - {id: b, points: 14}
  - {id: c, points: 3, counts: bonus}
"""


@pytest.mark.parametrize(
    ("rows", "total"),
    [
        (["7", "14"], ""),
        (["7", "2 \N{MULTIPLICATION SIGN} 7"], ""),
        (["**7**", "2 x 7 ", "21"], ""),
        (["7", "14", "3"], ""),
        (["7", "14", "3 (bonus)"], ""),
        (["3.33", "3.33", "14.3"], ""),
        (["7", "13"], "20"),
        (["7", "14", "4"], "25"),
        (["7.5", "14"], "21.5"),
        ([], ""),
    ],
)
def test_points_of_the_page_that_are_not_those_of_the_rubric_are_remarked(
    course, assignment, pack, rows, total
):
    (course / "rubrics" / "layers.yaml").write_text(f"assignment: layers\n{RUBRIC}")
    (course / "rubrics" / "other.yaml").write_text("assignment: other\npoints: 20\n")
    table = "".join(f"| a thing | {cell} |\n" for cell in rows)
    (assignment / "handout.md").write_text(f"# Layers\n\n| what | points |\n|---|--:|\n{table}\n| a | b |\n")
    code, _, err = pack("--handout", "layers")
    line = f"grader: assignments/layers/handout.md:3: its points are {total}, and in rubrics/layers.yaml 21"
    assert (code, err) == (0, [f"{line}; write one number in both"] if total else [])
    if total:  # the points of another rubric of the assignment, or of all tables
        (course / "rubrics" / "short.yaml").write_text(f"assignment: layers\npoints: {total}\n")
        assert pack("--handout", "layers")[2] == []
        (course / "rubrics" / "short.yaml").unlink()
        with (assignment / "handout.md").open("a") as page:
            page.write("\n| what | points |\n|---|---|\n| all | 21 |\n")
        assert pack("--handout", "layers")[2] == []
