"""Whatever an archive holds: nothing outside the workspace, nothing after a refusal, what `tarfile` reads."""

from __future__ import annotations

import io
import tarfile
import tempfile
import warnings
import zipfile
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.errors import SubmissionError
from grader.intake import tar
from grader.intake.entry import SubmissionRefused
from grader.intake.receive import receive
from grader.model.assignment import Assignment

COURSE = {"hw1": Assignment(name="hw1", title="", accepts=("*.py", "src/*", "*/*/*"))}

parts = st.one_of(
    st.sampled_from(
        ["..", ".", "", "/", "\\", "src", "Src", "utils.py", "Utils.py", "C:", "~", "\0", "\udcff", "\n"]
    ),
    st.text(st.characters(codec="utf-8"), max_size=8),
)
names = st.one_of(st.lists(parts, max_size=5).map("/".join), st.lists(parts, max_size=5).map("\\".join))
tar_types = st.sampled_from(
    [tarfile.REGTYPE] * 4 + [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE]
)


def packed_tar(members: list[tuple[str, bytes, bytes, str]], form: int = tarfile.GNU_FORMAT) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(
        fileobj=packed, mode="w", format=form, encoding="utf-8", errors="surrogateescape"
    ) as archive:
        for name, kind, data, target in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            info.size = len(data) if kind == tarfile.REGTYPE else 0
            archive.addfile(info, io.BytesIO(data))
    return packed.getvalue()


def packed_zip(files: list[tuple[str, bytes]]) -> bytes:
    packed = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w") as archive:
        warnings.simplefilter("ignore")
        for name, data in files:
            archive.writestr(zipfile.ZipInfo(name) if name else zipfile.ZipInfo("x"), data)
    return packed.getvalue()


def names_below(top: Path) -> list[str]:
    return sorted(str(path.relative_to(top)) for path in top.rglob("*"))


def check_that_it_stays_inside(name: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        (top / "in").mkdir()
        (top / "in" / name).write_bytes(data)
        workspace = top / "out" / "workspace"
        try:
            got = receive(top / "in" / name, assignments=COURSE, workspace=workspace)
        except SubmissionError as error:
            refusal = error.problems
        else:
            refusal = ()
        if refusal:
            assert [line for text in refusal for line in text.splitlines()] == [refusal[0]]
            assert names_below(top) == ["in", f"in/{name}"]
            return
        files = [p for p in workspace.rglob("*") if not p.is_dir()]
        assert all(p.is_file() and not p.is_symlink() for p in files)
        assert sorted(str(p.relative_to(workspace)) for p in files) == sorted(got.files)
        outside = [path for path in names_below(top) if not path.startswith("out/workspace/")]
        assert outside == ["in", f"in/{name}", "out", "out/workspace"]


@given(st.lists(st.tuples(names, tar_types, st.binary(max_size=20), names), max_size=6))
@example([("../evil.py", tarfile.REGTYPE, b"", "")])
@example([("src", tarfile.SYMTYPE, b"", "/tmp"), ("src/evil.py", tarfile.REGTYPE, b"", "")])
def test_a_tar_never_reaches_outside_its_workspace(members):
    check_that_it_stays_inside("alice.tar", packed_tar(members))


@given(
    st.lists(st.tuples(names.filter(lambda name: "\udcff" not in name), st.binary(max_size=20)), max_size=6)
)
@example([("../evil.py", b"")])
def test_a_zip_never_reaches_outside_its_workspace(files):
    check_that_it_stays_inside("alice.zip", packed_zip(files))


FILES = {"utils.py": b"x = 1\n" * 50, "src/kernel.cu": bytes(600), "notes": b"", "a" * 120 + "/b": b"long"}
WHOLE = {
    "alice.tar": packed_tar([(n, tarfile.REGTYPE, d, "") for n, d in FILES.items()], tarfile.PAX_FORMAT),
    "alice.zip": packed_zip(list(FILES.items())),
}


@pytest.mark.parametrize("name", WHOLE)
@given(st.data())
def test_damaged_bytes_end_in_a_refusal_or_in_files(name, data):
    damaged = bytearray(WHOLE[name])
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    check_that_it_stays_inside(name, bytes(damaged[: data.draw(st.integers(1, len(damaged)))]))
    check_that_it_stays_inside(name, bytes(damaged))


def read_by_us(data: bytes) -> list[tuple[str, bool, bytes, str]]:
    return [
        (m.name.rstrip("/"), m.kind.value == "a file", m.read(1 << 20), m.target)
        for m in tar.members(io.BytesIO(data).read)
    ]


plain = st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=60)
paths = st.lists(plain, min_size=1, max_size=5).map("/".join)


@given(
    st.lists(st.tuples(paths, tar_types, st.binary(max_size=1500), paths), min_size=1, max_size=5),
    st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
)
@example([("a" * 90 + "/" + "b" * 90, tarfile.REGTYPE, b"x", "")], tarfile.USTAR_FORMAT)
def test_the_reader_of_tar_agrees_with_the_standard_library(members, form):
    data = packed_tar(members, form)
    with closing(tarfile.open(fileobj=io.BytesIO(data), encoding="utf-8")) as archive:
        expected = [
            (m.name.rstrip("/"), m.isreg(), archive.extractfile(m).read() if m.isreg() else b"", m.linkname)
            for m in archive
        ]
    assert read_by_us(data) == expected


@given(st.binary(max_size=3000))
def test_no_bytes_break_the_reader_of_tar(data):
    with suppress(SubmissionRefused):
        read_by_us(data)
