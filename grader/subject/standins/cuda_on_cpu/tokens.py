"""C++ cut into tokens, comments and directives among them, so that joined they are the source again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_KINDS = (
    ("directive", r"^[ \t]*\#(?:\\\r?\n|/\*(?s:.)*?\*/|//(?:\\\r?\n|[^\n])*|[^\n])*"),
    ("comment", r"//(?:\\\r?\n|[^\n])*|/\*(?s:.)*?\*/"),
    ("text", r'(?:u8|[uUL])?R"(?P<end>[^\s()\\]*)\((?s:.)*?\)(?P=end)"'),
    ("text", r"(?:u8|[uUL])?\"(?:\\(?s:.)|[^\"\\\n])*\"|(?:u8|[uUL])?'(?:\\(?s:.)|[^'\\\n])+'"),
    ("number", r"\.?\d(?:[eEpP][+-]|'\w|[\w.])*"),
    ("name", r"[^\W\d]\w*"),
    ("space", r"[^\S\n]+|\\\r?\n|\n"),
    ("sign", r"<<<|>>>|::|->|<<=|>>=|<=|>=|<<|>>|(?s:.)"),
)
_TOKEN = re.compile("|".join(f"(?P<k{i}>{pattern})" for i, (_, pattern) in enumerate(_KINDS)), re.MULTILINE)
_OPENING = {")": "(", "]": "[", "}": "{"}
CLOSING = {opening: closing for closing, opening in _OPENING.items()}


class Token(NamedTuple):
    """A piece of the source."""

    kind: str
    """`directive`, `comment`, `text` (a string or a character), `number`, `name`, `space` or `sign`."""
    text: str

    @property
    def blank(self) -> bool:
        """Whether it means nothing to a compiler."""
        return self.kind in {"space", "comment"}


def tokens_of(source: str) -> list[Token]:
    """Cut a source into tokens; nothing is left out and nothing is an error."""
    return [Token(_KINDS[int((match.lastgroup or "k0")[1:])][0], match.group()) for match in _matches(source)]


def _matches(source: str) -> list[re.Match[str]]:
    return list(_TOKEN.finditer(source))


def text_of(tokens: Sequence[Token]) -> str:
    """Join tokens to the source again."""
    return "".join(token.text for token in tokens)


def next_index(tokens: Sequence[Token], at: int) -> int:
    """Return the index of the first token from `at` on that is not blank; their number if there is none."""
    while at < len(tokens) and tokens[at].blank:
        at += 1
    return at


def previous_index(tokens: Sequence[Token], at: int) -> int:
    """Return the index of the last token up to `at` that is not blank; -1 if there is none."""
    while at >= 0 and tokens[at].blank:
        at -= 1
    return at


def closing_index(tokens: Sequence[Token], at: int) -> int:
    """Return where the bracket that opens here is closed; -1 if it is not."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i].kind == "sign":
            depth += (tokens[i].text in CLOSING) - (tokens[i].text in _OPENING)
            if depth == 0:
                return i
    return -1


def opening_index(tokens: Sequence[Token], at: int) -> int:
    """Return where the bracket that closes here, a template's too, was opened; -1 if it was not."""
    angles = tokens[at].text.startswith(">")
    depth = 0
    while at >= 0:
        token = tokens[at]
        if token.kind == "sign":
            if angles and set(token.text) in ({"<"}, {">"}):
                depth += len(token.text) * (1 if token.text[0] == ">" else -1)
            elif angles and token.text in _OPENING:
                at = opening_index(tokens, at)
            elif not angles:
                depth += (token.text in _OPENING) - (token.text in CLOSING)
            if depth <= 0:
                return at
        at -= 1
    return -1


def split_at_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split tokens at the commas that stand in no bracket, a template's among them."""
    parts: list[list[Token]] = [[]]
    depth = angles = 0
    for token in tokens:
        if token.kind == "sign":
            depth += (token.text in CLOSING) - (token.text in _OPENING)
            if depth == 0 and set(token.text) in ({"<"}, {">"}):
                angles = max(0, angles + len(token.text) * (1 if token.text[0] == "<" else -1))
            if token.text == "," and depth == 0 and angles == 0:
                parts.append([])
                continue
        parts[-1].append(token)
    return parts
