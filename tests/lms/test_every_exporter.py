"""What every exporter must keep, whatever the platform: an exporter is added here with an entry of `KITS`."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.lms.contract import Fate, Rules, Worksheet
from grader.lms.exporters import WORKSHEETS
from grader.lms.gradescope import Gradescope
from grader.model.observation import Outcome
from grader.model.score import Standing

HEADINGS = {
    "canvas": ("Student", "ID", "SIS Login ID", "Section", "HW1 (4242)", "Other (1)"),
    "moodle": ("Full name", "Identifier", "Username", "Maximum Grade", "Grade", "Last modified (grade)"),
}
GRADE = 4
OPEN = (Standing.PROVISIONAL, Standing.HELD)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


class Table:
    """A platform's table with a row for each student, and how to read it."""

    def __init__(self, worksheet: Worksheet, lms) -> None:
        self.worksheet, self._lms = worksheet, lms

    def text(self, *students, name="A name", grade="", delimiter=",", end="\r\n", byte_order="\ufeff"):
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
        writer.writerow(HEADINGS[self.worksheet.name])
        for number, student in enumerate(students, 1):
            own = f"{'Participant ' if self.worksheet.name == 'moodle' else ''}{number}"
            most = "10,00" if delimiter == ";" and "," in grade else "10.00"
            writer.writerow([name, own, student, most, grade, "-"])
        return byte_order + text.getvalue()

    def fill(self, text, *given, **rules):
        column = "4242" if self.worksheet.name == "canvas" else ""
        return self._lms.fill(self.worksheet, text, given, column=column, **rules)

    def grades(self, text, delimiter=","):
        return [row[GRADE] for row in self._lms.table(text, delimiter)[1:]]

    def shown(self, standing, name="A name", **rules):
        """The points that a mark of 7.5 gives there; None if it is held back."""
        mark = self._lms.mark(standing=standing)
        (grade,) = self.grades(self.fill(self.text("ann", name=name), mark, **rules).text)
        return float(grade) if grade else None

    def file(self):
        return self.fill(self.text("ann"), self._lms.mark()).text


class Results:
    """Gradescope's file of one mark."""

    def __init__(self, lms) -> None:
        self._lms = lms

    def _view(self, standing, name="A name"):
        items = [self._lms.item("a", 7.5, title=name, on_flag="holds"), self._lms.item("b", 2.5)]
        seen = self._lms.seen("a", flags=("look",) if standing is Standing.HELD else ())
        outcome = Outcome.NOT_OBSERVED if standing is Standing.PROVISIONAL else Outcome.OBSERVED
        return self._lms.view(items, [seen, self._lms.seen("b", 0.0, outcome)])

    def shown(self, standing, name="A name", **rules):
        read = json.loads(Gradescope(**rules).render(self._view(standing, name)))
        return read["score"] if read["visibility"] == "visible" else None

    def file(self):
        return Gradescope().render(self._view(Standing.FINAL))


TABLES = {one.name: lambda lms, one=one: Table(one, lms) for one in WORKSHEETS}
KITS = {**TABLES, "gradescope": Results}


@pytest.fixture(params=KITS, scope="module")
def kit(request, lms):
    return KITS[request.param](lms)


@pytest.fixture(params=TABLES, scope="module")
def table(request, lms):
    return TABLES[request.param](lms)


def test_a_final_mark_is_shown(kit):
    assert kit.shown(Standing.FINAL) == 7.5


@pytest.mark.parametrize("standing", OPEN)
def test_a_mark_that_is_not_final_is_held_back_unless_told(kit, standing):
    assert kit.shown(standing) is None
    assert kit.shown(standing, include_provisional=True) == 7.5


def test_the_same_mark_gives_the_same_file(kit):
    assert kit.file() == kit.file()
    kit.file().encode("utf-8")


@given(NAMES)
def test_no_name_disturbs_a_mark(kit, name):
    assert kit.shown(Standing.FINAL, name=name) == 7.5


def test_every_exporter_is_tried_here():
    assert set(HEADINGS) == {one.name for one in WORKSHEETS}


@pytest.mark.parametrize("standing", OPEN)
def test_who_is_held_back_is_named_with_the_reason(table, lms, standing):
    done = table.fill(table.text("ann"), lms.mark(standing=standing))
    (outcome,) = done.outcomes
    assert (outcome.who, outcome.fate) == ("ann", Fate.HELD_BACK)
    assert outcome.note


@pytest.mark.parametrize("rules", [{}, {"overwrite": True}, {"include_provisional": True}])
def test_nobody_gets_a_zero_for_a_mark_that_is_not_there(table, lms, rules):
    text = table.text("ann", "ben", grade="3.00")
    done = table.fill(text, **rules)
    assert done.text == text
    assert {one.fate for one in done.outcomes} == {Fate.NO_MARK}
    assert all(one.note for one in done.outcomes)


def test_a_mark_without_a_row_is_named_and_makes_none(table, lms):
    text = table.text("ann")
    done = table.fill(text, lms.mark("zoe"))
    assert done.text == text
    assert [(one.who, one.fate) for one in done.outcomes if one.who == "zoe"] == [("zoe", Fate.NO_ROW)]


@pytest.mark.parametrize("there", ["3.00", "9.50", "A-", "1,000.5"])
@pytest.mark.parametrize("standing", [Standing.FINAL, Standing.PROVISIONAL])
def test_a_grade_that_is_there_is_left_unless_told(table, lms, there, standing):
    text = table.text("ann", grade=there)
    mark = lms.mark(points=7.0, standing=standing)
    rules = {"include_provisional": True}
    done = table.fill(text, mark, **rules)
    assert done.text == text
    assert [one.fate for one in done.outcomes] == [Fate.LEFT]
    done = table.fill(text, mark, **rules, overwrite=True)
    assert table.grades(done.text) == ["7"]
    assert [one.fate for one in done.outcomes] == [Fate.REPLACED]
    assert ("less" in done.outcomes[0].note) == (there == "9.50")


def test_a_dash_is_no_grade(table, lms):
    done = table.fill(table.text("ann", grade="-"), lms.mark())
    assert [one.fate for one in done.outcomes] == [Fate.WRITTEN]


def test_an_open_mark_replaces_nothing_even_when_overwriting(table, lms):
    text = table.text("ann", grade="9.50")
    assert table.fill(text, lms.mark(standing=Standing.PROVISIONAL), overwrite=True).text == text


@pytest.mark.parametrize("delimiter", ",;\t")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("byte_order", ["", "\ufeff"])
@pytest.mark.parametrize("name", ['Doe, "J"', "Zoë; two\nlines", "'quoted"])
def test_only_the_grade_is_another_than_before(table, lms, delimiter, end, byte_order, name):
    text = table.text("ann", "ben", name=name, delimiter=delimiter, end=end, byte_order=byte_order)
    assert table.fill(text).text == text
    done = table.fill(text, lms.mark("ben"))
    at = text.rindex(f"10.00{delimiter}") + len(f"10.00{delimiter}")
    assert done.text == f"{text[:at]}7.5{text[at:]}"


def test_a_decimal_comma_is_kept(table, lms):
    text = table.text("ann", "ben", grade="3,25", delimiter=";")
    done = table.fill(text, lms.mark("ann"), lms.mark("ben", points=3.25), overwrite=True)
    assert table.grades(done.text, ";") == ["7,5", "3,25"]
    assert [one.fate for one in done.outcomes] == [Fate.REPLACED, Fate.SAME]


def test_a_filled_file_has_nothing_left_to_fill(table, lms):
    given = [lms.mark("ann", points=20 / 3), lms.mark("ben", points=0.0)]
    done = table.fill(table.text("ann", "ben", name="=1+2"), *given)
    again = table.fill(done.text, *given)
    assert again.text == done.text
    assert [one.fate for one in again.outcomes] == [Fate.SAME, Fate.SAME]


def test_what_is_rounded_is_said(table, lms):
    given = [lms.mark("ann", points=20 / 3), lms.mark("ben", points=0.125)]
    text = table.text("ann", "ben")
    done = table.fill(text, *given)
    assert (table.grades(done.text), done.rounded) == (["6.67", "0.13"], 2)
    done = table.fill(text, *given, digits=3)
    assert (table.grades(done.text), done.rounded) == (["6.667", "0.125"], 1)


@pytest.mark.parametrize("name", ["=cmd()", "+1+2", "-1+2", "@sum", "\uff1dx", '=a"b'])
def test_no_name_is_a_formula_and_an_id_stays(table, lms, name):
    done = table.fill(table.text("ann", name=name), lms.mark())
    (row,) = lms.table(done.text)[1:]
    assert row[0] == f"'{name}"
    assert row[GRADE] == "7.5"
    done = table.fill(table.text("=ann"), lms.mark())
    assert lms.table(done.text)[1][2] == "=ann"
    assert "begins as a formula does" in done.remarks[0]


@pytest.mark.parametrize("grade", ["-2", "-2.5", "-2,5"])
def test_a_grade_below_zero_and_names_of_one_sign_are_no_formulas(table, grade):
    text = table.text("-", name="-", grade=grade, delimiter=";")
    done = table.fill(text)
    assert (done.text, done.remarks) == (text, ())


def test_whoever_stands_there_is_shown_without_what_a_terminal_obeys(table):
    (outcome,) = table.fill(table.text("", name="\x1b[2Jx")).outcomes
    assert outcome.who == "\\x1b[2Jx (1)"


def test_the_rules_say_nothing_by_themselves():
    assert Rules() == Rules(include_provisional=False, overwrite=False, scale=False, digits=2)
