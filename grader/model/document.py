"""Documents as a reader sees them: blocks of text, pictures, and what they hide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["paragraph", "heading", "list", "table", "code", "output"]
Format = Literal["", "pdf", "docx", "ipynb", "markdown", "text"]

THUMBNAIL_BYTES = 20_000
"""The most bytes of a thumbnail's PNG."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """One paragraph, heading, list entry, table row, cell of code or output, in reading order."""

    text: str
    """The visible text, without its label where the format numbers it; cells of a row are joined by tabs."""
    page: int = 1
    """The page that it begins on, from 1; always 1 where the format has no pages."""
    kind: BlockKind = "paragraph"
    number: str = ""
    """The label where the format itself numbers the block, as Word does: `3`, `2.1`, `b`; otherwise empty."""
    level: int = 0
    """How deep a heading or a list entry is nested, from 1 for the outermost; 0 if it is neither."""
    series: int = 0
    """The same for all entries that the format counts together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture that a reader sees, or a page that cannot be read by a machine."""

    page: int
    width: int
    """In pixels of the original; 0 if it is not known."""
    height: int
    after: int = 0
    """How many of the document's blocks stand before it."""
    thumbnail: str = ""
    """A PNG of at most THUMBNAIL_BYTES, in base64; empty if none could be made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenText:
    """Text in the file that no reader sees; it is in no block."""

    how: str
    """The way in which it is hidden, as words for a person: `a comment`, `white text`."""
    words: int
    begins: str = ""
    """Its first words."""
    page: int = 1
    after: int = 0
    """How many of the document's blocks stand before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Everything that a reader sees in one file, or the reason why a machine cannot read it."""

    path: str
    format: Format = ""
    """Empty if the file could not be opened."""
    pages: int = 0
    """0 if the file could not be opened."""
    blocks: tuple[TextBlock, ...] = ()
    pictures: tuple[Picture, ...] = ()
    hidden: tuple[HiddenText, ...] = ()
    scanned: tuple[int, ...] = ()
    """Pages that show something but hold no text; each has its picture among `pictures`."""
    drawn: tuple[int, ...] = ()
    """Pages that show something beside text and pictures: handwriting, a note, a form, lines of a table."""
    incomplete: str = ""
    """Why the document goes on behind the last block, as a sentence for a person; empty if it does not."""
    problem: str = ""
    """Why nothing of it can be read, as words behind the file's name; empty if it can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAnswer:
    """The part of a document that answers one question."""

    text: str = ""
    """The blocks' text, one a line, without label and without the copied question; empty if there is none."""
    page: int = 0
    """The page on which it begins; 0 if there is no answer."""
    blocks: tuple[int, ...] = ()
    """Indexes into the document's blocks."""
    pictures: tuple[int, ...] = ()
    """Indexes into the document's pictures."""
    certain: bool = True
    """Whether this is surely all that was answered to this question; of an empty one, whether surely nothing
    was."""
    why: str = ""
    """Why that is not certain, as a sentence for a person; empty if it is."""

    @property
    def missing(self) -> bool:
        """Whether the document shows nothing for this question."""
        return not self.text.strip() and not self.pictures
