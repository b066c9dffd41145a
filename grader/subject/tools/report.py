"""What a written report holds: pages, pictures, words, terms, times and the ratios claimed of them."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from pypdf import PdfReader
from pypdf.errors import DependencyError

from .claims import claims, phrase, times

PAGES_READ = 200
READ_WITHIN_S = 20.0
CHARACTERS = 400_000
LEGIBLE_WORDS = 5
PICTURE_PIXELS = 32 * 32
"""Smaller ones are bullets and lines."""
FORMS_DEEP = 4

_WORD = re.compile(r"[^\W\d_]{2,}")
_PICTURE_IN_MARKDOWN = re.compile(r"!\[[^\]\n]*\]\(|<img\b", re.IGNORECASE)
_HIDDEN = dict.fromkeys(map(ord, "\x00\xad\u200b\u200c\u200d\u2060\ufeff"))


class Unreadable(Exception):
    """A file that is no report, in words for the student."""


def main(path: str, terms: Sequence[str], ratios: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Everything a rule on a report can be held against.

    Each of `ratios` is the words of a claim, then two names whose times are divided; words and names are
    `a|b` for either. The answer has `problem` if the file cannot be a report. Otherwise `pages`, `pictures`,
    `words`, `unread` (why its text cannot be read, or empty), `terms` (the first page of each, 0 for none),
    `times` and `claims`.
    """
    with open(path, "rb") as file:
        head = file.read(1024)
    if not head:
        return {"problem": "is empty"}
    try:
        document = _pdf(path) if b"%PDF-" in head else _text(path)
    except Unreadable as error:
        return {"problem": str(error)}
    texts = [_plain(text) for text in document.pop("texts")]
    whole = "\n".join(texts)[:CHARACTERS]
    words = len(_WORD.findall(whole))
    drawn = document.pop("drawn")
    if words < LEGIBLE_WORDS and drawn and not document["unread"]:
        document["unread"] = "it holds no text that can be read"
    found = times(whole, tuple(dict.fromkeys(name for _, *names in ratios for name in names)))
    return document | {
        "words": words,
        "terms": {term: _page(phrase(term), texts) for term in terms},
        "times": found,
        "claims": {claim: claims(whole, claim, found) for claim in {claim for claim, *_ in ratios}},
    }


def _page(wanted: re.Pattern[str], texts: Sequence[str]) -> int:
    return next((number for number, text in enumerate(texts, start=1) if wanted.search(text)), 0)


def _plain(text: str) -> str:
    """Ligatures, wide digits and the like as plain letters; no characters that nobody sees."""
    plain = unicodedata.normalize("NFKC", text.replace("\u2212", "-")).translate(_HIDDEN)
    return re.sub(r"[^\S\n]+", " ", plain)


def _text(path: str) -> dict[str, Any]:
    with open(path, "rb") as file:
        content = file.read(CHARACTERS * 4)
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    text = content.decode(encoding, "replace")
    if "\x00" in text:
        raise Unreadable("is neither a PDF nor a text")
    pictures = len(_PICTURE_IN_MARKDOWN.findall(text))
    return {"pages": 1, "pictures": pictures, "unread": "", "drawn": pictures > 0, "texts": [text]}


def _pdf(path: str) -> dict[str, Any]:
    try:
        reader = PdfReader(path)
        locked = reader.is_encrypted and not reader.decrypt("")
        pages = 0 if locked else len(reader.pages)
    except DependencyError:
        return _unread("it is encrypted, and cannot be opened here")
    except MemoryError:
        raise
    except Exception as error:  # a damaged file ends in any exception there is
        raise Unreadable(f"is damaged, and cannot be opened ({type(error).__name__})") from None
    if locked:
        raise Unreadable("asks for a password; hand it in without one")
    if pages == 0:
        raise Unreadable("has no pages")
    return {"pages": pages, **_contents(reader, min(pages, PAGES_READ))}


def _unread(why: str) -> dict[str, Any]:
    return {"pages": 0, "pictures": 0, "unread": why, "drawn": True, "texts": []}


def _contents(reader: PdfReader, pages: int) -> dict[str, Any]:
    until = time.monotonic() + READ_WITHIN_S
    texts: list[str] = []
    pictures: set[Any] = set()
    drawn = failed = False
    length = 0
    for number in range(pages):
        if time.monotonic() > until or length > CHARACTERS:
            break
        text = ""
        try:
            page = reader.pages[number]
            pictures.update(_pictures(page.get("/Resources"), f"page {number}"))
            content = page.get_contents()
            drawn = drawn or (content is not None and len(content.get_data().split()) > 0)
            text = page.extract_text()
        except MemoryError:
            raise
        except Exception:  # one damaged page takes no other with it
            failed = True
        texts.append(text)
        length += len(text)
    unread = "it is damaged" if failed and not any(texts) else ""
    return {"pictures": len(pictures), "unread": unread, "drawn": drawn or bool(pictures), "texts": texts}


def _pictures(resources: Any, where: str, depth: int = 0) -> Iterator[Any]:
    """A key for each picture: images, and drawings that TeX included from a file of their own."""
    with suppress(AttributeError, KeyError, TypeError, ValueError):
        drawn = resources.get_object()["/XObject"].get_object()
        for name in drawn:
            key = getattr(drawn.raw_get(name), "idnum", f"{where} {name}")
            thing = drawn[name]
            if thing.get("/Subtype") == "/Image":
                if int(thing.get("/Width", 0)) * int(thing.get("/Height", 0)) >= PICTURE_PIXELS:
                    yield key
            elif "/PTEX.FileName" in thing:
                yield key
            elif depth < FORMS_DEEP:
                yield from _pictures(thing.get("/Resources"), f"{where} {name}", depth + 1)
