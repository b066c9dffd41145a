"""What an assignment may declare of its build."""

from __future__ import annotations

import pytest

from grader.model.assignment import Build


def build(**fields):
    return Build(**{"command": ("make",), "products": ("lib/a.so",), "variable": "LIBRARY", **fields})


def test_a_build_needs_a_command_a_product_and_a_variable():
    assert build().programs == ("make", "nvcc", "g++")
    for field, nothing in (("command", ()), ("products", ()), ("variable", "")):
        with pytest.raises(ValueError, match="build: give a command, what it makes, and the variable"):
            build(**{field: nothing})


@pytest.mark.parametrize("path", ["/etc/passwd", "../a.so", "lib/../../a.so"])
def test_a_product_lies_below_the_top_folder(path):
    with pytest.raises(ValueError, match=r"build: products: .*: must lie below the submission's top folder"):
        build(products=(path,))
