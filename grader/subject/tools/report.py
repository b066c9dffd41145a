"""Pages, pictures, words, terms, times and claimed ratios of a written report."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from .claims import claims
from .contents import Contents, UnreadableError
from .document import answer_for, is_package, kind_of, read_document
from .launches import launches
from .mentions import about, phrase
from .named_times import distinct, times
from .pdf import CHARACTERS, HEAD_BYTES, VisibleReport, is_pdf, read_pdf
from .shares import accuracies, shares

LEGIBLE_WORDS = 5
HIDDEN_TEXTS = 5
"""So many hidden texts are told one by one."""
LAST_LATIN = "\u024f"
OTHER_LETTERS = 0.1
"""The share of letters of other scripts, Greek apart, that an English report may have."""

_WORD = re.compile(
    r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]{2}|[^\W\d_\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]{2,}"
)
"""Two letters stand for a word where no spaces stand between words (Thai, Japanese, Chinese)."""
_WRITTEN = (".docx", ".ipynb")
_MARKDOWN = (".md", ".markdown")
_PICTURE_IN_MARKDOWN = re.compile(r"!\[[^\]\n]*\]\(|<img\b", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d)['\u2019\u00a0\u202f\u2009](?=\d{3}(?!\d))")
"""What separates thousands, as in 361'500; a space between two columns is another one."""
_TOO_LONG = re.compile(r"(\d{100})\d+")
"""Digits of no time, ratio or count; Python refuses to read some thousands, and patterns try each of them."""
_ARABIC = {ord("\u066b"): ".", ord("\u066a"): "%"}
"""The signs of Arabic for a decimal point and for percent."""
_HIDDEN = dict.fromkeys(map(ord, "\x00\xad\u200b\u200c\u200d\u2060\ufeff"))


def main(
    path: str,
    terms: Sequence[str],
    ratios: Sequence[Sequence[str]],
    figures: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """Return everything a rule on a report can be held against.

    Each of `ratios` is a key for its claims, their words, then two names whose times are divided, and may
    have the words that begin its part of the report and those that begin others; all are `a|b` for either.
    Each of `figures` is a key, `launch`, `accuracy` or `shares`, whose it is, and the same words of parts.
    The answer has `problem` if the file cannot be a report. Otherwise it has `pages`, `pictures`, `words`,
    `latin` (whether its letters are, so that it is read as English is), `hidden` (words that no reader sees),
    `hidden_texts` (of formats other than PDF: how the first of them are hidden, their number of words, first
    words and page), `drawn` (whether something is drawn beside the text), `depicted` (whether that may be a
    picture), `blank` (whether nothing is drawn at all), `unread` (why its text cannot be read, or empty),
    `incomplete` (which part of it was not read, and why, or empty), `terms` (the first page of each, 0 for
    none), `times`, `claims`, `figures` by their keys, and under `concealed` those terms, names with times and
    keys of claims that only words hold which surely no reader sees. It has `package` alone if this machine
    lacks the package that reads the format.
    """
    read = answer_for(lambda: _read(path))
    return _facts(read, terms, ratios, figures) if isinstance(read, VisibleReport) else read


def _facts(
    document: VisibleReport,
    terms: Sequence[str],
    ratios: Sequence[Sequence[str]],
    figures: Sequence[Sequence[str]],
) -> dict[str, Any]:
    texts = [_plain(text) for text in document.texts]
    whole = "\n".join(texts)[:CHARACTERS]
    unveiled = [_plain(text) for text in document.unveiled]
    words = len(_WORD.findall(whole))
    unread = document.unread
    if words < LEGIBLE_WORDS and document.drawn and not unread:
        unread = "it holds no text that can be read"
    times_by_name, claimed = _claimed(whole, ratios)
    all_times, all_claimed = times_by_name, claimed
    if unveiled and unveiled != texts:
        all_times, all_claimed = _claimed("\n".join(unveiled)[:CHARACTERS], ratios)
    pages = {term: _page(phrase(term), texts) for term in terms}
    return {
        "pages": document.pages,
        "pictures": len(document.pictures),
        "words": words,
        "latin": _latin(whole),
        "hidden": document.hidden,
        "hidden_texts": document.hidden_texts,
        "drawn": document.drawn,
        "depicted": document.depicted,
        "blank": document.blank,
        "unread": unread,
        "incomplete": document.incomplete,
        "terms": pages,
        "times": times_by_name,
        "claims": claimed,
        "figures": {key: _figure(whole, *figure) for key, *figure in figures},
        "concealed": {
            "terms": [term for term in terms if not pages[term] and _page(phrase(term), unveiled)],
            "times": [name for name in times_by_name if all_times[name] and not times_by_name[name]],
            "claims": [claim for claim in claimed if all_claimed[claim] and not claimed[claim]],
        },
    }


def _claimed(text: str, ratios: Sequence[Sequence[str]]) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Return the times of a text by name, and its claims by their keys, each of its part of the report."""
    parts: dict[tuple[str, str], list[Sequence[str]]] = {}
    for ratio in ratios:
        part, elsewhere = (*ratio[4:], "", "")[:2]
        parts.setdefault((part, elsewhere), []).append(ratio)
    times_by_name: dict[str, list[Any]] = {}
    claims_by_key: dict[str, list[Any]] = {}
    for (part, elsewhere), of_part in parts.items():
        names = tuple(dict.fromkeys(name for ratio in of_part for name in ratio[2:4]))
        its_text = about(text, names, part, elsewhere)
        its_times = times(its_text, names)
        for name, entries in its_times.items():
            times_by_name[name] = distinct([*times_by_name.get(name, ()), *entries])
        for key, words in {ratio[0]: ratio[1] for ratio in of_part}.items():
            claims_by_key[key] = claims(its_text, words, its_times)
    return times_by_name, claims_by_key


def _figure(text: str, what: str, of: str, part: str, elsewhere: str) -> list[list[Any]]:
    """Return what a text says of a launch, of an accuracy or of shares, in its part of the report."""
    its_text = about(text, (of,) if of else (), part, elsewhere)
    if what == "launch":
        return launches(its_text, of)
    return accuracies(its_text) if what == "accuracy" else shares(its_text)


def _read(path: str) -> VisibleReport:
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
    if not head:
        raise UnreadableError("is empty")
    if is_pdf(head):
        return read_pdf(path)
    if path.lower().endswith(".pdf"):
        kind = kind_of(head)
        named = f"{kind} under the name of one" if kind == "text" else kind
        raise UnreadableError(f"is no PDF, but {named}; print or export it as a PDF, and hand that in")
    if is_package(head) or path.lower().endswith(_WRITTEN):
        return _written(read_document(path))
    if path.lower().endswith(_MARKDOWN):
        contents = read_document(path)
        if contents.incomplete or any(text["words"] for text in contents.hidden):
            return _written(contents)
    return _text(path)


def _written(contents: Contents) -> VisibleReport:
    """Return a report in a format whose text a program writes, as Word or Jupyter."""
    pages: dict[int, list[str]] = {page: [] for page in range(1, contents.pages + 1)}
    for block in contents.blocks:
        number = f"{block['number']}. " if "number" in block else ""
        pages[block["page"]].append(number + block["text"])
    depicted = bool(contents.pictures or contents.incomplete)
    texts = ["\n".join(lines) for lines in pages.values()]
    unveiled: list[str] = []
    if not depicted and _latin("\n".join(texts)):  # otherwise what a comment holds may be there for a reader
        for page, text in contents.concealed:
            pages[page].append(f"\n{text}\n")
        unveiled = ["\n".join(lines) for lines in pages.values()]
    hidden = [text for text in contents.hidden if text["words"]]
    return VisibleReport(
        pages=contents.pages,
        texts=texts,
        unveiled=unveiled,
        pictures={(0, number) for number in range(len(contents.pictures))},
        hidden=sum(text["words"] for text in hidden),
        hidden_texts=[
            [text["how"], text["words"], text["begins"], text["page"]] for text in hidden[:HIDDEN_TEXTS]
        ],
        drawn=depicted,
        depicted=depicted,
        blank=not (contents.blocks or depicted),
        incomplete=contents.incomplete,
    )


def _latin(text: str) -> bool:
    """Tell whether few letters are of another script."""
    letters = [letter for letter in text if letter.isalpha()]
    others = sum(
        letter > LAST_LATIN and not unicodedata.name(letter, "").startswith("GREEK") for letter in letters
    )
    return others <= OTHER_LETTERS * len(letters)


def _page(pattern: re.Pattern[str], texts: Sequence[str]) -> int:
    return next((number for number, text in enumerate(texts, start=1) if pattern.search(text)), 0)


def _plain(text: str) -> str:
    """Write ligatures, digits of any script and the like as ASCII has them; drop invisible characters."""
    text = _THOUSANDS.sub("", text)
    plain = unicodedata.normalize("NFKC", text).replace("\u2212", "-").translate(_HIDDEN)
    others = {digit for digit in plain if digit > "\x7f" and digit.isdecimal()}
    plain = plain.translate({ord(d): str(unicodedata.decimal(d)) for d in others} | _ARABIC)
    return _TOO_LONG.sub(r"\1", re.sub(r"[^\S\n]+", " ", plain))


def _text(path: str) -> VisibleReport:
    with open(path, "rb") as file:
        content = file.read(CHARACTERS * 4)
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    text = content.decode(encoding, "replace")
    if "\x00" in text:
        raise UnreadableError("is neither a PDF nor a text")
    pictures = {(0, match.start()) for match in _PICTURE_IN_MARKDOWN.finditer(text)}
    return VisibleReport(
        pages=1, texts=[text], pictures=pictures, drawn=bool(pictures), depicted=True, blank=not text.strip()
    )
