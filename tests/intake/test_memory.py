"""Unpacking takes less memory than what is unpacked, also where a header asks for more."""

from __future__ import annotations

import io
import lzma
import os
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.intake.limits import MIB
from grader.intake.xz import XzFile

LIMITED = """
import resource, sys
from pathlib import Path
from grader.errors import SubmissionError
from grader.intake.receive import receive
from grader.model.assignment import Assignment

resource.setrlimit(resource.RLIMIT_DATA, (100_000_000, 100_000_000))
course = {"hw1": Assignment(name="hw1", title="", accepts=("utils.py",))}
try:
    print(receive(Path(sys.argv[1]), assignments=course, workspace=Path(sys.argv[2])).files)
except SubmissionError as error:
    print(error)
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
print(peak.split()[1])
"""


def received_with_little_memory(source: Path) -> str:
    """What came of it, in a process that has 100 MB; and it never was larger than that."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, source, source.parent / "w"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer, peak_kib = done.stdout.splitlines()
    assert int(peak_kib) * 1024 < 100_000_000
    return answer


def as_tar(name: str, data: bytes) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    return info.tobuf() + data + bytes(-len(data) % 512)


def squeezed(data: bytes, dictionary: int) -> bytes:
    quick = {"preset": 0, "mode": lzma.MODE_FAST, "mf": lzma.MF_HC3, "nice_len": 273, "depth": 1}
    return lzma.compress(data, filters=[{"id": lzma.FILTER_LZMA2, **quick, "dict_size": dictionary}])


def tar_gz(path: Path, data: bytes) -> None:
    with tarfile.open(path, "w:gz", compresslevel=0) as archive:
        for name in ("data.bin", "utils.py"):
            info = tarfile.TarInfo(name)
            info.size = len(data) if name == "data.bin" else 0
            archive.addfile(info, io.BytesIO(data))


def tar_xz(path: Path, data: bytes) -> None:
    # The dictionary of `xz -9`, and enough to fill it.
    path.write_bytes(squeezed(as_tar("data.bin", data) + as_tar("utils.py", b"") + bytes(1024), 64 * MIB))


def zip_file(path: Path, data: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("data.bin", data)
        archive.writestr("utils.py", b"")


@pytest.mark.parametrize(
    ("ending", "pack"),
    [(".tar.gz", tar_gz), pytest.param(".tar.xz", tar_xz, marks=pytest.mark.slow), (".zip", zip_file)],
)
def test_a_hundred_megabytes_are_unpacked_in_less(ending: str, pack: Callable[..., None], tmp_path):
    source = tmp_path / f"alice{ending}"
    pack(source, os.urandom(MIB) + bytes(99 * MIB))
    assert received_with_little_memory(source) == "('utils.py',)"


def test_an_xz_that_asks_for_more_than_xz_itself_uses_is_refused(refusal, tmp_path):
    source = tmp_path / "alice.tar.xz"
    source.write_bytes(squeezed(as_tar("utils.py", b"x") + bytes(1024), 96 * MIB))
    line = "alice.tar.xz: takes too much memory to unpack; pack the files as .tar.gz or .zip"
    assert refusal(source) == line


def test_a_table_of_contents_as_long_as_is_read_takes_little(zip_of, tmp_path):
    data = zip_of({"utils.py": b""}).read_bytes()
    at, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
    table = data[at:end] * (4 * MIB // (end - at))
    tail = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, len(table), at, 0)
    (tmp_path / "alice.zip").write_bytes(data[:at] + table + tail)
    assert received_with_little_memory(tmp_path / "alice.zip").startswith("alice.zip: ")


@pytest.mark.parametrize("size", [1, 1000, MIB])
def test_an_xz_of_several_padded_streams_is_read_whole(size):
    parts = [os.urandom(3000), b"", bytes(200_000)]
    file = XzFile(io.BytesIO(b"".join(lzma.compress(part) + bytes(8) for part in parts)))
    read = bytearray()
    while piece := file.read(size):
        assert len(piece) == size or file.read(1) == b""
        read += piece
    assert read == b"".join(parts)


@pytest.mark.parametrize("cut", [1, 12, 100])
def test_an_xz_that_is_cut_off_says_so(cut):
    with pytest.raises(EOFError):
        XzFile(io.BytesIO(lzma.compress(os.urandom(1000))[:-cut])).read(2000)
