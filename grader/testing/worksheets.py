"""Conformance tests of exporters that fill in a platform's table (`grader.contracts.exporter.Worksheet`).

An author derives a class in a file of tests, and pytest runs every promise against the exporter:

    class TestMine(WorksheetConformance):
        @pytest.fixture
        def example(self):
            return Example(worksheet=Mine, headings=("Name", "Login", "Points"),
                           row=("{name}", "{student}", "{grade}"))
"""

from __future__ import annotations

import itertools
import re

import pytest

from grader.contracts.exporter import RowOutcome
from grader.errors import UsageError
from grader.model.score import Standing
from grader.testing.example import Dialect, Example, Row, make_grade

__all__ = ["Dialect", "Example", "Row", "WorksheetConformance", "make_grade"]

OPEN = (Standing.PROVISIONAL, Standing.HELD)
NAMES = (
    'Doe, "J"',
    "Zoë; two\nlines",
    "'quoted",
    '"',
    ",;\t",
    "\u202eeoD",
    "李 雷",
    "{name}",
    "%s",
    " ",
    "0",
    "7.5",
)
"""Names that need quoting or escaping in a table."""
FORMULAS = ("=cmd()", "+1+2", "-1+2", "@sum", "\uff1dx", '=a"b', "\u200b=cmd()", " \ufeff@sum")


class WorksheetConformance:
    """One test for each promise of a worksheet."""

    @pytest.fixture
    def example(self) -> Example:
        """Return the platform's table, with the exporter; the author's class overrides this."""
        raise NotImplementedError("override the fixture `example`: it returns a grader.testing Example")

    def test_it_has_a_name_for_a_command_and_words_for_its_file(self, example: Example) -> None:
        assert re.fullmatch("[a-z][a-z0-9-]*", example.worksheet.name)
        assert example.worksheet.file.strip()

    def test_a_final_grade_is_written(self, example: Example) -> None:
        done = example.fill(example.text(Row(student="ann")), make_grade())
        assert example.cells(done.text, "grade") == ["7.5"]
        assert [(result.who, result.outcome) for result in done.results] == [("ann", RowOutcome.WRITTEN)]

    def test_what_is_not_final_is_held_back_and_named(self, example: Example) -> None:
        text = example.text(Row(student="ann"))
        for standing in OPEN:
            done = example.fill(text, make_grade(standing=standing))
            assert done.text == text
            (result,) = done.results
            assert (result.who, result.outcome) == ("ann", RowOutcome.HELD_BACK)
            assert result.note

    def test_what_is_not_final_is_written_where_told(self, example: Example) -> None:
        for standing in OPEN:
            done = example.fill(
                example.text(Row(student="ann")), make_grade(standing=standing), include_provisional=True
            )
            assert example.cells(done.text, "grade") == ["7.5"]

    def test_what_the_late_rule_could_not_be_applied_to_is_held_back_and_named(
        self, example: Example
    ) -> None:
        text = example.text(Row(student="ann"))
        done = example.fill(text, make_grade(untimed=True), include_provisional=True)
        assert done.text == text
        (result,) = done.results
        assert (result.who, result.outcome) == ("ann", RowOutcome.HELD_BACK)
        assert result.note

    def test_what_the_late_rule_could_not_be_applied_to_is_written_where_told(self, example: Example) -> None:
        done = example.fill(example.text(Row(student="ann")), make_grade(untimed=True), include_untimed=True)
        assert example.cells(done.text, "grade") == ["7.5"]

    def test_nobody_gets_a_zero_for_a_grade_that_is_not_there(self, example: Example) -> None:
        for grade in ("", "3.00"):
            text = example.text(Row(student="ann", grade=grade), Row(student="ben", grade=grade))
            for rules in ({}, {"overwrite": True}, {"include_provisional": True}):
                done = example.fill(text, roster=example.roster("ann", "ben"), **rules)
                assert done.text == text
                assert [result.outcome for result in done.results] == [
                    RowOutcome.NO_GRADE,
                    RowOutcome.NO_GRADE,
                ]
                assert all(result.note for result in done.results)

    def test_a_grade_without_a_row_is_named_and_makes_no_row(self, example: Example) -> None:
        text = example.text(Row(student="ann"))
        done = example.fill(text, make_grade("zoe"))
        assert done.text == text
        assert [
            (result.who, bool(result.note)) for result in done.results if result.outcome is RowOutcome.NO_ROW
        ] == [("zoe", True)]

    def test_a_grade_that_is_there_is_left_and_named(self, example: Example) -> None:
        for present in ("3.00", "9.50", "A-", "1,000.5"):
            text = example.text(Row(student="ann", grade=present))
            done = example.fill(text, make_grade(points=7.0))
            assert done.text == text
            (result,) = done.results
            assert result.outcome is RowOutcome.UNCHANGED
            assert result.note

    def test_a_grade_that_is_there_is_replaced_and_named_where_told(self, example: Example) -> None:
        for present in ("3.00", "9.50"):
            done = example.fill(
                example.text(Row(student="ann", grade=present)), make_grade(points=7.0), overwrite=True
            )
            assert example.cells(done.text, "grade") == ["7"]
            (result,) = done.results
            assert result.outcome is RowOutcome.REPLACED
            assert ("less" in result.note) == (present == "9.50"), "a lower grade must be told as less"

    def test_an_open_grade_replaces_nothing_even_where_told_to_overwrite(self, example: Example) -> None:
        text = example.text(Row(student="ann", grade="9.50"))
        for standing in OPEN:
            assert example.fill(text, make_grade(standing=standing), overwrite=True).text == text

    def test_what_stands_for_no_grade_is_filled(self, example: Example) -> None:
        for nothing in example.no_grade:
            done = example.fill(example.text(Row(student="ann", grade=nothing)), make_grade())
            assert example.cells(done.text, "grade") == ["7.5"]
            assert [result.outcome for result in done.results] == [RowOutcome.WRITTEN]

    def test_nothing_but_the_grade_changes(self, example: Example) -> None:
        dialects = itertools.product(example.delimiters, ("\n", "\r\n"), (False, True))
        for (delimiter, end, byte_order_mark), name in itertools.product(dialects, NAMES[:3]):
            how = Dialect(delimiter=delimiter, end=end, byte_order_mark=byte_order_mark)
            ann = Row(student="ann", name=name)
            text = example.text(ann, Row(student="ben", name=name), dialect=how)
            assert example.fill(text, roster=example.roster("ann", "ben")).text == text
            done = example.fill(text, make_grade("ben"))
            assert done.text == example.text(ann, Row(student="ben", name=name, grade="7.5"), dialect=how)

    def test_a_decimal_comma_is_kept(self, example: Example) -> None:
        if ";" not in example.delimiters:
            pytest.skip("the platform writes no decimal comma")
        how = Dialect(delimiter=";")
        rows = Row(student="ann", grade="3,25"), Row(student="ben", grade="3,25")
        done = example.fill(
            example.text(*rows, dialect=how),
            make_grade("ann"),
            make_grade("ben", points=3.25),
            overwrite=True,
        )
        assert example.cells(done.text, "grade", ";") == ["7,5", "3,25"]
        assert [result.outcome for result in done.results] == [RowOutcome.REPLACED, RowOutcome.SAME]

    def test_a_filled_file_has_nothing_left_to_fill(self, example: Example) -> None:
        grades = make_grade("ann", points=20 / 3), make_grade("ben", points=0.0)
        done = example.fill(example.text(Row(student="ann", name="=1+2"), Row(student="ben")), *grades)
        again = example.fill(done.text, *grades)
        assert again.text == done.text
        assert [result.outcome for result in again.results] == [RowOutcome.SAME, RowOutcome.SAME]

    def test_the_same_input_gives_the_same_file(self, example: Example) -> None:
        text = example.text(Row(student="ann"), Row(student="ben"))
        first, *others = (example.fill(text, make_grade("ann"), make_grade("ben")) for _ in range(3))
        assert others == [first, first]

    def test_what_is_rounded_is_said_and_a_half_goes_up(self, example: Example) -> None:
        text = example.text(Row(student="ann"), Row(student="ben"))
        grades = make_grade("ann", points=20 / 3), make_grade("ben", points=0.125)
        done = example.fill(text, *grades)
        assert (example.cells(done.text, "grade"), done.rounded) == (["6.67", "0.13"], 2)
        done = example.fill(text, *grades, digits=3)
        assert (example.cells(done.text, "grade"), done.rounded) == (["6.667", "0.125"], 1)

    def test_no_name_disturbs_a_grade(self, example: Example) -> None:
        for name in (*NAMES, *FORMULAS):
            done = example.fill(example.text(Row(student="ann", name=name)), make_grade())
            assert example.cells(done.text, "grade") == ["7.5"], name

    def test_no_name_is_a_formula(self, example: Example) -> None:
        for name in FORMULAS:
            done = example.fill(example.text(Row(student="ann", name=name)), make_grade())
            assert example.cells(done.text, "name") == [f"'{name}"]

    def test_an_id_is_never_changed(self, example: Example) -> None:
        text = example.text(Row(student="=ann"))
        done = example.fill(text, make_grade())
        assert example.cells(done.text, "student") == example.cells(text, "student")
        assert done.remarks or not example.cells(text, "student")[0].startswith("="), (
            "a formula that stays is told"
        )

    def test_a_student_is_found_wherever_the_row_stands(self, example: Example) -> None:
        grades = make_grade("ann", points=1.0), make_grade("ben", points=2.0), make_grade("cy", points=3.0)
        for order in itertools.permutations(("ann", "ben", "cy")):
            done = example.fill(example.text(*(Row(student=student) for student in order)), *grades)
            points = {"ann": "1", "ben": "2", "cy": "3"}
            assert example.cells(done.text, "grade") == [points[student] for student in order]

    def test_a_name_alone_is_nobody(self, example: Example) -> None:
        text = example.text(Row(student="other", name="ann"))
        done = example.fill(text, make_grade("ann"))
        assert done.text == text
        assert {result.outcome for result in done.results} == {RowOutcome.NO_GRADE, RowOutcome.NO_ROW}

    def test_of_two_rows_of_one_student_neither_is_filled(self, example: Example) -> None:
        text = example.text(Row(student="ann"), Row(student="ann"))
        done = example.fill(text, make_grade("ann"))
        assert done.text == text
        assert [result.outcome for result in done.results][:2] == [RowOutcome.IN_DOUBT, RowOutcome.IN_DOUBT]

    def test_another_maximum_is_refused_or_converted_where_told(self, example: Example) -> None:
        if not any("{maximum}" in cell for cell in example.row):
            pytest.skip("the table does not say how many points there are")
        text = example.text(Row(student="ann"), maximum="20")
        with pytest.raises(UsageError, match="maximum"):
            example.fill(text, make_grade())
        assert example.cells(example.fill(text, make_grade(), scale=True).text, "grade") == ["15"]

    def test_everyone_is_accounted_for_once(self, example: Example) -> None:
        rows = [
            Row(student=student, grade="3" if student == "ben" else "") for student in ("ann", "ben", "cy")
        ]
        roster = example.roster("ann", "ben", "cy", "zoe")
        done = example.fill(
            example.text(*rows), make_grade("ann"), make_grade("ben"), make_grade("zoe"), roster=roster
        )
        fates = [result.outcome for result in done.results]
        assert fates == [RowOutcome.WRITTEN, RowOutcome.UNCHANGED, RowOutcome.NO_GRADE, RowOutcome.NO_ROW]
        assert all(result.note for result in done.results[1:])

    def test_whoever_is_named_is_nothing_that_a_terminal_obeys(self, example: Example) -> None:
        done = example.fill(example.text(Row(student="\x1b[1m", name="\x1b[2Jx", grade="\x1b[3m")))
        assert done.results
        assert not any("\x1b" in result.who + result.note for result in done.results)

    def test_what_the_platform_does_not_write_is_refused_in_a_line(self, example: Example) -> None:
        for content in (b"", b"\xff\xfe\0", b"<html>\n", b'"never closed', b"a,b\n1,2\n"):
            with pytest.raises(UsageError) as caught:
                example.fill(content, make_grade())
            (line,) = caught.value.problems
            assert line.startswith("sheet.csv")
            assert "\n" not in line
