"""Where the parts of a model lie is told module by module, and what lies astray stands out."""

from __future__ import annotations

import re

import pytest

from grader.checks.drawings.model_parts import DEEPEST, MOST_ROWS, parts_table


@pytest.fixture
def shown(make):
    """The table of these parts: its head, its rows, and what stands below it."""

    def shown(parts):
        source = make.rendered(parts_table(parts))
        head = re.findall(r'<th scope="col">(.*?)</th>', source)
        body = source.partition("<tbody>")[2]
        rows = [
            re.findall(r"(?s)<t[hd][^>]*>(.*?)</t[hd]>", row)
            for row in re.findall(r"(?s)<tr>(.*?)</tr>", body)
        ]
        return head, rows, source

    return shown


def test_a_module_whose_parts_lie_together_is_one_row(shown):
    parts = {"fc.weight": "cuda:1", "fc.bias": "cuda:1", "output of fc": "cuda:1"}
    head, rows, source = shown(parts | {"conv1.weight": "cuda:0", "output of relu": "cuda:0"})
    assert head == ["Part", "Parameters on", "Outputs on"]
    assert rows == [["conv1", "GPU 0", "-"], ["relu", "-", "GPU 0"], ["fc", "GPU 1", "GPU 1"]]
    assert "3 parameters and 2 outputs of layers, as the program says." in source


def test_a_parameter_that_lies_astray_is_named_and_the_cpu_comes_first(shown):
    parts = {f"layer1.{n}.{kind}": "cuda:0" for n in range(3) for kind in ("weight", "bias")}
    outputs = {f"output of layer1.{n}": "cuda:0" for n in range(3)}
    _, rows, _ = shown(parts | outputs | {"layer1.1.bias": "cpu", "fc.weight": "cuda:0"})
    assert rows == [
        ["layer1.1.bias", "CPU", "-"],
        ["fc", "GPU 0", "-"],
        ["layer1.0", "GPU 0", "GPU 0"],
        ["layer1.1", "-", "GPU 0"],
        ["layer1.1.weight", "GPU 0", "-"],
        ["layer1.2", "GPU 0", "GPU 0"],
    ]


def test_numbered_modules_that_lie_together_share_a_row(shown):
    blocks = {f"layer3.{n}.conv.weight": f"cuda:{int(n > 9)}" for n in range(12)}
    outputs = {f"output of layer3.{n}.conv": f"cuda:{int(n > 9)}" for n in range(12)}
    _, rows, _ = shown(blocks | outputs)
    assert rows == [
        ["layer3.0 to layer3.9", "GPU 0", "GPU 0"],
        ["layer3.10 to layer3.11", "GPU 1", "GPU 1"],
    ]


def test_a_numbered_module_without_parameters_does_not_part_its_neighbours(shown):
    parts = {"net.1.weight": "cuda:0", "net.4.weight": "cuda:1"}
    _, rows, _ = shown(parts | {f"output of net.{n}": f"cuda:{n // 3}" for n in range(5)})
    assert rows == [["net.0 to net.2", "GPU 0", "GPU 0"], ["net.3 to net.4", "GPU 1", "GPU 1"]]


def test_modules_with_names_are_not_joined_for_their_order_is_not_known(shown):
    _, rows, _ = shown({"a.b.weight": "cuda:0", "a.c.weight": "cuda:0", "a.d.weight": "cuda:1"})
    assert [name for name, *_ in rows] == ["a.b", "a.c", "a.d"]


def test_parameters_that_lie_elsewhere_than_the_outputs_are_shown_so(shown):
    _, rows, _ = shown({"fc.weight": "cuda:1", "output of fc": "cuda:0"})
    assert rows == [["fc", "GPU 1", "GPU 0"]]


def test_outputs_that_lie_apart_divide_a_module_as_well(shown):
    _, rows, _ = shown({"a.b.weight": "cuda:0", "output of a.b": "cuda:0", "output of a.c": "cpu"})
    assert rows == [["a.c", "-", "CPU"], ["a.b", "GPU 0", "GPU 0"]]


def test_parts_of_which_no_outputs_are_told_just_lie_somewhere(shown):
    head, rows, source = shown({"encoder": "cuda:0", "decoder": "cpu"})
    assert head == ["Part", "Lies on"]
    assert rows == [["decoder", "CPU"], ["encoder", "GPU 0"]]
    assert "2 parts, as the program says." in source


def test_a_long_table_says_how_much_more_there_is(shown):
    _, rows, source = shown({f"part_{n}": "cuda:0" for n in range(MOST_ROWS + 2)})
    assert len(rows) == MOST_ROWS
    assert "And 2 more." in source


def test_what_is_no_device_is_shown_as_it_is_said(shown):
    _, rows, _ = shown({"a": "cuda", "b": "", "c": "cuda:" + "9" * 5000, "d": "<b>", "e": "cuda:x"})
    assert {name: device[:9] for name, device in rows} == {
        "a": "cuda", "b": "-", "c": "cuda:9999", "d": "&lt;b&gt;", "e": "cuda:x",
    }  # fmt: skip


def test_names_as_deep_as_one_likes_end_somewhere(shown):
    deep = "a." * 5000
    _, rows, _ = shown({deep + "weight": "cuda:0", deep + "bias": "cpu"})
    assert len(rows) == 2
    assert DEEPEST < 100


def test_where_nothing_is_told_nothing_is_shown():
    assert list(parts_table({})) == []
