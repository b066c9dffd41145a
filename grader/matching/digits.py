"""Digits of all scripts, written as ASCII has them."""

from __future__ import annotations

import unicodedata

_SIGNS = {"\u066b": ".", "\u066a": "%"}
"""The signs of Arabic for a decimal point and for percent."""


def with_ascii_digits(text: str) -> str:
    """Return a text of the same length whose decimal digits, and Arabic's signs beside them, are ASCII's."""
    others = {sign for sign in text if sign > "\x7f" and (sign in _SIGNS or sign.isdecimal())}
    return text.translate({ord(s): _SIGNS.get(s) or str(unicodedata.decimal(s)) for s in others})
