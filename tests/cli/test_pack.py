"""`grader pack` writes what is stale and nothing else, and with --check nothing at all."""

from __future__ import annotations

import gzip
import shutil
import sys

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
