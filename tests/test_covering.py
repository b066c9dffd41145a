"""Which cases of a test are quick: those that show each value once, or as many as its mark says."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import pytest

from tests.conftest import mark_beyond_count, mark_beyond_covering


class Item(SimpleNamespace):
    """A test with parameters, as far as it is looked at."""

    def __init__(self, name: str, **params: object) -> None:
        case = "-".join(map(str, params.values()))
        super().__init__(nodeid=f"{name}[{case}]", callspec=SimpleNamespace(params=params), marks=[])

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks.append(mark.mark)

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next((mark for mark in self.marks if mark.name == name), None)


def quick(items: list[Item]) -> list[str]:
    mark_beyond_covering(items)
    return [item.nodeid for item in items if not item.marks]


def test_each_value_is_shown_once_and_every_other_combination_is_slow():
    items = [Item("test", layer=layer, form=form) for layer, form in product("ab", "wxyz")]
    assert quick(items) == ["test[a-w]", "test[a-y]", "test[a-z]", "test[b-x]"]


def test_functions_are_looked_at_one_by_one_and_one_parameter_alone_leaves_nothing_out():
    items = [Item(name, layer=layer) for name in ("one", "other") for layer in "ab"]
    assert len(quick(items)) == 4


def test_behind_as_many_quick_cases_as_a_mark_says_all_are_slow_and_slow_ones_do_not_count():
    items = [Item(name, form=form) for name in ("one", "other") for form in "wxyz"]
    for item in items[:4]:
        item.add_marker(pytest.mark.quick(2))
    items[0].add_marker(pytest.mark.slow)
    mark_beyond_count(items)
    slow = [item.nodeid for item in items if item.get_closest_marker("slow")]
    assert slow == ["one[w]", "one[z]"]
