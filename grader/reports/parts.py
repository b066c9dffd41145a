"""Where the parts of a model lie, as the program says: its parameters, and what its layers put out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.reports.markup import text
from grader.reports.several_gpus import place
from grader.reports.tables import NOTHING, table
from grader.reports.words import counted

if TYPE_CHECKING:
    from grader.model.observation import Observation

KEPT_AS = "parts"
"""The fact: a mapping such as `{"fc.weight": "cuda:1", "output of fc": "cuda:1"}`."""
OUTPUT = "output of "
"""How the name of what a layer puts out begins."""
MOST_ROWS = 24
DEEPEST = 12
"""Modules within modules that are told apart."""
_GPU = re.compile(r"cuda:([0-9]{1,4})")
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A parameter, or the output of a layer."""

    path: tuple[str, ...]
    """Its name, module by module."""
    output: bool
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """All parts whose names begin alike and that lie together."""

    path: tuple[str, ...]
    last: str = ""
    """The last module, where numbered ones beside each other lie together."""
    parameters: str = ""
    """Where; empty if there are none."""
    outputs: str = ""

    @property
    def name(self) -> str:
        """`layer3`, or `layer3.0 to layer3.2`."""
        first = ".".join(self.path)
        return f"{first} to {'.'.join((*self.path[:-1], self.last))}" if self.last else first


def parts_table(observation: Observation) -> str:
    """A row for each module whose parts lie together; empty if nothing is told of parts.

    What lies on the CPU comes first, then GPU after GPU.
    """
    parts = tuple(_parts(observation.facts.get(KEPT_AS)))
    if not parts:
        return ""
    rows = sorted(_rows(parts, 0), key=lambda row: (_rank(row.parameters or row.outputs), _natural(row.path)))
    outputs = sum(part.output for part in parts)
    if outputs:
        head: Sequence[str] = ("Part", "Parameters on", "Outputs on")
        what = f"{counted(len(parts) - outputs, 'parameter')} and {counted(outputs, 'output')} of layers"
    else:
        head, what = ("Part", "Lies on"), counted(len(parts), "part")
    cells = ((row.name, _place(row.parameters), _place(row.outputs))[: len(head)] for row in rows)
    told = f"{what}, as the program says. A row stands for all whose names begin so."
    return (
        f'<figure><p class="label">Where the parts of the model lie</p>{table(head, cells, MOST_ROWS)}'
        f'<figcaption class="fine">{text(told)}</figcaption></figure>'
    )


def _parts(kept: Any) -> Iterator[Part]:
    """Those that can be shown."""
    for name, device in kept.items() if isinstance(kept, Mapping) else ():
        if isinstance(name, str) and isinstance(device, str):
            path = tuple(name.removeprefix(OUTPUT).split(".", DEEPEST))
            yield Part(path=path, output=name.startswith(OUTPUT), device=device)


def _rows(parts: Sequence[Part], depth: int) -> Iterator[Row]:
    """Module by module; one whose parts lie apart is divided into its own modules."""
    modules: dict[str, list[Part]] = {}
    for part in parts:
        modules.setdefault(part.path[depth], []).append(part)
    waiting: Row | None = None
    for name in sorted(modules, key=lambda name: _natural((name,))):
        found = _divided(modules[name], depth)
        joined = _joined(waiting, found[0]) if waiting and len(found) == 1 else None
        if joined is None and waiting is not None:
            yield waiting
        if len(found) == 1:
            waiting = joined or found[0]
        else:
            waiting = None
            yield from found
    if waiting is not None:
        yield waiting


def _divided(parts: Sequence[Part], depth: int) -> Sequence[Row]:
    parameters = {part.device for part in parts if not part.output}
    outputs = {part.device for part in parts if part.output}
    path = parts[0].path[: depth + 1]
    if len(parameters) < 2 and len(outputs) < 2:
        return (Row(path=path, parameters="".join(parameters), outputs="".join(outputs)),)
    own = [part for part in parts if len(part.path) == depth + 1]
    deeper = [part for part in parts if len(part.path) > depth + 1]
    rows = [
        Row(
            path=path,
            parameters="".join(part.device for part in own if not part.output),
            outputs="".join(part.device for part in own if part.output),
        )
    ]
    return (*(rows if own else ()), *_rows(deeper, depth + 1))


def _joined(one: Row, other: Row) -> Row | None:
    """Two rows as one, if they are of numbered modules that lie together."""
    apart = any(a and b and a != b for a, b in zip(_where(one), _where(other), strict=True))
    if apart or not all(_NUMBER.fullmatch(row.path[-1]) for row in (one, other)):
        return None
    return Row(
        path=one.path,
        last=other.path[-1],
        parameters=one.parameters or other.parameters,
        outputs=one.outputs or other.outputs,
    )


def _where(row: Row) -> tuple[str, str]:
    return row.parameters, row.outputs


def _rank(device: str) -> tuple[bool, int, str]:
    """The CPU first, then the GPUs by number, then what is no device."""
    gpu = _GPU.fullmatch(device)
    return device != "cpu", int(gpu[1]) if gpu else 10_000, device


def _natural(path: Sequence[str]) -> tuple[tuple[int, str], ...]:
    """For sorting: `2` before `10`."""
    return tuple((int(name) if _NUMBER.fullmatch(name) else 0, name) for name in path)


def _place(device: str) -> str:
    """`GPU 1` for `cuda:1`; what is said otherwise as it is said."""
    if gpu := _GPU.fullmatch(device):
        return place(int(gpu[1]))
    return "CPU" if device == "cpu" else device or NOTHING
