"""Draws a text as a PDF whose pages are pictures, as a scanner makes it: `scanned_pdf.py TEXT PDF`.

`tests/submissions/csye_answers_scanned/files/answers.pdf` is made so from the `.txt` of csye_answers_good.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pypdfium2

from grader.packing.pdf import assembled, pdf, stream

SCALE = 1.25
"""Pixels per point: 90 dots per inch, which a person can just read."""
DARK = 0x80
"""The brightest grey that is ink."""


def scanned(text: str) -> bytes:
    """Return a PDF with one black-and-white picture on each page, and no text."""
    pictures = list(_pictures(pdf(text)))
    numbers = [3 * page + 3 for page in range(len(pictures))]
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>"
        % (len(pictures), b" ".join(b"%d 0 R" % number for number in numbers)),
    ]
    for number, picture in zip(numbers, pictures, strict=True):
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /XObject << /P %d 0 R >> >> >>" % (number + 1, number + 2),
            stream(b"", b"q 595 0 0 842 0 0 cm /P Do Q"),
            picture,
        ]
    return assembled(objects)


def _pictures(document: bytes) -> Iterator[bytes]:
    for page in pypdfium2.PdfDocument(document):
        grey = page.render(scale=SCALE, grayscale=True).to_numpy().squeeze()
        height, width = grey.shape
        yield stream(
            b"/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray"
            b" /BitsPerComponent 1 /Filter /FlateDecode" % (width, height),
            zlib.compress(np.packbits(grey > DARK, axis=1).tobytes(), 9),
        )


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_bytes(scanned(source.read_text(encoding="ascii")))
