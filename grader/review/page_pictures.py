"""Pages of PDF files as pictures, made in a sandbox: a document can be evil."""

from __future__ import annotations

from pathlib import Path


class PagePictures:
    """Pictures of pages; none while there is no renderer."""

    def count(self, path: Path) -> int:
        """Return how many pages a document has."""
        del path
        return 0

    def page(self, path: Path, number: int) -> bytes:
        """Return one page as a PNG; empty if it cannot be rendered."""
        del path, number
        return b""
