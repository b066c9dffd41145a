"""Text that its writer struck out. A reader sees that it is withdrawn, so it stays, between signs."""

from __future__ import annotations

import re

STRIKE = "~~"
"""What stands before and behind struck text, as in Markdown."""
STRIKES = frozenset({"s", "del", "strike"})
"""Elements of HTML whose text is struck."""
LINE_THROUGH = re.compile(r"text-decoration(?:-line)?\s*:[^;]*line-through", re.IGNORECASE)


def struck_out(text: str) -> str:
    """Return a text between the signs of struck text; spaces stay outside."""
    words = text.strip()
    return text.replace(words, f"{STRIKE}{words}{STRIKE}") if words else text


def joined_strikes(text: str) -> str:
    """Return a text in which struck words that follow one another are struck as one."""
    return re.sub(rf"(?<=\S){STRIKE}(\s*){STRIKE}(?=\S)", r"\1", text)
