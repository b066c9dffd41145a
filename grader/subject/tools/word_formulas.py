"""Formulas and symbols of Word documents as text."""

from __future__ import annotations

from typing import Any

DEEP = 60
"""Elements that are nested deeper are not read."""

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MATHEMATICS = {f"{_M}f": "({})/({})", f"{_M}sSup": "{}^{}", f"{_M}sSub": "{}_{}"}


def mathematics(element: Any, deep: int) -> str:
    """Write a formula in one line."""
    if deep > DEEP:
        return ""
    if element.tag == f"{_M}t":
        return element.text or ""
    parts = [
        mathematics(child, deep + 1) for child in element if not str(child.tag).endswith(("Pr", "ctrlPr"))
    ]
    form = _MATHEMATICS.get(element.tag)
    return form.format(*parts) if form and len(parts) == 2 else "".join(parts)


def symbol(code: str | None) -> str:
    """Return the letter of a symbol by its code."""
    try:
        letter = chr(int((code or "")[:6], 16))
    except (ValueError, OverflowError):
        return ""
    return " " if "\ue000" <= letter <= "\uf8ff" else letter  # private use: a picture in a font
