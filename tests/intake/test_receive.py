"""From an archive or a folder to a submission and a workspace."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from pathlib import Path

import pytest

from grader.errors import CourseError, NotObservedError, SubmissionError, UsageError
from grader.model.assignment import Assignment
from grader.model.roster import Roster, Student

WORK = b"def add(x, y):\n    return x + y\n"
FILES = {"utils.py": WORK, "max_functions.py": b"pass\n", "notes.txt": b"late again"}
MODES = {".tar": "w", ".tar.gz": "w:gz", ".tgz": "w:gz", ".tar.bz2": "w:bz2", ".tar.xz": "w:xz"}


def held(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize("ending", [*MODES, ".zip", ""])
def test_every_form_gives_the_same_submission(ending, tar_of, zip_of, taken, tmp_path):
    if ending == ".zip":
        source = zip_of(FILES)
    elif ending:
        source = tar_of(FILES, f"alice{ending}", MODES[ending])
    else:
        source = tmp_path / "alice"
        source.mkdir()
        for name, data in FILES.items():
            (source / name).write_bytes(data)

    got = taken(source)

    assert (got.student, got.assignment, got.archive) == ("alice", "hw1", f"alice{ending}")
    assert got.files == ("max_functions.py", "utils.py")
    assert got.dropped == ("notes.txt",)
    assert got.submitted_at is None
    assert held(tmp_path / "results/workspace") == {"max_functions.py": b"pass\n", "utils.py": WORK}
    lines = "".join(f"{hashlib.sha256(FILES[f]).hexdigest()}  {f}\n" for f in got.files)
    assert got.digest == f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"


@pytest.mark.parametrize("form", ["tar", "zip", "folder"])
def test_a_file_of_many_pieces_arrives_whole(form, tar_of, zip_of, taken, tmp_path):
    data = os.urandom(200_001)
    source = tmp_path / "alice"
    if form == "folder":
        source.mkdir()
        (source / "utils.py").write_bytes(data)
    else:
        source = {"tar": tar_of, "zip": zip_of}[form]({"utils.py": data})
    taken(source)
    assert held(tmp_path / "results/workspace") == {"utils.py": data}


def test_archives_of_the_systems_own_tools_are_read(taken, tmp_path):
    source = tmp_path / "src"
    (source / "hw1").mkdir(parents=True)
    (source / "hw1/utils.py").write_bytes(WORK)
    subprocess.run(["tar", "czf", tmp_path / "alice.tar.gz", "-C", source, "."], check=True)
    got = taken(tmp_path / "alice.tar.gz")
    assert held(tmp_path / "results/workspace") == {"utils.py": WORK}
    assert got.dropped == ()


def test_digest_tells_a_byte_and_a_name_but_not_how_files_were_packed(
    tar_of, zip_of, taken, tmp_path, course
):
    def digest(source: Path) -> str:
        return taken(source, workspace=tmp_path / f"w{len(list(tmp_path.iterdir()))}").digest

    plain = digest(tar_of({"utils.py": WORK}))
    assert digest(zip_of({"hw/notes": b"", "hw/utils.py": WORK}, "alice2.zip")) == plain
    assert digest(tar_of({"utils.py": WORK + b"\n"}, "alice3.tar.gz")) != plain
    assert digest(tar_of({"max_functions.py": WORK}, "alice4.tar.gz")) != plain


def test_permissions_do_not_come_from_the_archive_or_the_umask(tar_of, taken, tmp_path, course):
    import tarfile

    course["hw1"] = Assignment(name="hw1", title="", accepts=("src/utils.py",))
    info = tarfile.TarInfo("src/utils.py")
    info.mode = 0o4777
    before = os.umask(0o077)
    try:
        taken(tar_of([(info, WORK)]))
    finally:
        os.umask(before)
    workspace = tmp_path / "results/workspace"
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in [workspace, *workspace.rglob("*")]}
    assert modes == {"workspace": 0o755, "src": 0o755, "utils.py": 0o644}


def test_an_empty_workspace_is_filled_and_nothing_else_stays(tar_of, taken, tmp_path):
    workspace = tmp_path / "results/workspace"
    workspace.mkdir(parents=True)
    taken(tar_of({"utils.py": WORK, "max_functions.py.txt": b""}))
    assert [p.name for p in (tmp_path / "results").iterdir()] == ["workspace"]
    assert held(workspace) == {"utils.py": WORK}


def test_a_workspace_with_something_in_it_is_left_alone(tar_of, taken, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.py").write_bytes(b"precious")
    with pytest.raises(UsageError, match="full: is not empty; name a place that does not exist yet"):
        taken(tar_of({"utils.py": WORK}), workspace=tmp_path / "full")
    with pytest.raises(UsageError, match=r"mine.py: cannot be used \(Not a directory\); name another place"):
        taken(tmp_path / "alice.tar.gz", workspace=tmp_path / "full/mine.py")
    assert held(tmp_path / "full") == {"mine.py": b"precious"}


def test_a_workspace_in_the_folder_handed_in_is_refused(taken, tmp_path):
    source = tmp_path / "alice"
    source.mkdir()
    (source / "utils.py").write_bytes(WORK)
    with pytest.raises(UsageError, match="lies in the folder that is handed in; name a place outside"):
        taken(source, workspace=source / "results/workspace")
    assert held(source) == {"utils.py": WORK}


def test_a_place_that_cannot_be_written_is_the_machines_trouble(tar_of, taken, tmp_path):
    workspace = tmp_path / "w" / ("x" * 300)
    line = r"cannot be filled \(File name too long\); make room or choose another place"
    with pytest.raises(NotObservedError, match=line):
        taken(tar_of({"utils.py": WORK}), workspace=workspace)
    assert not (tmp_path / "w").exists()


def test_student_and_assignment_can_be_said(tar_of, taken, course):
    course["hw2"] = Assignment(name="hw2", title="", accepts=("utils.py", "max_functions.py", "*.txt"))
    got = taken(tar_of(FILES), student="team-7", assignment="hw1")
    assert (got.student, got.assignment) == ("team-7", "hw1")


def test_an_assignment_that_is_not_there_is_named_with_those_that_are(tar_of, taken):
    with pytest.raises(UsageError, match="--assignment hw9: there is none of that name; there are hw1"):
        taken(tar_of(FILES), assignment="hw9")


def test_a_course_without_assignments_says_so(tar_of, taken):
    with pytest.raises(CourseError, match="assignments: there are none"):
        taken(tar_of(FILES), assignments={})


def test_what_is_not_there_or_no_file_is_a_usage_error(taken, tmp_path):
    os.mkfifo(tmp_path / "pipe.tar.gz")
    for name, line in {
        "nobody.tar.gz": "cannot be read (No such file or directory); give an archive or a folder",
        "pipe.tar.gz": "is no file and no folder; give an archive or a folder",
        "nul\0.tar.gz": "cannot be read (no file can have this name); give an archive or a folder",
    }.items():
        with pytest.raises(UsageError) as caught:
            taken(tmp_path / name)
        assert caught.value.problems[0].endswith(line)
        assert "\0" not in caught.value.problems[0]
    with pytest.raises(UsageError, match="/dev/null: is no file and no folder"):
        taken(Path("/dev/null"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_archive_that_may_not_be_read_is_a_usage_error(tar_of, taken):
    source = tar_of(FILES)
    source.chmod(0)
    with pytest.raises(UsageError, match=r"cannot be read \(Permission denied\)"):
        taken(source)


def test_a_folder_is_known_by_its_real_name(taken, tmp_path, monkeypatch):
    (tmp_path / "alice").mkdir()
    (tmp_path / "alice/utils.py").write_bytes(WORK)
    monkeypatch.chdir(tmp_path / "alice")
    got = taken(Path(), workspace=tmp_path / "w")
    assert (got.student, got.archive) == ("alice", "alice")


def test_the_archive_in_a_folder_of_moodle_is_taken_as_the_student_named_it(tar_of, taken, tmp_path):
    folder = tmp_path / "Jane Doe_123_assignsubmission_file"
    folder.mkdir()
    archive = tar_of({"utils.py": WORK}, f"{folder.name}/1 (2).tar.gz")
    for number, source in enumerate((archive, folder)):
        got = taken(source, workspace=tmp_path / f"w{number}")
        assert (got.student, got.archive, got.files) == ("janedoe_123", "1 (2).tar.gz", ("utils.py",))


def test_a_folder_of_moodle_with_the_files_themselves_is_taken_as_it_lies(taken, tmp_path):
    folder = tmp_path / "Jane Doe_123_assignsubmission_file"
    folder.mkdir()
    (folder / "mnist.pkl.gz").write_bytes(b"data, and no archive of the homework")
    (folder / "utils.py").write_bytes(WORK)
    got = taken(folder)
    assert (got.student, got.archive, got.dropped) == ("janedoe_123", folder.name, ("mnist.pkl.gz",))
    assert held(tmp_path / "results/workspace") == {"utils.py": WORK}


@pytest.mark.parametrize(
    ("name", "student", "members", "told"),
    [
        ("doejane_LATE_12345_67890_hw1.tar-2.gz", "doejane_12345", (), ("12345", 2, True)),
        ("doejane_12345_67890_hw1-2.tar.gz", "doejane_12345", (), ("12345", 2, False)),
        ("bob+alice.tar.gz", "alice+bob", ("alice", "bob"), (None, None, False)),
        ("doebob_777_67890_hw1.tar.gz", "alice+bob", ("alice", "bob"), ("777", None, False)),
    ],
)
def test_platforms_teams_and_the_roster_are_understood(name, student, members, told, tar_of, taken):
    got = taken(
        tar_of({"utils.py": WORK}, name),
        roster=Roster(students=(Student(student="alice+bob", canvas_id="777"),)),
    )
    assert (got.student, got.members, got.archive) == (student, members, name)
    assert (got.lms_id, got.attempt, got.marked_late) == told


def test_a_team_larger_than_the_assignment_allows_is_not_accepted(tar_of, taken, tmp_path):
    teams = {"hw1": Assignment(name="hw1", title="", accepts=("utils.py",), team_at_most=2)}
    assert taken(tar_of(FILES, "bob+alice.tar.gz"), assignments=teams).members == ("alice", "bob")
    with pytest.raises(SubmissionError, match="is of 3 students, and teams of hw1 have at most 2"):
        taken(tar_of(FILES, "alice+bob+carol.tar.gz"), assignments=teams, workspace=tmp_path / "second")


@pytest.mark.parametrize("size", [-1, True, "3"])
def test_a_size_of_teams_that_is_no_number_is_refused(size):
    with pytest.raises(ValueError, match="team_at_most"):
        Assignment(name="hw1", title="", accepts=("utils.py",), team_at_most=size)
