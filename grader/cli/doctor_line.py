"""One line of `grader doctor`."""

from __future__ import annotations

from dataclasses import dataclass

PACKAGES = "optional packages"
"""The heading over packages of extras."""
SPOILS = "would spoil a timing"
"""The heading over sources of disturbance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorLine:
    """One checked property of the machine."""

    about: str
    name: str
    works: bool
    says: str
    advice: str = ""
    """The remedy for something that is missing, or that disturbs."""
