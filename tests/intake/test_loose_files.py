"""Loose files that one student uploaded to Canvas, joined into one submission."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.intake.limits import ArchiveLimits
from grader.intake.upload import LooseFiles, group
from grader.model.roster import Roster, Student

WORK = b"def add(x, y):\n    return x + y\n"


@pytest.fixture
def downloads(tmp_path):
    """Writes files into the folder of a download and gives their paths."""
    folder = tmp_path / "downloads"
    folder.mkdir()

    def write(*names: str, data: bytes = WORK) -> list[Path]:
        for name in names:
            (folder / name).write_bytes(data)
        return [folder / name for name in names]

    return write


def held(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_loose_files_of_one_student_are_one_submission_under_the_students_own_names(
    downloads, tmp_path, taken
):
    downloads("doejane_12_3_utils-1.py", "doejane_12_4_max_functions.py", "doejane_12_5_notes.txt")
    before = held(tmp_path / "downloads")
    (joined,) = group(sorted((tmp_path / "downloads").iterdir()))

    got = taken(joined)

    assert (got.student, got.lms_id, got.attempt) == ("doejane_12", "12", 1)
    assert got.archive == "doejane_12 (3 files)"
    assert (got.files, got.dropped) == (("max_functions.py", "utils.py"), ("notes.txt",))
    assert held(tmp_path / "results/workspace") == {"max_functions.py": WORK, "utils.py": WORK}
    assert held(tmp_path / "downloads") == before


def test_loose_files_are_the_same_work_as_the_archive_of_them(downloads, tar_of, taken, tmp_path):
    (joined,) = group(downloads("doejane_12_3_utils.py", "doejane_12_4_max_functions.py"))
    packed = taken(tar_of({"utils.py": WORK, "max_functions.py": WORK}), workspace=tmp_path / "w")
    assert taken(joined).digest == packed.digest


def test_files_are_joined_by_student_id_lateness_and_folder_in_their_order(downloads, tmp_path):
    early = downloads("doejane_12_3_utils.py", "roebob_13_4_utils.py", "doejane_12_5_max_functions.py")
    late = downloads("doejane_LATE_12_6_utils.py", "doejane_14_7_utils.py", "anon_12_8_utils.py")
    (tmp_path / "hw2").mkdir()
    elsewhere = tmp_path / "hw2" / "doejane_12_9_utils.py"
    elsewhere.write_bytes(WORK)
    first, second, third = early
    assert group([*early, *late, elsewhere]) == (
        LooseFiles(files=(first, third)),
        LooseFiles(files=(second,)),
        *(LooseFiles(files=(path,)) for path in (*late, elsewhere)),
    )


def test_what_canvas_did_not_name_and_archives_stay_by_themselves(downloads, tmp_path):
    paths = downloads(
        *("utils.py", "max_functions.py", "alice.zip", "alice_hw1_2.py"),
        *("doejane_12_3_hw1.zip", "doejane_12_4_hw1.tar-2.gz", "roebob_13_3_hw1.rar"),
    )
    (tmp_path / "downloads" / "doejane_12_5_hw1").mkdir()
    paths += [tmp_path / "downloads" / "doejane_12_5_hw1", tmp_path / "downloads" / "gone_12_6_utils.py"]
    assert group([*paths, paths[2]]) == (*paths, paths[2])


def test_a_file_that_is_given_twice_is_there_once(downloads, taken):
    (path,) = downloads("doejane_12_3_utils.py")
    (joined,) = group([path, path])
    assert taken(joined).archive == "doejane_12_3_utils.py"


def test_a_packed_file_of_data_is_no_archive_of_the_homework(downloads, taken):
    (joined,) = group(downloads("doejane_12_3_mnist.pkl.gz", "doejane_12_4_utils.py"))
    got = taken(joined)
    assert (got.files, got.dropped) == (("utils.py",), ("mnist.pkl.gz",))


@pytest.mark.parametrize("archive", ["hw1.zip", "hw1.tar-2.gz", "hw1.rar"])
def test_an_archive_beside_loose_files_is_refused(archive, downloads, refusal):
    (both,) = group(downloads("doejane_12_3_utils.py", f"doejane_12_4_{archive}"))
    line = refusal(both)
    assert line.startswith("doejane_12 (2 files): holds an archive (hw1")
    assert line.endswith(
        ") with other files beside it; hand in everything in one archive, or all files without one"
    )


def test_two_attempts_of_one_file_are_not_chosen_from(downloads, refusal):
    (both,) = group(downloads("doejane_12_3_utils.py", "doejane_12_4_utils-1.py"))
    assert refusal(both) == (
        "doejane_12 (2 files): holds utils.py twice (doejane_12_3_utils.py and doejane_12_4_utils-1.py); "
        "give only the later one"
    )


def test_loose_files_are_bounded_and_named_as_those_of_an_archive(downloads, refusal, taken, tmp_path):
    (large,) = group(downloads("doejane_12_3_utils.py", data=bytes(2 << 20)))
    line = refusal(large, limits=ArchiveLimits(file_bytes=1 << 20))
    assert line.startswith("doejane_12_3_utils.py: holds a file larger than 1 MiB (utils.py)")
    (outside,) = group(downloads("roebob_13_3_..\\..\\utils.py"))
    assert "leads outside" in refusal(outside)
    (cases,) = group(downloads("anon_a1_3_utils.py", "anon_a1_4_Utils.py"))
    assert "holds both utils.py and Utils.py, one file on some machines" in refusal(cases)


def test_a_file_that_vanished_is_a_usage_error(downloads, taken, tmp_path):
    (joined,) = group(downloads("doejane_12_3_utils.py"))
    joined.files[0].unlink()
    with pytest.raises(UsageError, match=r"doejane_12_3_utils.py: cannot be read \(No such file"):
        taken(joined)
    assert not (tmp_path / "results").exists()


def test_loose_files_of_whom_the_roster_or_the_command_names(downloads, taken, tmp_path):
    (joined,) = group(downloads("doejane_12_3_utils.py", "doejane_12_4_max_functions.py"))
    assert taken(joined, roster=Roster(students=(Student(student="bob+alice", canvas_id="12"),))).members == (
        "alice",
        "bob",
    )
    assert taken(joined, student="carol", workspace=tmp_path / "w").student == "carol"


def test_loose_files_of_moodle_are_those_of_their_student(downloads, taken):
    (joined,) = group(
        downloads("Cy Fox_17_assignsubmission_file_utils.py", "Cy Fox_17_assignsubmission_file_hw1.pdf")
    )
    got = taken(joined)
    assert (got.student, got.files, got.dropped) == ("cyfox_17", ("utils.py",), ("hw1.pdf",))


@pytest.mark.parametrize("inside", ["", "code/", "hw1/code/"])
def test_a_folder_of_moodle_stands_for_the_archive_in_it(inside, tar_of, taken, tmp_path):
    folder = tmp_path / "Ann_12_assignsubmission_file_"
    (folder / inside).mkdir(parents=True)
    (folder / inside / ".DS_Store").touch()
    tar_of({"utils.py": WORK}).rename(folder / inside / "hw1.tar.gz")
    got = taken(folder)
    assert (got.student, got.files) == ("ann_12", ("utils.py",))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("hw1.rar", "is a RAR archive; pack the files as .tar.gz or .zip"),
        ("hw1.zip", "is a RAR archive, whatever its name says; pack the files as .tar.gz or .zip"),
    ],
)
def test_an_archive_of_moodle_that_is_refused_is_named_with_its_folder(name, line, refusal, tmp_path):
    folder = tmp_path / "Ann_12_assignsubmission_file_"
    folder.mkdir()
    (folder / name).write_bytes(b"Rar!")
    assert refusal(folder) == f"Ann_12_assignsubmission_file_/{name}: {line}"


@pytest.mark.parametrize("beside", ["report.pdf", "older.zip", "utils.py"])
def test_an_archive_beside_files_in_a_folder_of_moodle_is_refused(beside, tar_of, refusal, tmp_path):
    folder = tmp_path / "Ann_12_assignsubmission_file_"
    folder.mkdir()
    tar_of({"utils.py": WORK}).rename(folder / "hw1.tar.gz")
    (folder / beside).write_bytes(WORK)
    assert refusal(folder) == (
        "Ann_12_assignsubmission_file_: holds an archive (hw1.tar.gz) with other files beside it; "
        "hand in everything in one archive, or all files without one"
    )
