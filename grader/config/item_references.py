"""Items that name others by `needs` and `uses`: those that do not exist, and cycles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader.config.problem import KeyPath, suggestion
from grader.config.type_words import quoted


def reference_objections(items: Sequence[Mapping[str, Any]]) -> Iterator[tuple[KeyPath, str]]:
    """Yield path and message of each item in `needs` or `uses` that does not exist, and of each cycle.

    An id that several items have takes no part in cycles: it would look like an item that needs itself.
    """
    ids = [values["id"] for values in items if "id" in values]
    waits_for: dict[str, list[str]] = {name: [] for name in ids}
    for index, values in enumerate(items):
        for key in ("needs", "uses"):
            for place, name in enumerate(values.get(key, ())):
                if name not in waits_for:
                    message = f"no item has the id {quoted(name)}; {suggestion(name, waits_for)}"
                    yield ("items", index, key, place), message
                elif "id" in values:
                    waits_for[values["id"]].append(name)
    for name in waits_for:
        if ids.count(name) > 1:
            waits_for[name] = []
    for cycle in _cycles(waits_for):
        index = next(i for i, values in enumerate(items) if values.get("id") == cycle[0])
        key = "needs" if cycle[1] in items[index].get("needs", ()) else "uses"
        message = f"goes round in a circle ({' -> '.join(cycle)}); take one of these out"
        yield ("items", index, key), message


def _cycles(waits_for: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Yield each cycle of a graph, from its first node in the file back to it."""
    from graphlib import CycleError, TopologicalSorter

    graph = {name: set(others) for name, others in waits_for.items()}
    order = list(graph)
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            circle = error.args[1][:0:-1]
            start = circle.index(min(circle, key=order.index))
            circle = [*circle[start:], *circle[:start], circle[start]]
            yield circle
            graph[circle[0]].remove(circle[1])
        else:
            return
