"""Which combinations of a test with several parameters are quick: enough for each value to be shown once."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

from tests.conftest import mark_beyond_covering


class Item(SimpleNamespace):
    """A test with parameters, as far as it is looked at."""

    def __init__(self, name: str, **params: object) -> None:
        case = "-".join(map(str, params.values()))
        super().__init__(nodeid=f"{name}[{case}]", callspec=SimpleNamespace(params=params), marks=[])

    def add_marker(self, mark: object) -> None:
        self.marks.append(mark)


def quick(items: list[Item]) -> list[str]:
    mark_beyond_covering(items)
    return [item.nodeid for item in items if not item.marks]


def test_each_value_is_shown_once_and_every_other_combination_is_slow():
    items = [Item("test", layer=layer, form=form) for layer, form in product("ab", "wxyz")]
    assert quick(items) == ["test[a-w]", "test[a-y]", "test[a-z]", "test[b-x]"]


def test_functions_are_looked_at_one_by_one_and_one_parameter_alone_leaves_nothing_out():
    items = [Item(name, layer=layer) for name in ("one", "other") for layer in "ab"]
    assert len(quick(items)) == 4
