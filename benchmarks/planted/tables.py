"""Markdown tables of what `verdicts.py` wrote down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from statistics import median, quantiles
from typing import Any

from planted.lines import Line

DECIDED = ("earned", "not earned", "noisy")


def tables(lines: Sequence[Line]) -> str:
    """A table for each part that there are lines of, and the machines that they come from."""
    found = [make(lines) for make in (_planted, _stable, _clocks)]
    machines = sorted({f"{line['at'][:10]}, {line['machine']}" for line in lines if "machine" in line})
    return "\n\n".join(filter(None, [*found, *machines]))


def _planted(lines: Sequence[Line]) -> str:
    truths = _by([line for line in lines if line["part"] == "truth"], _planted_as)
    rows = []
    for key, runs in sorted(_by([line for line in lines if line["part"] == "planted"], _planted_as).items()):
        items = [run["items"]["speedup"] for run in runs]
        verdicts = Counter(item["verdict"] for item in items)
        ratios = [item["measured"]["ratio"] for item in items if "ratio" in item["measured"]]
        near = sum(flag.startswith("near_threshold") for item in items for flag in item["flags"])
        rows.append(
            [
                *_where(key[:2]),
                f"{key[2]:g}",
                _range([truth["true_ratio"] for truth in truths.get(key, ())], "{:.2f}"),
                str(len(runs)),
                *(str(verdicts[name]) for name in DECIDED),
                str(len(runs) - sum(verdicts[name] for name in DECIDED)),
                str(near),
                _middle(ratios, "{:.2f}"),
                _range([item["measured"].get("disturbed_rounds") for item in items], "{:.0f}"),
            ]
        )
    heads = ["on", "cores", "planted", "true, checked", "runs", *DECIDED, "open otherwise", "near threshold"]
    return _table([*heads, "measured", "disturbed rounds"], rows)


def _stable(lines: Sequence[Line]) -> str:
    """Items by submissions, and how often each verdict was given."""
    groups = _by([line for line in lines if line["part"] == "stable"], lambda line: line["load"])
    parts = []
    for load, runs in sorted(groups.items()):
        by_name = _by(runs, lambda line: line["submission"])
        items = dict.fromkeys(item for run in runs for item in run["items"])
        rows = [
            [item, *(_counted(run["items"].get(item) for run in by_name[name]) for name in by_name)]
            for item in items
        ]
        heads = [f"item, cores {_cores(load)}", *(f"{name}, {len(by_name[name])} runs" for name in by_name)]
        parts.append(_table(heads, rows))
    return "\n\n".join(parts)


def _counted(items: Iterable[Line | None]) -> str:
    verdicts = Counter("not looked at" if item is None else item["verdict"] for item in items)
    return ", ".join(f"{verdict} {count}" for verdict, count in verdicts.most_common())


def _clocks(lines: Sequence[Line]) -> str:
    groups = _by(
        [line for line in lines if line["part"] == "clocks"],
        lambda line: (line["cpu"], line["load"], line["about_ms"]),
    )
    rows = []
    for key, runs in sorted(groups.items()):
        items = [run["items"]["clocks"] for run in runs]
        timed = [call for item in items for call in item.get("timed", ())]
        observed = [call for item in items for call in item.get("observed", ())]
        if not timed:
            continue
        outside = [call["wall_s"] - call["again_s"] for call in timed]
        own = [call["own_s"] for call in timed]
        device = [call["kernels_s"] + call["copies_s"] for call in observed]
        beside_device = [median(outside) - s for s in device]
        disturbed = sum(bool(item["disturbance"]) for item in items)
        bias = [100 * (seen - told) / told for seen, told in zip(outside, own, strict=True)]
        rows.append(
            [
                *_where(key[:2]),
                f"{key[2]:g} ms",
                str(len(timed)),
                f"{disturbed} of {len(items)}",
                *(
                    _spread([1e3 * s for s in seconds], "{:.3f}")
                    for seconds in ([call["again_s"] for call in timed], outside, own)
                ),
                _spread(bias, "{:+.1f}"),
                _spread([1e3 * s for s in device], "{:.3f}"),
                _spread([1e3 * s for s in beside_device], "{:.3f}"),
            ]
        )
    heads = ["on", "cores", "call", "calls", "disturbed runs", "handing over, ms"]
    heads += ["outside less that, ms", "own clock, ms"]
    return _table([*heads, "outside too long, %", "device (CUPTI), ms", "outside less device, ms"], rows)


def _planted_as(line: Line) -> tuple[bool, str, float]:
    return line["cpu"], line["load"], line["ratio"]


def _where(key: tuple[bool, str]) -> tuple[str, str]:
    cpu, load = key
    return "CPU" if cpu else "GPU", _cores(load)


def _cores(load: str) -> str:
    return f"{load} busy" if load else "quiet"


def _by(lines: Iterable[Line], key: Callable[[Line], Any]) -> dict[Any, list[Line]]:
    """Groups, in the order in which they begin."""
    groups: dict[Hashable, list[Line]] = {}
    for line in lines:
        groups.setdefault(key(line), []).append(line)
    return groups


def _range(values: Iterable[float | None], form: str) -> str:
    """The smallest and the largest of what is there."""
    there = [value for value in values if value is not None]
    if not there:
        return ""
    ends = [form.format(end) for end in (min(there), max(there))]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _middle(values: Sequence[float], form: str) -> str:
    """The median, and the whole range."""
    return f"{form.format(median(values))} ({_range(values, form)})" if values else ""


def _spread(values: Sequence[float], form: str) -> str:
    """The median, and between what eight of ten lie."""
    if len(values) < 2:
        return form.format(*values) if values else ""
    tenths = quantiles(values, n=10, method="inclusive")
    return f"{form.format(median(values))} ({form.format(tenths[0])} to {form.format(tenths[-1])})"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown; empty if there are no rows."""
    return "\n".join(_rows(heads, list(rows)))


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in (heads, ["---"] * len(heads), *rows) if rows else ():
        yield f"| {' | '.join(cells)} |"
