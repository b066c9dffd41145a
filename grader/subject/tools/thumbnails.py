"""Small grey pictures as PNG, so that a person sees what a machine cannot read."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIDES = (720, 480, 320, 200, 120)
"""Lengths of the longer side that are tried until the file is small enough."""
BYTES = 20_000
PIXELS = 50_000_000
"""Larger pictures are not decoded."""
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")
"""Formats that Pillow decodes by itself; for others, as EPS, it starts programs."""


def thumbnail(grey: NDArray[Any]) -> bytes:
    """Return a PNG in 16 greys of at most BYTES of a picture with luminances from 0 to 255."""
    if grey.size == 0:
        return b""
    for side in SIDES:
        small = _reduced(grey, side)
        content = _png(small)
        if len(content) <= BYTES:
            return content
    return b""


def decoded(content: bytes) -> tuple[int, int, bytes]:
    """Return width, height and thumbnail of an encoded picture; zeros and nothing if it cannot be decoded."""
    try:
        from PIL import Image
    except ImportError:
        return 0, 0, b""
    try:
        with Image.open(BytesIO(content), formats=_FORMATS) as picture:
            width, height = picture.size
            if not 0 < width * height <= PIXELS:
                return width, height, b""
            picture.draft("L", (SIDES[0], SIDES[0]))
            paper = Image.new("RGBA", picture.size, "white")
            paper.alpha_composite(picture.convert("RGBA"))
            grey = paper.convert("L")
            grey.thumbnail((SIDES[0], SIDES[0]))
            return width, height, thumbnail(np.asarray(grey))
    except Exception:  # whatever a damaged picture makes a decoder raise: it is shown without a thumbnail
        return 0, 0, b""


def _reduced(grey: NDArray[Any], side: int) -> NDArray[Any]:
    """Average squares of pixels so that no side is longer."""
    step = -(-max(grey.shape) // side)
    height, width = (max(1, length // step) for length in grey.shape)
    rows, columns = min(step, grey.shape[0]), min(step, grey.shape[1])
    cut = grey[: height * rows, : width * columns].reshape(height, rows, width, columns)
    averaged: NDArray[Any] = np.clip(cut.mean((1, 3)), 0, 255)
    return averaged


def _png(grey: NDArray[Any]) -> bytes:
    height, width = grey.shape
    levels = np.zeros((height, width + width % 2), np.uint8)
    levels[:, :width] = np.round(grey / 17.0)
    rows = np.zeros((height, 1 + levels.shape[1] // 2), np.uint8)
    rows[:, 1:] = levels[:, ::2] << 4 | levels[:, 1::2]
    header = struct.pack(">IIBBBBB", width, height, 4, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
