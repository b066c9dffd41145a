"""Points for a list of requirements: all of them, or a share for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.model.score import Award


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One thing that is asked for."""

    met: bool | None
    """None if this evidence cannot say."""
    missed: str
    """What a student reads if it is not met, or cannot be seen: one sentence."""


def award_requirements(
    requirements: Sequence[Requirement], *, credit: str, flags: tuple[str, ...] = ()
) -> Award:
    """Return all points if every requirement is met; with `credit="per_case"` the share of those that are.

    What cannot be seen leaves the points open, unless they are lost whatever it was.

    Args:
        requirements: each with `met` and the sentence `missed`; equal sentences are shown once.
        credit: `all` or `per_case`, as a key of the item says.
        flags: remarks for staff, which the award carries.
    """
    total = len(requirements)
    if not total:
        return Award(fraction=1.0, reason="nothing is required", flags=flags)
    met = sum(requirement.met is True for requirement in requirements)
    counted = f"{met} of {total} requirements are met"
    if total == 1:
        counted = f"the requirement is {'' if met else 'not '}met"
    # One cause, such as a file that cannot be read, is one sentence however many requirements it costs.
    missed = "; ".join(
        dict.fromkeys(requirement.missed for requirement in requirements if requirement.met is False)
    )
    unseen = "; ".join(
        dict.fromkeys(requirement.missed for requirement in requirements if requirement.met is None)
    )
    if unseen and not (missed and credit == "all"):
        return Award(fraction=0.0, reason=f"{unseen}; a person must look", flags=flags, undecided=True)
    if met == total:
        return Award(fraction=1.0, reason=counted, flags=flags)
    if credit == "all":
        return Award(fraction=0.0, reason=missed, flags=flags)
    return Award(fraction=met / total, reason=f"{counted}; {missed}", flags=flags)
