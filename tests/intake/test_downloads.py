"""A class's submissions in a folder or in a platform's zip, and which of several attempts counts."""

from __future__ import annotations

import zipfile

import pytest

from grader.errors import SubmissionError
from grader.intake.attempts import attempts_of
from grader.intake.download import spread
from grader.intake.names import sender_of
from grader.model.roster import Roster

CANVAS = ("doejane_12_3_hw1.tar.gz", "roebob_LATE_13_4_hw1.zip", "anon_Ab1_5_hw1.tar-2.gz")


@pytest.fixture
def zip_of(tmp_path):
    def pack(*names: str, data: bytes = b"x" * 2000, name: str = "submissions.zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as file:
            for member in names:
                file.writestr(member, data)
        return tmp_path / name

    return pack


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "place"

    def make():
        folder.mkdir(exist_ok=True)
        return folder

    return make


def names(found):
    return [path.name for path in found.uploads]


def test_a_zip_of_canvas_is_its_submissions(zip_of, place):
    found = spread([zip_of(*CANVAS, "__MACOSX/x", ".DS_Store")], place)
    assert (names(found), found.several, found.problems) == (sorted(CANVAS), True, ())
    assert all(path.read_bytes() == b"x" * 2000 for path in found.uploads)


def test_a_zip_of_moodle_is_a_folder_for_each_submission(zip_of, place):
    packed = zip_of("Ann Ä_12_assignsubmission_file/hw1.zip", "Bo_13_assignsubmission_file/utils.py")
    found = spread([packed], place)
    assert names(found) == ["Ann Ä_12_assignsubmission_file", "Bo_13_assignsubmission_file"]
    assert [path.name for path in found.uploads[1].iterdir()] == ["utils.py"]


def test_folders_within_a_submission_of_moodle_are_kept(zip_of, place):
    (upload,) = spread([zip_of("Ann_12_assignsubmission_file_/code/hw1/utils.py")], place).uploads
    assert (upload / "code/hw1/utils.py").is_file()


def test_loose_files_of_moodle_are_its_submissions(zip_of, place):
    members = ("Ann_12_assignsubmission_file_hw1.pdf", "Ann_12_assignsubmission_file_utils.py")
    assert names(spread([zip_of(*members)], place)) == list(members)


def test_a_zip_that_was_packed_again_has_a_folder_around_what_the_platform_made(zip_of, place):
    packed = zip_of(*(f"class/{name}" for name in CANVAS), "class/.DS_Store", "__MACOSX/class/x")
    found = spread([packed], place)
    assert (names(found), found.several, found.problems) == (sorted(CANVAS), True, ())
    assert all(path.is_file() for path in found.uploads)


def test_no_student_hands_in_for_another(zip_of, place):
    """Of `submissions/*.zip`, or a class's own folder, a zip is its student's, whatever it holds."""
    forged = zip_of(*CANVAS, name="mallory.zip")
    alice = zip_of("utils.py", name="alice.zip")
    assert spread([alice, forged], place).uploads == (alice, forged)
    forged = forged.rename(forged.with_name("mallory_12_3_hw1.zip"))
    assert spread([forged], place).uploads == (forged,)


@pytest.mark.parametrize("name", ["alice.tar.gz", "roebob_13_4_utils.py"])
def test_no_student_hands_in_for_another_by_a_folder(tmp_path, place, name):
    """Of `repositories/*`, a folder is its student's, though it holds nothing but archives."""
    bob, forged = tmp_path / "bob", tmp_path / "mallory"
    for folder in (bob, forged):
        folder.mkdir()
    (bob / "utils.py").touch()
    (forged / name).touch()
    assert spread([bob, forged], place).uploads == (bob, forged)
    assert spread([forged, tmp_path / "alice.zip"], place).uploads == (forged, tmp_path / "alice.zip")


@pytest.mark.parametrize("name", ["mallory", "mallory+bob"])
def test_what_is_called_as_somebody_on_the_roster_is_no_class(zip_of, place, tmp_path, name):
    """It may be graded by itself, or only such uploads may have come in."""
    roster = ("alice", "bob", "mallory")
    forged = zip_of(*CANVAS, name=f"{name}.zip")
    folder = tmp_path / name
    folder.mkdir()
    (folder / "alice.tar.gz").touch()
    for path in (forged, folder):
        assert spread([path], place, roster).uploads == (path,)
    assert spread([forged, folder], place, roster).uploads == (forged, folder)
    assert names(spread([forged], place, roster[:2])) == sorted(CANVAS)


@pytest.mark.parametrize(
    "members", [("utils.py",), (*CANVAS, "utils.py"), ("hw1.tar.gz",), ("__MACOSX/x",), ()], ids=str
)
def test_any_other_zip_is_one_submission(zip_of, place, members):
    packed = zip_of(*members)
    found = spread([packed], place)
    assert (found.uploads, found.several) == ((packed,), False)


def test_what_is_not_there_or_damaged_stands_for_itself(tmp_path, place):
    damaged, missing = tmp_path / "a.zip", tmp_path / "b.zip"
    damaged.write_bytes(b"PK\3\4 and then nothing")
    assert spread([damaged, missing], place).uploads == (damaged, missing)


def test_a_folder_with_nothing_but_archives_is_its_archives(tmp_path, place):
    folder = tmp_path / "class"
    folder.mkdir()
    for name in ("bob.zip", "alice.tar.gz", "cy.rar", ".DS_Store"):
        (folder / name).touch()
    found = spread([folder], place)
    assert (names(found), found.several) == (["alice.tar.gz", "bob.zip", "cy.rar"], True)
    (folder / "utils.py").touch()
    found = spread([folder], place)
    assert (found.uploads, found.several) == ((folder,), False)


def test_folders_with_an_archive_each_are_a_students_each(tmp_path, place):
    for path in ("ann/hw1.zip", "bob/hw1.zip", "cid/hw.zip", "cid/old.zip", "dan/hw1.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    folders = [tmp_path / name for name in ("ann", "bob", "cid", "dan")]
    assert spread(folders, place).uploads == tuple(folders)
    assert spread([folders[0], folders[3]], place).uploads == (folders[0], folders[3])
    # folders of a class
    assert spread([folders[2], folders[0]], place).uploads[0] == tmp_path / "cid/hw.zip"


def test_a_folder_that_moodle_made_for_one_submission_is_one(tmp_path, place):
    folder = tmp_path / "Ann_12_assignsubmission_file"
    folder.mkdir()
    (folder / "hw1.zip").touch()
    assert spread([folder], place).uploads == (folder,)


def test_what_was_typed_in_is_named_and_the_rest_is_taken(zip_of, place):
    found = spread([zip_of(*CANVAS, "poeann_14_text.html", "Cy_1_assignsubmission_onlinetext/x.html")], place)
    assert names(found) == sorted(CANVAS)
    assert [problem.partition(":")[0] for problem in found.problems] == [
        "Cy_1_assignsubmission_onlinetext",
        "poeann_14_text.html",
    ]
    assert [sender_of(name).student for name in found.unread] == ["cy_1", "poeann_14"]


def test_one_damaged_member_loses_nobody_else(zip_of, place):
    packed = zip_of(*CANVAS)
    data = bytearray(packed.read_bytes())
    data[100] ^= 0xFF  # within the first member
    packed.write_bytes(data)
    found = spread([packed], place)
    assert names(found) == sorted(CANVAS[1:])
    (problem,) = found.problems
    assert found.unread == CANVAS[:1]
    assert CANVAS[0] in problem
    assert "damaged" in problem


def test_a_zip_that_names_a_file_twice_is_refused(zip_of, place):
    with pytest.warns(UserWarning, match="Duplicate"):
        packed = zip_of(CANVAS[0], CANVAS[0])
    with pytest.raises(SubmissionError, match="twice"):
        spread([packed], place)


def told(found):
    return [(one.newest.name, [older.name for older in one.older]) for one in found]


def test_attempts_of_one_student_are_together_the_newest_first(tmp_path):
    names = ("d_12_3_hw1.zip", "d_12_9_hw1-2.zip", "e_13_4_hw1-1.zip", "d_12_5_hw1-1.zip", "f.zip")
    assert told(attempts_of([tmp_path / name for name in names], Roster())) == [
        ("d_12_9_hw1-2.zip", ["d_12_5_hw1-1.zip", "d_12_3_hw1.zip"]),
        ("e_13_4_hw1-1.zip", []),
        ("f.zip", []),
    ]


def test_other_files_of_a_student_are_no_attempts_of_each_other(tmp_path):
    names = ("d_12_3_hw1.zip", "d_12_4_hw2-1.zip", "d_12_8_hw1.zip", "no name ?.zip", "a/f.zip", "b/f.zip")
    found = attempts_of([tmp_path / name for name in names], Roster())
    assert [older for _, older in told(found)] == [[]] * len(names)
