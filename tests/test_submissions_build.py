"""The archives in submissions/ are what their sources say, whoever builds them and when."""

from __future__ import annotations

import gzip
import importlib.util
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def load_script():
    path = ROOT / "scripts" / "build_submissions.py"
    spec = importlib.util.spec_from_file_location("build_submissions", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = load_script()


@pytest.fixture
def sources(tmp_path):
    hand_in(tmp_path / "sources" / "ann", "about: a.\n", {"utils.py": "x = 1\n", "b/a.txt": "a"})
    hand_in(tmp_path / "sources" / "ben", "base: ann\n", {"utils.py": "x = 2\n"})
    hand_in(tmp_path / "sources" / "cleo", "archive: zip\n", {"z.py": "", "hw1/utils.py": "x = 3\n"})
    return tmp_path / "sources"


def hand_in(folder, expected, files):
    for path, text in files.items():
        target = folder / "files" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    (folder / "expected.yaml").write_text(expected)


def run(sources, *arguments):
    archives = sources.parent / "archives"
    return script.main([*arguments, "--sources", str(sources), "--archives", str(archives)])


def entries(archive):
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        return {entry.name: opened.extractfile(entry).read() for entry in opened}


def test_the_archives_of_this_repository_are_what_their_sources_say():
    assert script.stale(script.SOURCES, script.ARCHIVES) == {}


def test_a_tar_tells_nothing_of_when_where_and_by_whom_it_was_built(sources):
    name, archive = script.build(sources / "ann")
    assert name == "ann.tar.gz"
    # No name, no time, best compression, no system: the ten bytes that begin a gzip file.
    assert archive[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(archive))) as opened:
        told = [(e.name, e.mtime, e.uid, e.gid, e.uname, e.gname, e.mode) for e in opened]
    assert told == [(path, 0, 0, 0, "", "", 0o644) for path in ("b/a.txt", "utils.py")]


def test_a_zip_tells_nothing_of_when_where_and_by_whom_it_was_built(sources):
    name, archive = script.build(sources / "cleo")
    assert name == "cleo.zip"
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        told = [(e.filename, e.date_time, e.create_system, e.external_attr >> 16) for e in opened.infolist()]
    assert told == [(path, (1980, 1, 1, 0, 0, 0), 3, 0o644) for path in ("hw1/utils.py", "z.py")]


def test_a_submission_with_a_base_lays_its_own_files_over_it(sources):
    _, archive = script.build(sources / "ben")
    assert entries(archive) == {"b/a.txt": b"a", "utils.py": b"x = 2\n"}


def test_check_names_a_stale_archive_and_leaves_it(sources, capsys):
    assert run(sources) == 0
    assert run(sources, "--check") == 0
    (sources / "ann" / "files" / "utils.py").write_text("x = 4\n")
    archive = sources.parent / "archives" / "ann.tar.gz"
    before = archive.read_bytes()
    capsys.readouterr()
    assert run(sources, "--check") == 1
    assert capsys.readouterr().out == "archives/ann.tar.gz: stale; run scripts/build_submissions.py\n"
    assert archive.read_bytes() == before


def test_check_names_missing_broken_and_orphaned_archives(sources, capsys):
    run(sources)
    archives = sources.parent / "archives"
    (archives / "ann.tar.gz").unlink()
    (archives / "ben.tar.gz").write_bytes((archives / "ben.tar.gz").read_bytes()[:40])
    (archives / "cleo.zip").write_bytes(b"PK, but no zip")
    (archives / "dora.tar.gz").write_bytes(b"")
    capsys.readouterr()
    assert run(sources, "--check") == 1
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        f"archives/{name}" for name in ("ann.tar.gz", "ben.tar.gz", "cleo.zip", "dora.tar.gz")
    ]


def test_an_archive_that_is_only_compressed_otherwise_is_left_alone(sources):
    run(sources)
    archive = sources.parent / "archives" / "ann.tar.gz"
    head, content = archive.read_bytes()[:10], gzip.decompress(archive.read_bytes())
    otherwise = head + gzip.compress(content, 0, mtime=0)[10:]
    archive.write_bytes(otherwise)
    assert run(sources) == 0
    assert archive.read_bytes() == otherwise


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ("base: nobody\n", "base: nobody: name a submission that has no base itself"),
        ("base: ben\n", "base: ben: name a submission that has no base itself"),
        ("archive: rar\n", "archive: rar: must be one of tar.gz, zip"),
    ],
)
def test_a_wrong_key_is_one_line(sources, expected, said):
    hand_in(sources / "dora", expected, {"utils.py": ""})
    with pytest.raises(SystemExit, match=f"^dora/expected.yaml: {said}$"):
        script.build(sources / "dora")


def test_a_submission_without_files_is_one_line(sources):
    (sources / "dora").mkdir()
    hand_in(sources / "dora", "about: d.\n", {})
    with pytest.raises(SystemExit, match=r"^dora: hands in nothing"):
        script.build(sources / "dora")


def test_a_text_beside_the_sources_is_handed_in_as_a_pdf(sources):
    pypdf = pytest.importorskip("pypdf")
    (sources / "ann" / "hw1.txt").write_text("Times (all) \\ of max_gpu\n[picture]\n" + "line\n" * 90)
    _, archive = script.build(sources / "ann")
    written = entries(archive)["hw1.pdf"]
    report = pypdf.PdfReader(io.BytesIO(written), strict=True)
    assert report.pages[0].extract_text().startswith("Times (all) \\ of max_gpu\n")
    assert sum(page.extract_text().count("line") for page in report.pages) == 90
    assert len(report.pages) == 2
    assert "/P" in report.pages[0]["/Resources"]["/XObject"]
    assert entries(script.build(sources / "ann")[1])["hw1.pdf"] == written


def test_files_of_the_base_can_be_left_out(sources):
    (sources / "ben" / "without.txt").write_text("b/a.txt\n")
    assert entries(script.build(sources / "ben")[1]) == {"utils.py": b"x = 2\n"}


def test_leaving_out_what_the_base_does_not_have_is_one_line(sources):
    (sources / "ben" / "without.txt").write_text("b/b.txt\n")
    with pytest.raises(SystemExit, match=r"^ben/without.txt: b/b.txt: the base has no such file$"):
        script.build(sources / "ben")


def test_files_of_the_base_can_be_handed_in_elsewhere(sources):
    (sources / "ben" / "without.txt").write_text("b/a.txt -> c/a.txt\n")
    assert entries(script.build(sources / "ben")[1]) == {"c/a.txt": b"a", "utils.py": b"x = 2\n"}


def test_files_of_the_base_can_read_otherwise(sources):
    (sources / "ben" / "changes.yaml").write_text("b/a.txt:\n  - {was: a, is: b c}\n  - {was: b, is: d}\n")
    assert entries(script.build(sources / "ben")[1]) == {"b/a.txt": b"d c", "utils.py": b"x = 2\n"}


@pytest.mark.parametrize("changes", ["b/a.txt:\n  - {was: b, is: c}\n", "b/b.txt:\n  - {was: b, is: c}\n"])
def test_changing_what_the_base_does_not_say_once_is_one_line(sources, changes):
    (sources / "ben" / "changes.yaml").write_text(changes)
    with pytest.raises(SystemExit, match=r"^ben/changes.yaml: b/..txt: must hold once, and does not: 'b'$"):
        script.build(sources / "ben")


def test_what_a_compiler_made_is_named_alone(sources):
    (sources / "ben" / "binaries.txt").write_text("a.o\n")
    written = entries(script.build(sources / "ben")[1])
    assert sorted(written) == ["a.o", "b/a.txt", "utils.py"]
    assert written["a.o"].startswith(b"\x7fELF")


def test_the_report_of_the_reference_is_what_its_text_says():
    folder = ROOT / "assignments" / "cdp_hw1" / "reference"
    assert (folder / "hw1.pdf").read_bytes() == script.pdf((folder / "hw1.txt").read_text())
