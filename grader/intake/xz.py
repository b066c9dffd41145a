"""Unpacks xz with a bound on memory, which the standard library's `LZMAFile` does not have."""

from __future__ import annotations

from io import BufferedIOBase
from lzma import FORMAT_XZ, LZMADecompressor, LZMAError
from typing import IO

from grader.intake.entry import SubmissionRefused

_CHUNK = 1 << 16
_MEMORY_BYTES = 66 << 20
"""Memory limit, enough for `xz -9`: a header may ask for 4 GiB."""


class XzFile(BufferedIOBase):
    """The contents of an xz file, of one stream or several."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._packed = b""
        self._stream = _stream()

    def read(self, size: int | None = -1, /) -> bytes:
        """Read `size` bytes, fewer only at the end.

        Raises:
            LZMAError: the file is damaged.
            EOFError: it is cut off.
            SubmissionRefused: it takes too much memory to unpack.
        """
        if size is None or size < 0:
            raise ValueError("an archive is read piece by piece")
        pieces = []
        while size and (piece := self._piece(size)):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _piece(self, size: int) -> bytes:
        while True:
            if self._stream.eof:
                if not self._next_stream():
                    return b""
            elif self._stream.needs_input and not self._fill():
                raise EOFError
            packed, self._packed = self._packed, b""
            if piece := self._unpacked(packed, size):
                return piece

    def _next_stream(self) -> bool:
        # Streams may be padded with zeros to a multiple of four bytes.
        self._packed = self._stream.unused_data.lstrip(b"\0")
        while not self._packed and self._fill():
            self._packed = self._packed.lstrip(b"\0")
        if self._packed:
            self._stream = _stream()
        return bool(self._packed)

    def _fill(self) -> bool:
        self._packed = self._file.read(_CHUNK)
        return bool(self._packed)

    def _unpacked(self, packed: bytes, size: int) -> bytes:
        try:
            return self._stream.decompress(packed, size)
        except LZMAError as error:
            if str(error) == "Memory usage limit exceeded":
                raise SubmissionRefused(
                    "takes too much memory to unpack; pack the files as .tar.gz or .zip"
                ) from None
            raise


def _stream() -> LZMADecompressor:
    return LZMADecompressor(format=FORMAT_XZ, memlimit=_MEMORY_BYTES)
