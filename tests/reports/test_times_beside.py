"""What a program says that something takes stands beside our clock's, in the form of a table of a paper."""

from __future__ import annotations

import re

import pytest
from grader.reports.times_beside import times_beside

from grader.model.observation import Quantity
from grader.reports.html import Html


def cell(row="FCN", threads=1, claimed=(0.02, 0.03, 0.01), clock=(0.0201, 0.0202)):
    return {"row": row, "threads": threads, "claimed": list(claimed), "clock": list(clock)}


@pytest.fixture
def shown(make):
    """The table of these cells, and its rows as lists of texts."""

    def shown(*cells):
        source = times_beside(make.seen("a", facts={"times_beside": list(cells)}))
        rows = [
            re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", source)
        ]
        return source, rows

    return shown


def test_each_thing_has_a_row_of_the_programs_and_one_of_the_clocks(shown):
    _, rows = shown(cell(), cell(threads=4, claimed=[0.006], clock=[13.2]))
    assert rows == [
        ["", "", "CPU (threads used)"],
        ["", "", "1", "4"],
        ["FCN", "program", "0.02", "0.006"],
        ["", "our clock", "0.0202", "13.2"],
    ]


def test_the_gpu_stands_behind_the_threads(shown):
    _, rows = shown(cell(threads=None, claimed=[1e-3]), cell(threads=8), cell("LSTM", 2))
    assert rows[:3] == [
        ["", "", "CPU (threads used)", "GPU"],
        ["", "", "2", "8", ""],
        ["FCN", "program", "-", "0.02", "0.001"],
    ]
    assert rows[4][:3] == ["LSTM", "program", "0.02"]


def test_what_is_no_time_is_not_shown_as_one(shown):
    _, rows = shown(cell(claimed=[None, 0.1], clock=[]))
    assert [row[2] for row in rows[2:]] == ["-", "-"]


@pytest.mark.parametrize(
    "kept", [None, 3, "FCN", [], [3], [{"row": 3, "threads": 1}], [{"row": "FCN", "threads": "many"}]]
)
def test_what_was_not_kept_by_us_gives_no_table(make, kept):
    assert times_beside(make.seen("a", facts={"times_beside": kept})) == ""


def test_names_cannot_break_out_of_it(shown):
    source, _ = shown(cell("<script>alert(1)</script>"))
    assert "<script" not in source


def test_the_page_has_it(make):
    rounds = {"rounds": Quantity(value=6, unit="rounds")}
    seen = make.seen("a", facts={"share": 1, "times_beside": [cell()]}, quantities=rounds)
    graded = make.graded([make.item("a", "Times")], [seen])
    assert "our clock" in Html().render(graded.staff)
