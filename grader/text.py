r"""Text of unknown origin as a safe line or a safe block: the one place that decides what is shown as it is.

Students choose exceptions' texts, printed output, names of files, classes, kernels and parameters; platforms
and other users of a machine choose names. A terminal, an XML parser, a spreadsheet, a CI log and the eye of a
reader all act on some characters. What they act on is spelled out (`\x1b`, `\u202e`), never removed: whoever
reads can see that it was there.

Kept are letters, digits, punctuation and symbols of every script, also those written from right to left.
Spelled out are:

* controls (C0, DEL, C1), format characters, lone surrogates, private use, unassigned code points, the line
  and paragraph separators, and every space but U+0020, no-break spaces and the ideographic space;
* characters that show as nothing: fillers, variation selectors, tags, the Braille blank. Emoji presentation
  selectors after a symbol, and a joiner between two symbols or between two letters of scripts that need it
  (Arabic, Indic), are kept: emoji and Persian stay readable;
* combining marks without a letter before them, and those after the fourth on one letter;
* the beginnings of commands that CI services and Jenkins read out of logs and results.

Both functions are idempotent: what is safe stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

LINE = 4_000
"""Characters of one line: of a message, a reason, a name."""
BLOCK = 100_000
"""Characters of one block: of printed output, a traceback, a value."""
LINES = 2_000
"""Lines of one block."""
DEPTH = 60
"""Containers within containers of one document."""
MARKS = 4
"""Combining marks on one letter; Vietnamese takes two, pointed Hebrew three."""

_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_SPACES = frozenset("\xa0\u202f\u3000")
_SELECTORS = frozenset("\ufe0e\ufe0f")
_JOINERS = frozenset("\u200c\u200d")
_KEYCAP = "\u20e3"
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters, marks and symbols that show as nothing: what Unicode calls default ignorable, and one more."""
_COMMAND = re.compile(
    r"(?<![^\n])(?P<before>[^\S\n]*):(?=:[^\W\d_])"  # GitHub reads `::error::` at the start of a line,
    r"|#(?=#(?:\[|vso\[|teamcity\[))"  # and `##[error]` anywhere, as Azure and TeamCity do theirs
    r"|\[(?=\[ATTACHMENT\|)"  # Jenkins and GitLab: a file of the machine, named in a test's output
)
_BLOCK_KEEPS = frozenset("\n\t")
_LINE_KEEPS = frozenset[str]()
_OTHERS = re.compile("[\0-\x1f\x7f]")
_PRINTED = "°±²³µ·×÷–—“”•…←→↔≈≠≤≥"  # noqa: RUF001 - these are meant
"""Characters beyond ASCII that our own lines have: they are plain wherever they stand."""
_SUSPECT = re.compile(rf"[^ -~{_PRINTED}]|::|##|\[\[")
"""Characters that plain text lacks: text without them is returned unchanged after one search."""
_UNUSUAL = re.compile(rf"[^\0-\x7f{_PRINTED}]")
_CONTAINERS = (list, tuple, dict, Mapping)
"""Concrete types first, because isinstance with an abstract class takes ten times as long."""
_NUMBERS = (float, int)
_GAP = " … {} characters left out … "


def one_line(text: str, limit: int = LINE) -> str:
    r"""Return the text as one line of at most `limit` characters; line breaks become `\n`.

    Of a longer text the head and the tail stay, and how much is missing stands between them.
    """
    if len(text) <= limit and not _SUSPECT.search(text):
        return text
    return _bounded(text, lambda part: _spelled(part, _LINE_KEEPS), limit, lines=1)


def block(text: str, limit: int = BLOCK, lines: int = LINES) -> str:
    r"""Return the text with its line breaks and tabs, of at most `limit` characters and so many lines.

    Only `\n` and `\r\n` break a line. Of a longer text the head and the tail stay; the tail goes on in the
    line in which the head ends, so that no line begins where none began.
    """
    if len(text) <= limit and not _SUSPECT.search(text):
        return text
    text = text.replace("\r\n", "\n")
    return _bounded(text, lambda part: _spelled(part, _BLOCK_KEEPS), limit, lines=lines)


def quoted(text: str, prefix: str, limit: int = BLOCK, lines: int = LINES) -> str:
    """Return a block whose every line begins with `prefix`: none can be taken for a line of ours."""
    return "\n".join(prefix + line for line in block(text.removesuffix("\n"), limit, lines).split("\n"))


def document(value: Any, depth: int = DEPTH) -> Any:
    """Plain data with every text in it a block, and every key a line; what lies too deep is an ellipsis.

    Keys that become equal are numbered, so that nothing is lost.
    """
    if isinstance(value, str):
        return block(value)
    if isinstance(value, _NUMBERS) or not isinstance(value, _CONTAINERS):
        return value
    if not depth:
        return "…"
    if isinstance(value, list | tuple):
        # most of what evidence holds are numbers: a call for each of them would take longer than the rest
        return [entry if type(entry) in _NUMBERS else document(entry, depth - 1) for entry in value]
    if all(map(_is_line, value)):
        return {key: document(entry, depth - 1) for key, entry in value.items()}
    return keyed(value, lambda entry: document(entry, depth - 1))


def keyed(of: Mapping[Any, Any], entry: Callable[[Any], Any]) -> dict[Any, Any]:
    """Return a mapping with its names as lines, and `entry` of each value."""
    result: dict[Any, Any] = {}
    numbers: dict[str, int] = {}
    for key, value in of.items():
        name = line = one_line(key) if isinstance(key, str) else key
        while name in result:
            numbers[line] = numbers.get(line, 1) + 1
            name = f"{line} ({numbers[line]})"
        result[name] = entry(value)
    return result


@lru_cache(maxsize=4096)
def _is_line(key: Any) -> bool:
    """Whether a key is safe as it is; the same few come again and again."""
    return isinstance(key, str) and one_line(key) == key


def _bounded(text: str, safe: Callable[[str], str], limit: int, *, lines: int) -> str:
    """Return the safe text if it is short enough, otherwise the longest head and tail that are."""
    if len(text) <= limit:
        whole = safe(text)
        if len(whole) <= limit and whole.count("\n") < lines:
            return whole
    room, breaks = (limit - len(_GAP) - 8) // 2, (lines - 1) // 2
    if room < 1:
        return _fitting(text, safe, max(limit - 1, 0), 0, from_end=False)[1] + "…" * (limit > 0)
    taken, head = _fitting(text, safe, room, breaks, from_end=False)
    rest, tail = _fitting(text[taken:], safe, room, breaks, from_end=True)
    return f"{head}{_GAP.format(len(text) - taken - rest)}{tail}"


def _fitting(
    text: str, safe: Callable[[str], str], room: int, breaks: int, *, from_end: bool
) -> tuple[int, str]:
    """Return the length of the longest end of the text that is safe within the limits, and its safe form.

    A part is made safe from its own beginning to its own end: cutting what is safe already could take a
    letter from its marks, or half of an escape.
    """
    length = min(len(text), room)
    while length:
        part = text[-length:] if from_end else text[:length]
        shown = safe(part)
        over, many = len(shown) > room, shown.count("\n") > breaks
        if not over and not many:
            return length, shown
        if many:
            pieces = part.split("\n")
            fitting = pieces[-breaks - 1 :] if from_end else pieces[: breaks + 1]
            length = min(length - 1, len("\n".join(fitting)))
        else:
            length = min(length - 1, length * room // len(shown))
    return 0, ""


def _spelled(text: str, keeps: frozenset[str]) -> str:
    if not _UNUSUAL.search(text):
        shown = _OTHERS.sub(lambda match: match[0] if match[0] in keeps else _escape(match[0]), text)
    else:
        shown = "".join(_characters(text, keeps))
    return _COMMAND.sub(lambda match: (match["before"] or "") + _escape(match[0][-1]), shown)


def _characters(text: str, keeps: frozenset[str]) -> list[str]:
    """Escape each character, depending on those beside it."""
    shown: list[str] = []
    base = ""  # the character as it is shown that marks, selectors and joiners would change; "" for none
    marks = 0
    last = len(text) - 1
    for at, letter in enumerate(text):
        kind = _kind(letter)
        following = text[at + 1] if at < last else ""
        if letter in keeps:
            keep, base, marks = True, "", 0
        elif kind == "plain":
            keep, base, marks = True, letter, 0
        elif kind == "mark":
            keep, marks = bool(base) and marks < MARKS, marks + 1
        elif kind == "selector":
            keep = bool(base) and text[at - 1] == base and _takes_selector(base, following)
        elif kind == "joiner":
            keep = bool(base) and _joins(base, following)
            base, marks = "", 0
        else:
            keep = False
        if not keep:
            base = ""
        shown.append(letter if keep else _escape(letter))
    return shown


def _takes_selector(base: str, following: str) -> bool:
    """Tell whether a variation selector asks for another picture of the same symbol, as in emoji."""
    import unicodedata

    if base in "0123456789#*":
        return following == _KEYCAP
    return base == "\u2139" or (base > "\x7f" and unicodedata.category(base)[0] in "SP")


def _joins(before: str, following: str) -> bool:
    """Tell whether a joiner stands where scripts and emoji need one."""
    return bool(following) and _class_of(before) == _class_of(following) != ""


def _class_of(letter: str) -> str:
    import unicodedata

    category = unicodedata.category(letter)
    if _kind(letter) != "plain":
        return ""
    if category == "So" or "\U0001f3fb" <= letter <= "\U0001f3ff":
        return "symbol"
    return "letter" if category.startswith("L") and letter > "\u0590" else ""


@lru_cache(maxsize=4096)
def _kind(letter: str) -> str:
    """Return `plain`, `mark`, `selector` or `joiner`; empty for letters that are always escaped."""
    import unicodedata

    if letter in _SELECTORS:
        return "selector"
    if letter in _JOINERS:
        return "joiner"
    if _BLANK.match(letter):
        return ""
    if letter in _SPACES:
        return "plain"
    if not letter.isprintable():
        return ""
    return "mark" if unicodedata.category(letter).startswith("M") else "plain"


def _escape(letter: str) -> str:
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    code = ord(letter)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
