"""Our own profile of a program, and how a reported list differs from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grader.matching.cuda_names import call_name, short_name
from grader.matching.listed_shares import ListedShare

if TYPE_CHECKING:
    from grader.model.document import Document

ALIKE = 6
"""Characters that two names have in common at least where one is a part of the other."""
_GPU = re.compile(
    r"(?<![A-Za-z0-9])(?:G?[HB](?:100|200|300|800|20)|A(?:100|800|10G?|16|30|40|4000|5000|6000)|L(?:4|40S?)|T4|V100S?"
    r"|P(?:100|40|4)|K80|M60|(?:RTX|GTX)\s?(?:PRO\s?)?A?\d{4}|TITAN\s?(?:RTX|V|Xp?))(?![A-Za-z0-9])"
)
_TORCH = re.compile(r"\btorch\W{0,3}(?:version)?\W{0,4}v?(\d{1,2}\.\d{1,2})(?!\d)", re.IGNORECASE)


def machine_of(documents: Sequence[Document]) -> dict[str, list[str]]:
    """Return the GPUs and the versions of torch that a report names."""
    text = "\n".join(block.text for document in documents for block in document.blocks)
    gpus = dict.fromkeys("".join(match.group().split()).upper() for match in _GPU.finditer(text))
    return {"gpus": list(gpus)[:8], "torch": list(dict.fromkeys(_TORCH.findall(text)))[:8]}


def compared(
    rows: Sequence[ListedShare], listed: str, within: float, ours: Mapping[str, Any]
) -> tuple[list[str], list[str]]:
    """Return the names in our own profile, and a sentence on each difference; none without any names."""
    if listed == "kernels":
        names = [name for name, _, _ in ours["kernels"]]
        return names, [*_differences(rows, ours["kernels"], within)]
    calls = list(ours.get("calls", ()))  # evidence of earlier versions has none
    return calls, [*_never_called(rows, calls, within)]


def other_machine(facts: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """Return the machine of the report where it surely is another one than ours; empty if it may be ours."""
    name = "".join(str(ours["gpu"]).split()).upper()
    if facts["gpus"] and not any(gpu in name for gpu in facts["gpus"]):
        return ", ".join(facts["gpus"])
    version = ".".join(str(ours["torch"]).split(".")[:2])
    if facts["torch"] and version not in facts["torch"]:
        return f"torch {', '.join(facts['torch'])}"
    return ""


def _differences(
    rows: Sequence[ListedShare], kernels: Sequence[Sequence[Any]], within: float
) -> Iterator[str]:
    """Yield a sentence on each kernel whose share is another one in our profile, the largest first."""
    whole = sum(seconds for _, seconds, _ in kernels) or 1.0
    ours: dict[str, float] = {}
    for name, seconds, _ in kernels:
        ours[_key(name)] = ours.get(_key(name), 0.0) + 100 * seconds / whole
    theirs: dict[str, float] = {}
    for row in rows:
        key = next((name for name in ours if _alike(name, _key(row.name))), _key(row.name))
        theirs[key] = theirs.get(key, 0.0) + row.share
    for key, share in theirs.items():
        if key not in ours:
            yield f"“{key}” ({share:.3g}% in the report) does not run"
        elif abs(share - ours[key]) > within:
            yield f"“{key}” takes {ours[key]:.3g}%, and {share:.3g}% in the report"
    for key, share in sorted(ours.items(), key=lambda one: -one[1]):
        if key not in theirs and share > within:
            yield f"“{key}” takes {share:.3g}%, and is not in the report"


def _never_called(rows: Sequence[ListedShare], calls: Sequence[str], within: float) -> Iterator[str]:
    """Yield a sentence on each call that our run never made, if they are said to take more than a little."""
    made = {call_name(name).lower() for name in calls}
    never = [row for row in rows if call_name(row.name).lower() not in made]
    if sum(row.share for row in never) > within:
        yield from (f"“{row.name}” ({row.share:.3g}% in the report) is never called" for row in never)


def in_common(rows: Sequence[ListedShare], names: Sequence[str]) -> bool:
    """Tell whether a list has a name of ours: those of the framework are the same on all GPUs."""
    ours = {_key(name) for name in names}
    return any(_alike(name, _key(row.name)) for row in rows for name in ours)


def _key(name: str) -> str:
    return short_name(name).lower()


def _alike(ours: str, theirs: str) -> bool:
    """Tell whether two names are those of one kernel, of which one may be cut off."""
    if ours == theirs:
        return True
    return min(len(ours), len(theirs)) >= ALIKE and (ours.startswith(theirs) or theirs.startswith(ours))
