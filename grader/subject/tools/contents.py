"""The visible contents of a document, collected block by block within limits of size."""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any

CHARACTERS = 400_000
BLOCKS = 20_000
PICTURES = 60
HIDDEN = 100
HIDDEN_WORDS = 12
BLOCK_CHARACTERS = 50_000
HTML_COMMENT = "an HTML comment"
"""How text is hidden that no reader of Markdown shows; styles that hide an element some of them leave out."""
FEW_INVISIBLE = 10
"""So many characters without width come with text that was copied from a web page."""

_WORD = re.compile(r"\S+")
_INVISIBLE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters that show as nothing, and those that turn the order of others round."""
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_REVERSED = re.compile("[\u202d\u202e]")
TURNED = "\ufffd"
"""What stands for such a character: a reader sees other words than those behind it."""
_CONTROLS = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_SPACES = re.compile(r"[^\S\n\t]+")


class UnreadableError(Exception):
    """A file that nobody can open, in words for the student behind its name."""


class FullError(Exception):
    """The document holds more than is read of any."""


class Contents:
    """Blocks, pictures and hidden text of one document, as plain values that cross the wire."""

    def __init__(self, kind: str, pages: int = 1) -> None:
        self.format = kind
        self.pages = pages
        self.page = 1
        """The page of what is added now."""
        self.blocks: list[dict[str, Any]] = []
        self.pictures: list[dict[str, Any]] = []
        self.hidden: list[dict[str, Any]] = []
        self.concealed: list[tuple[int, str]] = []
        """The pages and texts of comments, which surely no reader sees."""
        self.scanned: list[int] = []
        self.drawn: list[int] = []
        self.incomplete = ""
        self._characters = 0
        self._invisible = 0

    def add(
        self, text: str, kind: str = "paragraph", *, number: str = "", level: int = 0, series: int = 0
    ) -> None:
        """Add a block, unless it is empty.

        Raises:
            FullError: there is no room for more.
        """
        text = self._visible(text)
        if not (text.strip() or number):
            return
        self._characters += len(text)
        if self._characters > CHARACTERS or len(self.blocks) >= BLOCKS:
            self.incomplete = f"only its first {len(self.blocks)} paragraphs are read, for it is too long"
            raise FullError
        block: dict[str, Any] = {"text": text.rstrip(), "page": self.page, "kind": kind}
        more = {"number": number[:20], "level": min(level, 99), "series": series}
        self.blocks.append(block | {key: value for key, value in more.items() if value})

    def start_of(self, text: str) -> str:
        """Return as much of a text as is read of one document; what is more is said to be left out."""
        if len(text) > CHARACTERS or text.count("\n") > BLOCKS:
            self.incomplete = "only its first part is read, for it is too long"
            text = "\n".join(text[:CHARACTERS].split("\n", BLOCKS)[:BLOCKS])
        return text

    def hide(self, how: str, text: str, *, count: int = 0) -> None:
        """Note text that no reader sees; `count` is how many words it has, if these are the first."""
        words = _WORD.findall(_CONTROLS.sub(" ", text[:CHARACTERS]))
        if words:
            begins = " ".join(word[:40] for word in words[:HIDDEN_WORDS])
            self._hide(how, max(count, len(words)), begins)
            if how == HTML_COMMENT:
                self.concealed.append((self.page, text[:CHARACTERS]))

    def picture(self, width: int, height: int, thumbnail: bytes = b"") -> None:
        """Add a picture behind the last block."""
        if len(self.pictures) < PICTURES:
            picture = {"page": self.page, "width": max(0, width), "height": max(0, height)}
            shown = {"thumbnail": b64encode(thumbnail).decode()} if thumbnail else {}
            self.pictures.append({**picture, "after": len(self.blocks), **shown})

    @property
    def room_for_pictures(self) -> int:
        """How many pictures may still be added."""
        return PICTURES - len(self.pictures)

    def plain(self) -> dict[str, Any]:
        """Return everything as lists and dictionaries; see `grader.model.document.Document`."""
        if self._invisible > FEW_INVISIBLE:
            self._hide(f"{self._invisible} characters without width", 0, "")
            self._invisible = 0
        return {
            "format": self.format,
            "pages": max(1, self.pages),
            "blocks": self.blocks,
            "pictures": self.pictures,
            "hidden": self.hidden,
            "scanned": self.scanned,
            "drawn": self.drawn,
            "incomplete": self.incomplete,
        }

    def _visible(self, text: str) -> str:
        """Return the text as it shows; what shows as nothing is counted, and told if it holds a message."""
        if len(text) > BLOCK_CHARACTERS:
            self.incomplete = "a paragraph of it is too long, and only its first part is read"
            text = text[:BLOCK_CHARACTERS]
        for tags in _TAGS.findall(text):
            self.hide("characters without width", "".join(chr(ord(letter) - 0xE0000) for letter in tags))
        if _REVERSED.search(text):
            self._hide("characters that turn the order of others round", 0, "")
            text = _REVERSED.sub(TURNED, text)
        plain = _INVISIBLE.sub("", text)
        self._invisible += len(text) - len(plain)
        return _SPACES.sub(" ", _CONTROLS.sub(" ", plain.replace("\r\n", "\n").replace("\r", "\n")))

    def _hide(self, how: str, words: int, begins: str) -> None:
        if len(self.hidden) < HIDDEN:
            after = len(self.blocks)
            self.hidden.append(
                {"how": how, "words": words, "begins": begins, "page": self.page, "after": after}
            )
