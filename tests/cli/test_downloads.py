"""A download of a whole class, through the installed command."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from textwrap import dedent


def test_a_file_in_another_folder_is_to_be_moved(course, tmp_path):
    archive = tmp_path / "ann.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("src/work.py", "def double(x): return 2 * x")
        file.writestr("more.py", "x = 1")
    assert (
        "src/work.py is not graded, and there is no work.py; if that is meant, move it and grade again"
        in (course.run("run", str(archive)).stderr)
    )


def test_loose_files_and_archives_of_a_class_are_graded_in_one_go(course):
    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student,canvas id\nann,12\nben,13\n")
    work = "def double(x): return 2 * x\ndef square(x): return x * x"
    loose = (
        course.submissions_folder / "doeann_12_3_work-1.py",
        course.submissions_folder / "doeann_12_4_more.py",
    )
    alone = course.submissions_folder / "roecem_14_8_work.py"
    mixed = (
        course.submissions_folder / "roeben_13_6_work.py",
        course.submissions_folder / "roeben_13_7_hw1.zip",
    )
    for path in (*loose, alone, *mixed):
        path.write_text(dedent(work))

    done = course.run("run", *map(str, (loose[0], *mixed, alone, loose[1])))

    assert done.returncode == 6
    assert done.stderr.splitlines() == [
        "grader: roeben_13 (2 files): holds an archive (hw1.zip) with other files beside it; "
        "hand in everything in one archive, or all files without one",
        f"grader: roecem_14_8_work.py: id 14 is not on the roster ({course.folder}/roster.csv), "
        "so the student is called roecem_14; add the id there, or give --student NAME",
        "2 submissions graded: 2 final",
        "1 submission without a grade; the lines above say why",
        f"{course.folder}/roster.csv: 1 student whose submission was not graded, as told above: ben",
        f"{course.folder}/roster.csv: 1 student not on it: roecem_14",
        "exit code 6: 1 submission refused",
    ]
    assert {path.name for path in (course.out / "tiny").iterdir()} == {"ann", "roecem_14"}
    ann = json.loads((course.results() / "score.json").read_text())
    assert ann["submission"]["files"] == ["more.py", "work.py"]
    assert ann["points"]["earned"] == 3


def test_a_file_that_is_not_graded_for_its_name_is_told(course):
    """A misnamed file beside a right one: without a word the items of that file would earn nothing."""
    archive = course.submissions_folder / "ann.zip"
    encrypted = io.BytesIO()
    with zipfile.ZipFile(encrypted, "w") as file:
        file.writestr("work.py", "x = 1")
    # bit 0 of the flags, in the local header and in the central directory
    data = bytearray(encrypted.getvalue())
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(signature) + offset] |= 1
    encrypted = io.BytesIO(data)
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("more.py", "x = 1")
        file.writestr("work.py.txt", "def double(x): return 2 * x")
        file.writestr("old/more.py", "x = 2")
        file.writestr("code.rar", "Rar!")
        file.writestr("data.gz", "x")
        file.writestr("data.zip", "x")
        file.writestr("locked.zip", encrypted.getvalue())
        file.writestr("large.zip", bytes(33 << 20))
    done = course.run("run", str(archive))
    assert done.stderr == (
        "grader: ann.zip (ann): work.py.txt is not graded, and there is no work.py; "
        "if that is meant, rename it and grade again\n"
        "grader: ann.zip (ann): inside, large.zip is an archive of more than 32 MiB; there is no work.py: "
        "look whether that is in it\n"
        "grader: ann.zip (ann): inside, data.zip is no archive, whatever its name says; "
        "there is no work.py: look whether that is in it\n"
        "grader: ann.zip (ann): inside, locked.zip holds an encrypted file (work.py); "
        "there is no work.py: look whether that is in it\n"
        "grader: ann.zip (ann): code.rar inside is not unpacked, and there is no work.py; "
        "look whether that is in it\n"
    )


def test_a_file_that_a_program_asks_for_and_accepts_does_not_name_is_told(course):
    archive = course.submissions_folder / "ann.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("work.py", "import helpers\ndef double(x): return helpers.twice(x)")
        file.writestr("more.py", "def square(x): return x * x")
        file.writestr("helpers.py", "def twice(x): return 2 * x")
        file.writestr("notes.txt", "helpers.py")
    done = course.run("run", str(archive))
    assert done.stderr == (
        "grader: ann.zip (ann): helpers.py is not graded, and other files that were handed in may need it; "
        "if students may hand it in, name it in accepts of assignment.py and grade again\n"
    )
    assert "helpers.py was handed in and left out" in done.stdout


def test_a_notebook_in_place_of_a_program_is_not_to_be_renamed(course):
    archive = course.submissions_folder / "ann.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("more.py", "x = 1")
        file.writestr("work.ipynb", '{"cells": [], "nbformat": 4}')
    assert course.run("run", str(archive)).stderr == (
        "grader: ann.zip (ann): work.ipynb is not graded, and there is no work.py; "
        "if it is meant, its code must be handed in as work.py\n"
    )


def test_a_name_that_says_nobody_is_a_students_mistake_in_a_class_and_otherwise_of_the_command(course):
    folder = course.submissions_folder
    (folder / "my homework.zip").write_bytes(b"")
    alone = course.run("run", str(folder / "my homework.zip"))
    of_class = course.run("run", str(folder))
    assert (alone.returncode, of_class.returncode) == (2, 6)
    assert "its name does not say who handed it in" in of_class.stderr
    assert of_class.stderr.endswith("exit code 6: 1 submission refused\n")


def test_loose_files_of_one_student_may_be_said_to_be_anothers(course):
    paths = [
        course.submissions_folder / f"doeann_12_{number}_{name}"
        for number, name in ((3, "work.py"), (4, "more.py"))
    ]
    for path in paths:
        path.write_text("def double(x): return 2 * x")
    done = course.run("run", "--json", "--student", "dan", *map(str, paths))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["scores"][0]["students"] == ["dan"]


def test_a_wrong_roster_stops_before_anything_is_graded(course):
    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student\nA B\n")
    done = course.run("run", course.submit())
    assert done.returncode == 4
    assert "roster.csv:2: student: must be" in done.stderr
    assert not course.out.exists()


def two_folders(course, name, content):
    """A folder with `ann/` and `ben/` in it, and a file of each."""
    folder = course.submissions_folder / name
    for student, file in (("ann", "hw1.tar.gz"), ("ben", "work.py")):
        (folder / student).mkdir(parents=True)
        (folder / student / file).write_bytes(content[file])
    return folder


def test_a_folder_of_a_class_is_no_students(course):
    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student,team\nann,\nben,\ncy,red\ndee,red\n")
    work = b"def double(x): return 2 * x\ndef square(x): return x * x"
    content = {"hw1.tar.gz": Path(course.submit()).read_bytes(), "work.py": work}
    folder = two_folders(course, "hw1", content)
    done = course.run("run", str(folder))
    assert (done.returncode, done.stderr) == (
        2,
        f"grader: {folder}: holds ann, ben, called as students on the roster; name them, as in {folder}/*, "
        "or say by --student whose submission it is\n",
    )
    assert not course.out.exists()
    assert course.run("run", *map(str, folder.iterdir())).returncode == 0
    assert {path.name for path in (course.out / "tiny").iterdir()} == {"ann", "ben"}
    assert course.run("run", str(folder), "--student", "ann").returncode == 0
    assert course.run("run", str(two_folders(course, "red", content))).returncode == 0  # the team's own


def test_a_folder_that_may_be_a_classs_is_remarked_on_where_no_roster_says_so(course):
    content = {"hw1.tar.gz": Path(course.submit()).read_bytes(), "work.py": b"def double(x): return 2 * x"}
    folder = two_folders(course, "hw1", content)
    done = course.run("run", str(folder))
    line = f"{folder}: is graded as one submission; if ann, ben are one each, name them, as in {folder}/*"
    assert f"grader: {line}\n" in done.stderr
    (folder / "ann/hw1.tar.gz").unlink()
    assert "is graded as one submission" not in course.run("run", str(folder)).stderr


def test_a_folder_with_the_course_or_the_results_in_it_is_nobodys(course):
    advice = "name what students handed in, as in submissions/*"
    for path, what in (
        (course.folder, "is the course itself"),
        (course.folder.parent, "holds the whole course"),
    ):
        done = course.run("run", str(path))
        assert (done.returncode, done.stderr) == (2, f"grader: {path}: {what}; {advice}\n")
    course.run("run", course.submit())
    done = course.run("run", str(course.out))
    line = f"{course.out}: holds the results; name what students handed in, or another --out"
    assert (done.returncode, done.stderr) == (2, f"grader: {line}\n")
