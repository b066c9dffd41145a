"""One line of what `grader doctor` says."""

from __future__ import annotations

from dataclasses import dataclass

SPOILS = "would spoil a timing"
"""The heading over what is not missing but disturbs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is as it should be, or is not."""

    about: str
    name: str
    there: bool
    says: str
    advice: str = ""
    """How to get it where it is missing, or what helps where it disturbs."""
