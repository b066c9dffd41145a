"""What students of using_gpus get fits what they are asked for."""

from __future__ import annotations

import ast
import re
from math import fsum
from pathlib import Path

import pytest

from grader.config.rubric import load_rubric
from grader.coursecode import course_module
from grader.plugins import Plugins

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assignments" / "using_gpus"
HANDED_IN = ("devices.py", "parallel.py", "timing.py")


def functions(file):
    """The signatures of its public functions."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    defined = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    return {one.name: ast.unparse(one.args) for one in defined}


def rubric():
    kinds = Plugins(ROOT).checks
    return load_rubric(ROOT / "rubrics" / "using_gpus.yaml", kinds=kinds, assignments={"using_gpus": FOLDER})


@pytest.mark.parametrize("file", HANDED_IN)
def test_the_starter_has_the_functions_of_the_reference(file):
    starter, reference = functions(FOLDER / "starter" / file), functions(FOLDER / "reference" / file)
    assert starter.items() <= reference.items()


def test_the_hand_out_names_every_function_as_the_starter_has_it():
    handout = (FOLDER / "handout.md").read_text(encoding="utf-8")
    for file in HANDED_IN:
        for name, arguments in functions(FOLDER / "starter" / file).items():
            assert f"`{name}({arguments})`" in handout


def test_students_get_the_networks_that_are_timed():
    given, starter = (FOLDER / folder / "networks.py" for folder in ("given", "starter"))
    assert given.read_bytes() == starter.read_bytes()


def test_the_mini_batches_that_are_timed_are_those_that_students_have():
    (given,) = re.findall(r"^BATCHES = (.*)$", (FOLDER / "given" / "networks.py").read_text(), re.MULTILINE)
    assert ast.literal_eval(given) == course_module(FOLDER / "inputs.py").BATCHES


def test_the_parts_are_worth_what_the_hand_out_says():
    handout = (FOLDER / "handout.md").read_text(encoding="utf-8")
    for part in ("devices", "parallel", "timing"):
        points = fsum(item.points for item in rubric().items if item.id.startswith(f"{part}."))
        assert f"({points:g} points)" in handout


def test_what_asks_for_two_gpus_says_what_virtual_ones_are_given():
    without = [
        item.id
        for item in rubric().items
        if item.devices and not getattr(item.options, "simulated_inputs", "")
    ]
    assert without == ["timing.holds_kernels", "timing.table"]  # both are about time


def test_every_item_that_can_be_lost_teaches_something():
    without = [item.id for item in rubric().items if not item.hint]
    assert without == ["timing.holds_kernels"]  # its kind has one of its own
