"""Builds submissions/*.tar.gz and *.zip from tests/submissions, the same bytes every time.

A folder of `tests/submissions` holds `expected.yaml` and, below `files/`, what the student hands in. There
`base: NAME` lays these files over those of another submission, and `archive: zip` makes a zip. Beside it
may lie

* `NAME.txt`, a report that is handed in as NAME.pdf;
* `without.txt`, naming files of the base, one a line, that are not handed in, or `PATH -> PATH` elsewhere;
* `binaries.txt`, naming files, one a line, that are handed in as if a compiler had made them;
* `changes.yaml`, what reads otherwise than in the base: for each file a list of `was` and `is`.
"""

from __future__ import annotations

import argparse
import gzip
import io
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "tests" / "submissions"
ARCHIVES = ROOT / "submissions"

MODE = 0o644
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
GZIP_HEADER_BYTES = 10

LISTS = frozenset({"without.txt", "binaries.txt"})
BINARY = b"\x7fELF\x02\x01\x01" + bytes(57)
"""The head of a file in ELF, with nothing behind it: whoever loads it fails."""

PICTURE = "[picture]"
PICTURE_WIDTH, PICTURE_HEIGHT = 160, 48
"""Of a picture in a report, in pixels."""
PAGE_LINES, PICTURE_LINES, LEADING = 58, 9, 12

Files = Mapping[str, bytes]


def files_of(folder: Path) -> dict[str, bytes]:
    """What one submission hands in: content by path, sorted by path.

    Raises:
        SystemExit: it has no files, or names a base that is not there or has a base itself, or the base does
            not have what is to be left out or changed.
    """
    files = _of_base(folder)
    files.update(dict.fromkeys(_lines(folder / "binaries.txt"), BINARY))
    for report in folder.glob("*.txt"):
        if report.name not in LISTS:
            files[f"{report.stem}.pdf"] = pdf(report.read_text(encoding="ascii"))
    own = folder / "files"
    files.update(
        (path.relative_to(own).as_posix(), path.read_bytes())
        for path in own.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    if not files:
        sys.exit(f"{folder.name}: hands in nothing; put its files below {folder.name}/files")
    return dict(sorted(files.items()))


def _of_base(folder: Path) -> dict[str, bytes]:
    """What is left of the files of another submission, where it now lies, and as it now reads."""
    base = _expected(folder).get("base")
    files: dict[str, bytes] = {}
    if base is not None:
        below = folder.parent / base
        if not (below / "expected.yaml").is_file() or "base" in _expected(below):
            sys.exit(f"{folder.name}/expected.yaml: base: {base}: name a submission that has no base itself")
        files.update(files_of(below))
    for line in _lines(folder / "without.txt"):
        path, _, elsewhere = line.partition(" -> ")
        if path not in files:
            sys.exit(f"{folder.name}/without.txt: {path}: the base has no such file")
        content = files.pop(path)
        if elsewhere:
            files[elsewhere] = content
    said = folder / "changes.yaml"
    changed = yaml.safe_load(said.read_text(encoding="utf-8")) if said.exists() else {}
    for path, changes in changed.items():
        text = files.get(path, b"").decode()
        for change in changes:
            was = change["was"]
            if text.count(was) != 1:
                sys.exit(f"{folder.name}/changes.yaml: {path}: must hold once, and does not: {was!r}")
            text = text.replace(was, change["is"])
        files[path] = text.encode()
    return files


def pdf(text: str) -> bytes:
    """A report on A4 pages, as printable ASCII; a line `[picture]` becomes a picture.

    Nothing is compressed, so that the bytes are the same whatever zlib builds them.
    """
    pages = ["".join(_page(lines)) for lines in _on_pages(text.splitlines())]
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>"
        % (len(pages), b" ".join(b"%d 0 R" % (number * 2 + 5) for number in range(len(pages)))),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>",
        _stream(
            b"/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8"
            % (PICTURE_WIDTH, PICTURE_HEIGHT),
            _bars(),
        ),
    ]
    for page in pages:
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /Font << /F 3 0 R >> /XObject << /P 4 0 R >> >> >>" % (len(objects) + 2),
            _stream(b"", page.encode("ascii")),
        ]
    written = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return written + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (size, table, size, len(written))
    )


def _on_pages(lines: list[str]) -> list[list[str]]:
    heights = [PICTURE_LINES if line == PICTURE else 1 for line in lines]
    pages: list[list[str]] = [[]]
    room = PAGE_LINES
    for line, height in zip(lines, heights, strict=True):
        if height > room:
            pages.append([])
            room = PAGE_LINES
        pages[-1].append(line)
        room -= height
    return pages


def _page(lines: list[str]) -> Iterator[str]:
    """What draws one page, from the top down."""
    top = 780
    for line in lines:
        if line == PICTURE:
            top -= PICTURE_LINES * LEADING
            yield f"q 320 0 0 {(PICTURE_LINES - 1) * LEADING} 60 {top + LEADING} cm /P Do Q\n"
            continue
        escaped = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        yield f"BT /F 9 Tf 60 {top} Td ({escaped}) Tj ET\n"
        top -= LEADING


def _stream(keys: bytes, content: bytes) -> bytes:
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (keys, len(content), content)


def _bars() -> bytes:
    """Three bars of falling length, dark on light: the times of three functions."""
    lengths = (90, 40, 10)
    rows = []
    for y in range(PICTURE_HEIGHT):
        bar, within = divmod(y, PICTURE_HEIGHT // len(lengths))
        filled = lengths[bar] if bar < len(lengths) and within >= 4 else 0
        rows.append(b"\x30" * filled + b"\xf0" * (PICTURE_WIDTH - filled))
    return b"".join(rows)


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


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else []


def _expected(folder: Path) -> dict[str, str]:
    return yaml.safe_load((folder / "expected.yaml").read_text(encoding="utf-8")) or {}


if __name__ == "__main__":
    sys.exit(main())
