"""Renders a report as a reproducible PDF."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

PICTURE = "[picture]"
PICTURE_WIDTH, PICTURE_HEIGHT = 160, 48
"""Of a picture in a report, in pixels."""
PAGE_LINES, PICTURE_LINES, LEADING = 58, 9, 12


def pdf(text: str) -> bytes:
    """Render a report on A4 pages, as printable ASCII; a line `[picture]` becomes a picture.

    Nothing is compressed, so that the bytes are the same whatever zlib builds them.
    """
    pages = ["".join(_page(lines)) for lines in _on_pages(text.splitlines())]
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>"
        % (len(pages), b" ".join(b"%d 0 R" % (number * 2 + 5) for number in range(len(pages)))),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>",
        stream(
            b"/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8"
            % (PICTURE_WIDTH, PICTURE_HEIGHT),
            _bars(),
        ),
    ]
    for page in pages:
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /Font << /F 3 0 R >> /XObject << /P 4 0 R >> >> >>" % (len(objects) + 2),
            stream(b"", page.encode("ascii")),
        ]
    return assembled(objects)


def assembled(objects: Iterable[bytes]) -> bytes:
    """Write numbered objects with their table; the first is the catalog."""
    written = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(offsets) + 1
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
    """Yield the operators that draw one page, from the top down."""
    top = 780
    for line in lines:
        if line == PICTURE:
            top -= PICTURE_LINES * LEADING
            yield f"q 320 0 0 {(PICTURE_LINES - 1) * LEADING} 60 {top + LEADING} cm /P Do Q\n"
            continue
        escaped = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        yield f"BT /F 9 Tf 60 {top} Td ({escaped}) Tj ET\n"
        top -= LEADING


def stream(keys: bytes, content: bytes) -> bytes:
    """Write a stream object with further keys of its dictionary."""
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (keys, len(content), content)


def _bars() -> bytes:
    """Draw three bars of falling length, dark on light: the times of three functions."""
    lengths = (90, 40, 10)
    rows = []
    for y in range(PICTURE_HEIGHT):
        bar, within = divmod(y, PICTURE_HEIGHT // len(lengths))
        filled = lengths[bar] if bar < len(lengths) and within >= 4 else 0
        rows.append(b"\x30" * filled + b"\xf0" * (PICTURE_WIDTH - filled))
    return b"".join(rows)
