"""A submission is packed from its folder, whoever packs it and when."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zipfile

import pytest

from grader.errors import CourseError
from grader.packing.submissions import build, orphans, outdated, sources_in, stale
from grader.subject.tools.pdf import read_pdf


@pytest.fixture
def sources(tmp_path):
    submission(tmp_path / "sources" / "ann", "about: a.\n", {"utils.py": "x = 1\n", "b/a.txt": "a"})
    submission(tmp_path / "sources" / "ben", "base: ann\n", {"utils.py": "x = 2\n"})
    submission(tmp_path / "sources" / "cleo", "archive: zip\n", {"z.py": "", "hw1/utils.py": "x = 3\n"})
    return tmp_path / "sources"


def submission(folder, expected, files):
    for path, text in files.items():
        target = folder / "files" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    (folder / "expected.yaml").write_text(expected)


def entries(archive):
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        return {entry.name: opened.extractfile(entry).read() for entry in opened}


@pytest.mark.parametrize("name", ["ann again", "-ann", "ann+", "añn"])
def test_a_folder_that_is_called_as_no_student_can_be_is_refused(sources, name):
    submission(sources / name, "about: a.\n", {"utils.py": ""})
    with pytest.raises(CourseError, match=r"is called as nobody can be .*; rename it: letters A-Z, digits"):
        build(sources / name)
    (sources / name / "expected.yaml").write_text("about: a.\nrefused: its name does not say\n")
    assert build(sources / name)[0] == f"{name}.tar.gz"


def test_a_tar_tells_nothing_of_when_where_and_by_whom_it_was_built(sources):
    name, archive = build(sources / "ann")
    assert name == "ann.tar.gz"
    # No name, no time, best compression, no system: the ten bytes that begin a gzip file.
    assert archive[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(archive))) as opened:
        told = [(e.name, e.mtime, e.uid, e.gid, e.uname, e.gname, e.mode) for e in opened]
    assert told == [(path, 0, 0, 0, "", "", 0o644) for path in ("b/a.txt", "utils.py")]


def test_a_zip_tells_nothing_of_when_where_and_by_whom_it_was_built(sources):
    name, archive = build(sources / "cleo")
    assert name == "cleo.zip"
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        told = [(e.filename, e.date_time, e.create_system, e.external_attr >> 16) for e in opened.infolist()]
    assert told == [(path, (1980, 1, 1, 0, 0, 0), 3, 0o644) for path in ("hw1/utils.py", "z.py")]


def test_a_submission_with_a_base_lays_its_own_files_over_it(sources):
    _, archive = build(sources / "ben")
    assert entries(archive) == {"b/a.txt": b"a", "utils.py": b"x = 2\n"}


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ("base: nobody\n", "base: nobody: name a submission that has no base itself"),
        ("base: ben\n", "base: ben: name a submission that has no base itself"),
        ("archive: rar\n", "archive: rar: must be one of tar.gz, zip"),
    ],
)
def test_a_wrong_key_is_one_line(sources, expected, said):
    submission(sources / "dora", expected, {"utils.py": ""})
    with pytest.raises(CourseError, match=f"/dora/expected.yaml: {said}$"):
        build(sources / "dora")


def test_a_submission_without_files_is_one_line(sources):
    (sources / "dora").mkdir()
    submission(sources / "dora", "about: d.\n", {})
    with pytest.raises(CourseError, match=r"/dora: hands in nothing"):
        build(sources / "dora")


def test_a_text_beside_the_sources_is_handed_in_as_a_pdf(sources, tmp_path):
    (sources / "ann" / "hw1.txt").write_text("Times (all) \\ of max_gpu\n[picture]\n" + "line\n" * 90)
    _, archive = build(sources / "ann")
    written = entries(archive)["hw1.pdf"]
    (tmp_path / "hw1.pdf").write_bytes(written)
    report = read_pdf(str(tmp_path / "hw1.pdf"))
    assert report.texts[0].startswith("Times (all) \\ of max_gpu")
    assert sum(text.count("line") for text in report.texts) == 90
    assert (report.pages, len(report.pictures), report.hidden) == (2, 1, 0)
    assert entries(build(sources / "ann")[1])["hw1.pdf"] == written


def test_the_parts_of_a_word_document_are_handed_in_as_one_uncompressed_file(sources):
    parts = {"[Content_Types].xml": "<Types/>", "word/document.xml": "<document>\u5171\u4eab</document>"}
    for path, text in parts.items():
        part = sources / "ann" / "answers.docx" / path
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
    written = entries(build(sources / "ann")[1])
    assert sorted(written) == ["answers.docx", "b/a.txt", "utils.py"]
    with zipfile.ZipFile(io.BytesIO(written["answers.docx"])) as opened:
        stored = [(e.filename, e.compress_type, opened.read(e).decode()) for e in opened.infolist()]
    assert stored == [(path, zipfile.ZIP_STORED, text) for path, text in parts.items()]


@pytest.mark.parametrize("lines", ["b/a.txt\n", "b/a.txt", "\nb/a.txt\n\n"])
def test_files_of_the_base_can_be_left_out(sources, lines):
    (sources / "ben" / "without.txt").write_text(lines)
    assert entries(build(sources / "ben")[1]) == {"utils.py": b"x = 2\n"}


def test_leaving_out_what_the_base_does_not_have_is_one_line(sources):
    (sources / "ben" / "without.txt").write_text("b/b.txt\n")
    line = r"/ben/without.txt: b/b.txt: ann hands in no such file; did you mean b/a.txt\?$"
    with pytest.raises(CourseError, match=line):
        build(sources / "ben")


def test_files_of_the_base_can_be_handed_in_elsewhere(sources):
    (sources / "ben" / "without.txt").write_text("b/a.txt -> c/a.txt\n")
    assert entries(build(sources / "ben")[1]) == {"c/a.txt": b"a", "utils.py": b"x = 2\n"}


def test_files_of_the_base_can_read_otherwise(sources):
    (sources / "ben" / "changes.yaml").write_text("b/a.txt:\n  - {was: a, is: b c}\n  - {was: b, is: d}\n")
    assert entries(build(sources / "ben")[1]) == {"b/a.txt": b"d c", "utils.py": b"x = 2\n"}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ("b/a.txt: [{was: b, is: c}]", "b/a.txt: must hold once, and holds nowhere: 'b'"),
        (
            "b/a.txt: [{was: a, is: c c}, {was: c, is: d}]",
            "b/a.txt: must hold once, and holds 2 times: 'c'",
        ),
        ("b/b.txt: [{was: b, is: c}]", "b/b.txt: ann hands in no such file; did you mean b/a.txt?"),
        (
            "files/b/a.txt: [{was: a, is: c}]",
            "files/b/a.txt: ann hands in no such file; did you mean b/a.txt?",
        ),
    ],
)
def test_changing_what_the_base_does_not_say_once_is_one_line(sources, changes, line):
    (sources / "ben" / "changes.yaml").write_text(changes)
    with pytest.raises(CourseError, match=f"/ben/changes.yaml: {re.escape(line)}$"):
        build(sources / "ben")


@pytest.mark.parametrize("name", ["changes.yaml", "without.txt"])
def test_a_change_without_a_base_is_one_line(sources, name):
    (sources / "ann" / name).write_text("utils.py: []\n" if name == "changes.yaml" else "utils.py\n")
    with pytest.raises(CourseError, match=r"utils\.py: there is no base; name one in expected\.yaml$"):
        build(sources / "ann")


def test_what_a_compiler_made_is_named_alone(sources):
    (sources / "ben" / "binaries.txt").write_text("a.o\n")
    written = entries(build(sources / "ben")[1])
    assert sorted(written) == ["a.o", "b/a.txt", "utils.py"]
    assert written["a.o"].startswith(b"\x7fELF")


@pytest.mark.parametrize("changes", ["- a\n", "b/a.txt: [{was: a}]\n", "b/a.txt: a\n"])
def test_changes_that_are_none_are_one_line(sources, changes):
    (sources / "ben" / "changes.yaml").write_text(changes)
    with pytest.raises(CourseError, match=r"/ben/changes.yaml: .*must be a "):
        build(sources / "ben")


def test_a_report_with_an_accent_is_one_line(sources):
    (sources / "ann" / "hw1.txt").write_text("caf\u00e9", encoding="utf-8")
    with pytest.raises(CourseError, match=r"/ann/hw1.txt: byte 3: a report is made of ASCII letters"):
        build(sources / "ann")


def test_all_that_is_wrong_with_any_source_is_told_at_once(sources, tmp_path):
    submission(sources / "dora", "archive: rar\n", {"utils.py": ""})
    submission(sources / "emil", "about: [\n", {"utils.py": ""})
    with pytest.raises(CourseError) as caught:
        stale(sources_in(sources), tmp_path)
    assert len(caught.value.problems) == 2
    assert "/dora/expected.yaml: archive: rar" in caught.value.problems[0]
    assert "/emil/expected.yaml:" in caught.value.problems[1]


def test_an_archive_is_outdated_if_its_files_are_others_however_it_was_packed(sources, tmp_path):
    archive = tmp_path / "ann.tar.gz"
    assert not outdated(sources / "ann", archive)  # whoever asks says that it is missing
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(sources / "ann" / "files", ".")
        packed.add(sources / "ann" / "files" / "utils.py", "utils.py")
    assert outdated(sources / "ann", archive)  # ./utils.py is there as well
    with tarfile.open(archive, "w:gz") as packed:
        for name in ("utils.py", "b/a.txt"):
            packed.add(sources / "ann" / "files" / name, name)
    assert not outdated(sources / "ann", archive)
    (sources / "ann" / "files" / "utils.py").write_text("x = 7\n")
    assert outdated(sources / "ann", archive)
    archive.write_bytes(b"\x1f\x8b no archive")
    assert not outdated(sources / "ann", archive)
    (tmp_path / "cleo.zip").write_bytes(build(sources / "cleo")[1])
    assert not outdated(sources / "cleo", tmp_path / "cleo.zip")


def test_what_no_source_builds_is_an_orphan(sources, tmp_path):
    (tmp_path / "cleo.tar.gz").write_bytes(b"")
    (tmp_path / "cleo.zip").write_bytes(b"")
    assert orphans(sources_in(sources), tmp_path) == ("cleo.tar.gz",)
