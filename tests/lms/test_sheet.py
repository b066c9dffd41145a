from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.errors import UsageError
from grader.lms.sheet import Sheet

CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=8)
"""Without what csv forgets to quote."""


@st.composite
def tables(draw):
    """A table of at least two columns, and how csv writes it."""
    width = draw(st.integers(2, 4))
    rows = draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=4))
    delimiter = draw(st.sampled_from(",;\t"))
    text = io.StringIO(newline="")
    writer = csv.writer(
        text,
        delimiter=delimiter,
        lineterminator=draw(st.sampled_from(["\r\n", "\n"])),
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
    )
    header = [f"column {number}" for number in range(width)]
    writer.writerows([header, *rows])
    byte_order_mark = draw(st.sampled_from(["", "\ufeff"]))
    return rows, byte_order_mark + text.getvalue(), delimiter


def sheet(text):
    return Sheet(text.encode(), "sheet.csv")


@given(tables())
def test_a_file_is_read_as_csv_reads_it_and_comes_back_byte_for_byte(written):
    rows, text, _ = written
    read = sheet(text)
    assert [[read.value(row, at) for at in range(len(read.headings))] for row in range(len(read))] == rows
    assert read.text() == text


@given(tables(), CELLS, st.randoms(use_true_random=False))
def test_a_cell_that_is_set_is_the_only_one_that_changes(written, cell, random):
    rows, text, delimiter = written
    if not rows:
        return
    read = sheet(text)
    row, column = random.randrange(len(rows)), random.randrange(len(rows[0]))
    read.put(row, column, cell)
    rows[row][column] = cell
    again = list(csv.reader(io.StringIO(read.text().removeprefix("\ufeff"), newline=""), delimiter=delimiter))
    assert again[1:] == rows


@pytest.mark.parametrize(
    "text",
    [
        "a,b",
        "a,b\n1,",
        'a,b\r\n"1",2\r\n\r\n',
        'a,b\r"1\r",2\r',
        'a,b\n 1 , x"y\n3',
        "\ufeffa;b\n1;2\n",
    ],
)
def test_habits_of_spreadsheets_come_back_byte_for_byte(text):
    assert sheet(text).text() == text


def test_a_cell_keeps_its_quotes_and_gets_them_where_it_must():
    read = sheet('a,b,c\n"1",2,3\n')
    read.put(0, 0, "7")
    read.put(0, 1, "7,5")
    read.put(0, 2, 'x"y')
    assert read.text() == 'a,b,c\n"7","7,5","x""y"\n'


def test_a_row_that_is_too_short_says_nothing_there_and_can_be_filled():
    read = sheet("a,b,c\n1\n")
    assert read.value(0, 2) == ""
    read.put(0, 2, "3")
    assert read.text() == "a,b,c\n1,,3\n"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "s.csv: is empty; download it again"),
        ("Näme,b\n".encode("latin-1"), "s.csv: is not UTF-8; take the file as the platform gives it"),
        (b'a,b\n1,2\n"3,4\n', "s.csv:3: is no CSV (a quote is not closed); download it again"),
    ],
)
def test_what_is_no_table_is_said_in_a_line(content, line):
    with pytest.raises(UsageError) as caught:
        Sheet(content, "s.csv")
    assert caught.value.problems == (line,)


def test_columns_are_found_whatever_their_case_and_only_if_there_is_one():
    read = sheet("ID, Grade ,x,X\n")
    assert (read.column("id"), read.column("grade"), read.find("y")) == (0, 1, None)
    with pytest.raises(UsageError, match="there are two columns 'x'"):
        read.column("x")
    with pytest.raises(UsageError, match=r"sheet\.csv:1: there is no column 'Grad'; did you mean Grade"):
        read.column("Grad")
