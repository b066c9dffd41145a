"""The devices of a model's parameters and layer outputs, as the program reports them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.checks.drawings.gpu import name_of
from grader.model.drawing import ValueTable
from grader.model.magnitude import counted

OUTPUT = "output of "
"""Prefix of the name of a layer's output."""
MOST_ROWS = 24
DEEPEST = 12
"""Levels of nested modules that have rows of their own."""
_GPU = re.compile(r"cuda:([0-9]{1,4})")
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPart:
    """A parameter, or the output of a layer."""

    path: tuple[str, ...]
    """Its name, module by module."""
    output: bool
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRow:
    """Parts with a common name prefix that lie on one device."""

    path: tuple[str, ...]
    last: str = ""
    """The last module, where numbered ones beside each other lie together."""
    parameters: str = ""
    """The device of its parameters; empty if it has none."""
    outputs: str = ""

    @property
    def name(self) -> str:
        """`layer3`, or `layer3.0 to layer3.2`."""
        first = ".".join(self.path)
        return f"{first} to {'.'.join((*self.path[:-1], self.last))}" if self.last else first


def parts_table(devices: Mapping[str, str]) -> Iterator[ValueTable]:
    """Yield a table with a row for each module whose parts lie on one device; none without parts.

    `devices` are the devices of parameters and of outputs of layers, by name, as in `{"fc.weight": "cuda:1",
    "output of fc": "cuda:1"}`. Rows for the CPU come first, then those for each GPU in order.
    """
    parts = tuple(
        ModelPart(
            path=tuple(name.removeprefix(OUTPUT).split(".", DEEPEST)),
            output=name.startswith(OUTPUT),
            device=device,
        )
        for name, device in devices.items()
    )
    if not parts:
        return
    rows = sorted(_rows(parts, 0), key=lambda row: (_rank(row.parameters or row.outputs), _natural(row.path)))
    outputs = sum(part.output for part in parts)
    head: tuple[str, ...] = ("Part", "Lies on")
    what = counted(len(parts), "part")
    if outputs:
        head = ("Part", "Parameters on", "Outputs on")
        what = f"{counted(len(parts) - outputs, 'parameter')} and {counted(outputs, 'output')} of layers"
    yield ValueTable(
        title="Where the parts of the model lie",
        head=head,
        rows=tuple((row.name, _place(row.parameters), _place(row.outputs))[: len(head)] for row in rows),
        at_most=MOST_ROWS,
        caption=f"{what}, as the program says. A row stands for all whose names begin so.",
    )


def _rows(parts: Sequence[ModelPart], depth: int) -> Iterator[PartRow]:
    """Module by module; one whose parts lie apart is divided into its own modules."""
    modules: dict[str, list[ModelPart]] = {}
    for part in parts:
        modules.setdefault(part.path[depth], []).append(part)
    waiting: PartRow | None = None
    for name in sorted(modules, key=lambda name: _natural((name,))):
        divided = _divided(modules[name], depth)
        joined = _joined(waiting, divided[0]) if waiting and len(divided) == 1 else None
        if joined is None and waiting is not None:
            yield waiting
        if len(divided) == 1:
            waiting = joined or divided[0]
        else:
            waiting = None
            yield from divided
    if waiting is not None:
        yield waiting


def _divided(parts: Sequence[ModelPart], depth: int) -> Sequence[PartRow]:
    parameters = {part.device for part in parts if not part.output}
    outputs = {part.device for part in parts if part.output}
    path = parts[0].path[: depth + 1]
    if len(parameters) < 2 and len(outputs) < 2:
        return (PartRow(path=path, parameters="".join(parameters), outputs="".join(outputs)),)
    direct = [part for part in parts if len(part.path) == depth + 1]
    deeper = [part for part in parts if len(part.path) > depth + 1]
    rows = [
        PartRow(
            path=path,
            parameters="".join(part.device for part in direct if not part.output),
            outputs="".join(part.device for part in direct if part.output),
        )
    ]
    return (*(rows if direct else ()), *_rows(deeper, depth + 1))


def _joined(first: PartRow, second: PartRow) -> PartRow | None:
    """Join the rows of two numbered modules that lie on the same devices; None otherwise."""
    apart = any(a and b and a != b for a, b in zip(_where(first), _where(second), strict=True))
    if apart or not all(_NUMBER.fullmatch(row.path[-1]) for row in (first, second)):
        return None
    return PartRow(
        path=first.path,
        last=second.path[-1],
        parameters=first.parameters or second.parameters,
        outputs=first.outputs or second.outputs,
    )


def _where(row: PartRow) -> tuple[str, str]:
    return row.parameters, row.outputs


def _rank(device: str) -> tuple[bool, int, str]:
    """Return a key that sorts the CPU first, then GPUs by number, then other names."""
    gpu = _GPU.fullmatch(device)
    return device != "cpu", int(gpu[1]) if gpu else 10_000, device


def _natural(path: Sequence[str]) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts `2` before `10`."""
    return tuple((int(name) if _NUMBER.fullmatch(name) else 0, name) for name in path)


def _place(device: str) -> str:
    """Return `GPU 1` for `cuda:1`, and any other name unchanged."""
    if gpu := _GPU.fullmatch(device):
        return name_of(int(gpu[1]))
    return "CPU" if device == "cpu" else device or "-"
