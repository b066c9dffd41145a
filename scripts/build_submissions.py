"""Builds submissions/*.tar.gz and *.zip from tests/submissions, the same bytes every time.

A folder of `tests/submissions` holds `expected.yaml` and, below `files/`, what the student hands in. There
`base: NAME` lays these files over those of another submission, and `archive: zip` makes a zip.
"""

from __future__ import annotations

import argparse
import gzip
import io
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "tests" / "submissions"
ARCHIVES = ROOT / "submissions"

MODE = 0o644
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
GZIP_HEADER_BYTES = 10

Files = Mapping[str, bytes]


def files_of(folder: Path) -> dict[str, bytes]:
    """What one submission hands in: content by path, sorted by path.

    Raises:
        SystemExit: it has no files, or names a base that is not there or has a base itself.
    """
    base = _expected(folder).get("base")
    files: dict[str, bytes] = {}
    if base is not None:
        below = folder.parent / base
        if not (below / "expected.yaml").is_file() or "base" in _expected(below):
            sys.exit(f"{folder.name}/expected.yaml: base: {base}: name a submission that has no base itself")
        files.update(files_of(below))
    own = folder / "files"
    files.update(
        (path.relative_to(own).as_posix(), path.read_bytes())
        for path in own.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    if not files:
        sys.exit(f"{folder.name}: hands in nothing; put its files below {folder.name}/files")
    return dict(sorted(files.items()))


def tar_gz(files: Files) -> bytes:
    """A gzipped tar in which nothing tells when, where and by whom it was made."""
    packed = io.BytesIO()
    # GzipFile rather than tarfile's "w:gz", which writes the time and the file's name.
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as stream:
        stream.write(_tar(files))
    return packed.getvalue()


def _tar(files: Files) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode, entry.mtime = len(content), MODE, 0
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def zip_file(files: Files) -> bytes:
    """A zip in which nothing tells when, where and by whom it was made."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, date_time=ZIP_EPOCH)
            entry.create_system = 3  # Unix, on whatever system it is built
            entry.external_attr = MODE << 16
            archive.writestr(entry, content, compress_type=zipfile.ZIP_DEFLATED, compresslevel=9)
    return packed.getvalue()


FORMATS: Mapping[str, Callable[[Files], bytes]] = {"tar.gz": tar_gz, "zip": zip_file}


def build(folder: Path) -> tuple[str, bytes]:
    """The archive of one submission: its file name and its bytes."""
    suffix = _expected(folder).get("archive", "tar.gz")
    if suffix not in FORMATS:
        sys.exit(f"{folder.name}/expected.yaml: archive: {suffix}: must be one of {', '.join(FORMATS)}")
    return f"{folder.name}.{suffix}", FORMATS[suffix](files_of(folder))


def same(one: bytes, other: bytes) -> bool:
    """Whether two archives have the same headers and contents; how small they are is zlib's affair."""
    return one == other or _opened(one) == _opened(other)


def _opened(archive: bytes) -> object:
    try:
        if archive.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(archive)) as opened:
                return [
                    (
                        entry.filename,
                        entry.date_time,
                        entry.create_system,
                        entry.external_attr,
                        opened.read(entry),
                    )
                    for entry in opened.infolist()
                ]
        return archive[:GZIP_HEADER_BYTES], gzip.decompress(archive)
    except (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        return f"unreadable: {error}"


def stale(sources: Path, archives: Path) -> dict[str, bytes | None]:
    """Archives that differ from their sources, with what they should be; None for one that has no source."""
    built = dict(build(path.parent) for path in sorted(sources.glob("*/expected.yaml")))
    found = {path.name: path.read_bytes() for path in sorted(archives.glob("*")) if path.is_file()}
    outdated = {name: content for name, content in built.items() if not same(found.get(name, b""), content)}
    return outdated | dict.fromkeys(found.keys() - built.keys())


def main(arguments: list[str] | None = None) -> int:
    """Write what is stale, or with `--check` only name it and return 1 if there is any."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; end with 1 if an archive is stale"
    )
    parser.add_argument("--sources", type=Path, default=SOURCES)
    parser.add_argument("--archives", type=Path, default=ARCHIVES)
    options = parser.parse_args(arguments)
    outdated = stale(options.sources, options.archives)
    for name, content in sorted(outdated.items()):
        if content is None:
            print(f"{options.archives.name}/{name}: has no source; remove it or add its sources")
        elif options.check:
            print(f"{options.archives.name}/{name}: stale; run scripts/build_submissions.py")
        else:
            options.archives.mkdir(parents=True, exist_ok=True)
            (options.archives / name).write_bytes(content)
            print(f"{options.archives.name}/{name}: written")
    return int(options.check and bool(outdated))


def _expected(folder: Path) -> dict[str, str]:
    return yaml.safe_load((folder / "expected.yaml").read_text(encoding="utf-8")) or {}


if __name__ == "__main__":
    sys.exit(main())
