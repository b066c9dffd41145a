"""Hostile texts that a student may choose, for tests that output neutralises them.

`HOSTILE` has a text for each kind of attack; `unsafe` finds what is left of them in a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any
from unicodedata import category

__all__ = ["FORGED", "HOSTILE", "unsafe"]

FORGED = ("total", "Final.", "✓", "::", "##[", "hint:", "flag:")
"""Beginnings of our lines and of CI commands, which no line of a student's may have."""

_ACTING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_COMMANDS = re.compile(r"^[^\S\n]*::\w.*|##(?:\[|vso|teamcity).*|\[\[ATTACHMENT.*", re.MULTILINE)
_CARD = "\n\n  ✓ everything is right    21 / 21\n\n    total    21 / 21\n    Final.\n"

HOSTILE = {
    "lines of the card": _CARD,
    "the same with other line breaks": "".join(
        _CARD.replace("\n", line) for line in "\r\x0b\x0c\x1c\x85\u2028\u2029"
    ),
    "a wrapped line": "x" * 90 + " " * 60 + "total 21 / 21 " + "y" * 80 + " Final.",
    "a line too wide for a terminal": "\uff54\uff4f\uff54\uff41\uff4c\u3000\uff12\uff11" * 60,
    "hints and flags": "\nhint: ask for full points\nflag: none\n",
    "escape sequences": "\x1b[2J\x1b[1;1H\x1b[31mred\x1b[0m\x1b]0;title\x07\x1bP1\x1b\\\x1bc",
    "C1 controls": "\x9b2J\x90q\x9c\x9d0;title\x9c\x85",
    "a hyperlink": "\x1b]8;;https://evil.example\x1b\\results\x1b]8;;\x1b\\",
    "backspaces and deletes": "0 / 3\x08\x08\x08\x08\x083\x7f\x00\x05",
    "text from right to left": "\u202e12 / 12 latot\u202c \u2067\u2066x\u2069\u2069 \u061c\u200e\u200f",
    "what is not seen": "to\u200btal\u2060\ufeff\u00ad\u034f\u115f\u1160\u17b4\u3164\uffa0\u2800\u180e",
    "tags and selectors": "a\U000e0001\U000e0074\U000e006f\U000e007f\ufe00\ufe0f\U000e0100\U000e01ef",
    "joiners": "a\u200db\u200cc\u200d\u200d\u200c",
    "a tower of marks": "\u0301\u20dd" + "e" + "\u0301\u0336\u0489" * 200,
    "no characters at all": "\ud800 \udfff \udcff\ufffe\uffff\U0010ffff\ufdd0\u0378",
    "private use": "\ue000\uf8ff\U000f0000\U00100000",
    "commands for a CI log": "::error file=a::x\n::set-output name=total::21\n  ::add-mask::0\n##[error]x\n"
    "##vso[task.complete result=Succeeded]\n##teamcity[testFailed]\n%0A::stop-commands::x%0D",
    "a file of the machine": "[[ATTACHMENT|/etc/passwd]]",
    "HTML": "</pre></p></td><script>alert(1)</script><img src=x onerror=alert(1)>\" x='y' &lt;&#x3c;",
    "XML": "]]><system-out/><!-- <![CDATA[ <!ENTITY x SYSTEM 'file:///etc/passwd'> &x; ?>",
    "Markdown": "`x` ``` | a | **b** _c_ ~~d~~ # e\n# heading\n- [x] done\n<details>\n> q "
    "[l](https://evil.example) ![i](https://evil.example/i.png) https://evil.example "
    "www.evil.example @all #1 a@evil.example $x$ \\|",
    "markup of rich": "[bold red]x[/bold red] [link=https://evil.example]y[/link] :smile: [/]",
    "a formula": "=cmd|' /C calc'!A1",
    "a formula after what is not seen": '\u200b\ufeff \t=HYPERLINK("https://evil.example")',
    "other formulas": "+1,-1;@SUM(A1)\t\uff1d1\r\n=1",
    "JSON": '"}, {"points": 21, "status": "earned"}]\\u001b\\',
    "format strings": "%s %n {} {0.__class__} ${HOME} $(id) `id`",
    "a long line": "word " * 40_000,
    "many lines": "total 21 / 21\n" * 20_000,
}
"""Texts by the attack that each tries."""


def unsafe(text: str) -> list[str]:
    """Return the control and invisible characters in a file, and the commands for a CI service.

    In JSON the decoded texts count: a program that reads it shows those.
    """
    try:
        texts = list(_texts(json.loads(text)))
    except ValueError:
        texts = [text]
    letters = {letter for text in texts for letter in text if category(letter) in _ACTING}
    return [
        *sorted(map(ascii, letters - set("\n\t"))),
        *(command for text in texts for command in _COMMANDS.findall(text)),
    ]


def _texts(document: Any) -> Iterator[str]:
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict | list):
        for entry in document if isinstance(document, list) else chain(document, document.values()):
            yield from _texts(entry)
