"""What a program says that something takes stands beside our clock's, in the form of a table of a paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.coursecode import course_module
from grader.model.observation import Observation, Outcome
from grader.reports.layout import value
from grader.reports.pages import template

FILE = Path(__file__).resolve().parents[2] / "assignments" / "using_gpus" / "minibatch_times.py"
minibatch_times = course_module(FILE)


def cell(row="FCN", threads=1, claimed=(0.02, 0.03, 0.01), clock=(0.0201, 0.0202)):
    return {"row": row, "threads": threads, "claimed": list(claimed), "clock": list(clock)}


def drawings(*cells, **facts):
    facts = {minibatch_times.TABLE: list(cells), **facts}
    observation = Observation(item="a", outcome=Outcome.OBSERVED, facts=facts)
    return list(minibatch_times.MinibatchTimes().show(None, observation))


def rows(*cells):
    (table,) = drawings(*cells)
    return [list(table.groups), list(table.head), *([value(one) for one in row] for row in table.rows)]


def test_each_thing_has_a_row_of_the_programs_and_one_of_the_clocks():
    assert rows(cell(), cell(threads=4, claimed=[0.006], clock=[13.2])) == [
        [("CPU (threads used)", 2)],
        ["", "", "1", "4"],
        ["FCN", "program", "0.02", "0.006"],
        ["", "our clock", "0.0202", "13.2"],
    ]


def test_the_gpu_stands_behind_the_threads():
    shown = rows(cell(threads=None, claimed=[1e-3]), cell(threads=8), cell("LSTM", 2))
    assert shown[:3] == [
        [("CPU (threads used)", 2), ("GPU", 1)],
        ["", "", "2", "8", ""],
        ["FCN", "program", "-", "0.02", "0.001"],
    ]
    assert shown[4][:3] == ["LSTM", "program", "0.02"]


def test_what_is_no_time_is_not_shown_as_one():
    assert [row[2] for row in rows(cell(claimed=[None, 0.1], clock=[]))[2:]] == ["-", "-"]


def test_an_observation_without_cells_gives_no_table():
    assert drawings() == []
    assert [one.text for one in drawings(left_out=[8])] == [
        "Not measured, and not held against it: 8 cores, which this machine did not have."
    ]


@pytest.mark.parametrize("name", ["FCN", "<script>alert(1)</script>"])
def test_a_page_has_it_and_names_cannot_break_out(name):
    source = template("drawings.html.j2").module.draw(drawings(cell(name))[0])
    assert "<script" not in source
    assert re.findall(r'<th scope="row">(.*?)</th>', source)[1:] == ["program", "our clock"]
    assert 'colspan="1">CPU (threads used)</th>' in source
