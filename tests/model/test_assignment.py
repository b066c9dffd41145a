"""What an assignment may declare of its build."""

from __future__ import annotations

import re

import pytest

from grader.model.assignment import Build


def build(**fields):
    return Build(**{"command": ("make",), "products": ("lib/a.so",), "variable": "LIBRARY", **fields})


def test_a_build_needs_a_command_a_product_and_a_variable():
    assert build().programs == ("make", "nvcc", "g++")
    for field, nothing in (("command", ()), ("products", ()), ("variable", "")):
        with pytest.raises(ValueError, match="build: give a command, what it makes, and the variable"):
            build(**{field: nothing})


@pytest.mark.parametrize(
    ("field", "words", "written"),
    [
        ("command", ("make -O",), "'make -O' are several words; write ('make', '-O')"),
        ("command", ("make", "-O -j4"), "'-O -j4' are several words; write ('make', '-O', '-j4')"),
        ("programs", ("make", "nvcc g++"), "'nvcc g++' are several words; write ('make', 'nvcc', 'g++')"),
    ],
)
def test_each_word_of_a_command_is_a_text_of_its_own(field, words, written):
    with pytest.raises(ValueError, match=re.escape(f"build: {field}: {written}")):
        build(**{field: words})


@pytest.mark.parametrize(
    "command",
    [
        ("sh", "-c", "make; rm *.o"),
        ("/opt/my tools/make",),
        ("make", "CXXFLAGS=-O2 -g"),
        ("g++", "-DA=-1 -2"),
    ],
)
def test_a_word_of_a_command_may_have_blanks(command):
    assert build(command=command).command == command


@pytest.mark.parametrize("path", ["/etc/passwd", "../a.so", "lib/../../a.so"])
def test_a_product_lies_below_the_top_folder(path):
    with pytest.raises(ValueError, match=r"build: products: .*: must lie below the submission's top folder"):
        build(products=(path,))
