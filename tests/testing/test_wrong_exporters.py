"""Every promise of the kits can be broken: an exporter that breaks it on purpose fails there."""

from __future__ import annotations

import inspect
import itertools
import json
import re
from dataclasses import replace

import pytest

from grader.contracts.exporter import FilledSheet, RowOutcome, Rules
from grader.errors import UsageError
from grader.lms.gradescope import Gradescope
from grader.lms.moodle import MoodleWorksheet
from grader.testing.results import ResultsConformance
from grader.testing.worksheets import Example, WorksheetConformance, make_grade
from grader.text import block

EXAMPLE = Example(
    worksheet=MoodleWorksheet,
    headings=("Full name", "Identifier", "Username", "Maximum Grade", "Grade", "Last modified (grade)"),
    row=("{name}", "Participant {number}", "{student}", "{maximum}", "{grade}", "-"),
    no_grade=("", "-"),
)
FAILS = (AssertionError, pytest.fail.Exception, UsageError)
COUNT = itertools.count()


def wrong(*, content=None, change=None, rules=None, done=None, **attributes):
    """A worksheet that does one thing otherwise: with what it is given, or with what comes of it."""

    class Wrong(MoodleWorksheet):
        def fill(self, original, where, grades, roster, ruled):
            filled = super().fill(
                content(original) if content else original,
                where,
                change(original, grades) if change else grades,
                roster,
                rules(ruled) if rules else ruled,
            )
            return done(filled) if done else filled

    for name, value in attributes.items():
        setattr(Wrong, name, value)
    return Wrong


def text(pattern, new):
    return lambda done: replace(done, text=re.sub(pattern, new, done.text))


def outcomes(change):
    return lambda done: replace(done, results=tuple(change(done.results)))


def outcome(old, new):
    return outcomes(
        lambda all_: (
            replace(result, outcome=new if result.outcome is old else result.outcome) for result in all_
        )
    )


def ruled(**keys):
    return lambda rules: replace(rules, **keys)


def without_notes(all_):
    return (replace(result, note="") for result in all_)


def by_place(sheet, grades):
    """Return the grades for the rows in their order, whoever they are of."""
    rows = [line.split(",")[2] for line in sheet.decode().split("\r\n")[1:-1] if line.count(",") == 5]
    return {
        row: replace(grade, student=row) for row, grade in zip(rows, grades.values(), strict=False)
    } or grades


def cut_off(_sheet, grades):
    return {who: replace(grade, points=int(grade.points * 100) / 100) for who, grade in grades.items()}


class Gullible(MoodleWorksheet):
    def fill(self, content, where, grades, roster, rules):
        try:
            return super().fill(content, where, grades, roster, rules)
        except UsageError:
            return FilledSheet(text=content.decode(errors="replace"), results=())


class Wordy(MoodleWorksheet):
    def fill(self, content, where, grades, roster, rules):
        try:
            return super().fill(content, where, grades, roster, rules)
        except UsageError:
            raise UsageError("something is wrong\nperhaps") from None


WRONG = {
    "it_has_a_name_for_a_command_and_words_for_its_file": [wrong(name="My Platform"), wrong(file=" ")],
    "a_final_grade_is_written": [
        wrong(change=lambda *_: {}),
        wrong(done=outcome(RowOutcome.WRITTEN, RowOutcome.SAME)),
    ],
    "what_is_not_final_is_held_back_and_named": [
        wrong(rules=ruled(include_provisional=True)),
        wrong(done=outcomes(without_notes)),
    ],
    "what_is_not_final_is_written_where_told": [wrong(rules=ruled(include_provisional=False))],
    "what_the_late_rule_could_not_be_applied_to_is_held_back_and_named": [
        wrong(rules=ruled(include_untimed=True)),
        wrong(done=outcomes(without_notes)),
    ],
    "what_the_late_rule_could_not_be_applied_to_is_written_where_told": [
        wrong(rules=ruled(include_untimed=False))
    ],
    "nobody_gets_a_zero_for_a_grade_that_is_not_there": [
        wrong(
            change=lambda _, grades: (
                {student: make_grade(student, points=0.0) for student in ("ann", "ben")} | grades
            )
        ),
        wrong(done=outcomes(without_notes)),
    ],
    "a_grade_without_a_row_is_named_and_makes_no_row": [
        wrong(
            done=outcomes(lambda all_: (result for result in all_ if result.outcome is not RowOutcome.NO_ROW))
        ),
        wrong(done=lambda done: replace(done, text=done.text + ",,zoe,10.00,7.5,-\r\n")),
    ],
    "a_grade_that_is_there_is_left_and_named": [
        wrong(rules=ruled(overwrite=True)),
        wrong(done=outcomes(without_notes)),
    ],
    "a_grade_that_is_there_is_replaced_and_named_where_told": [
        wrong(rules=ruled(overwrite=False)),
        wrong(done=outcomes(without_notes)),
    ],
    "an_open_grade_replaces_nothing_even_where_told_to_overwrite": [
        wrong(rules=lambda rules: replace(rules, include_provisional=rules.overwrite))
    ],
    "what_stands_for_no_grade_is_filled": [wrong(content=lambda sheet: sheet.replace(b",-,-", b",x,-"))],
    "nothing_but_the_grade_changes": [
        wrong(done=text("^\ufeff", "")),
        wrong(done=text("\r\n", "\n")),
        wrong(done=text('"', "")),
        wrong(done=text("[;\t]", ",")),
        wrong(done=text("10.00", "10")),
        wrong(done=text("[,;\t]-", ",now")),
    ],
    "a_decimal_comma_is_kept": [wrong(done=text("7,5", "7.5"))],
    "a_filled_file_has_nothing_left_to_fill": [wrong(done=outcome(RowOutcome.SAME, RowOutcome.WRITTEN))],
    "the_same_input_gives_the_same_file": [wrong(done=lambda done: replace(done, rounded=next(COUNT)))],
    "what_is_rounded_is_said_and_a_half_goes_up": [
        wrong(change=cut_off),
        wrong(done=lambda done: replace(done, rounded=0)),
        wrong(rules=ruled(digits=2)),
    ],
    "no_name_disturbs_a_grade": [wrong(content=lambda sheet: sheet.replace(b'"', b""))],
    "no_name_is_a_formula": [wrong(done=text("'([=+@-]|\uff1d)", r"\1"))],
    "an_id_is_never_changed": [
        wrong(done=text(",=ann", ",'=ann")),
        wrong(done=lambda done: replace(done, remarks=())),
    ],
    "a_student_is_found_wherever_the_row_stands": [wrong(change=by_place)],
    "a_name_alone_is_nobody": [
        wrong(
            content=lambda sheet: sheet.replace(b"other", b"ann"),
            done=text("Participant 1,ann", "Participant 1,other"),
        )
    ],
    "of_two_rows_of_one_student_neither_is_filled": [
        wrong(content=lambda sheet: sheet.replace(b"Participant 2,ann", b"Participant 2,x"))
    ],
    "another_maximum_is_refused_or_converted_where_told": [
        wrong(rules=ruled(scale=True)),
        wrong(rules=ruled(scale=False)),
    ],
    "everyone_is_accounted_for_once": [
        wrong(done=outcomes(lambda all_: all_[:-1])),
        wrong(done=outcomes(lambda all_: (*all_, all_[0]))),
        wrong(done=outcomes(without_notes)),
    ],
    "whoever_is_named_is_nothing_that_a_terminal_obeys": [
        wrong(
            done=outcomes(
                lambda all_: (replace(result, who=result.who.replace("\\x1b", "\x1b")) for result in all_)
            )
        ),
        wrong(done=outcomes(lambda _: ())),
    ],
    "what_the_platform_does_not_write_is_refused_in_a_line": [Gullible, Wordy],
}
CASES = [(promise, exporter) for promise, exporters in WRONG.items() for exporter in exporters]


def promises(kit):
    return {name.removeprefix("test_") for name, _ in inspect.getmembers(kit) if name.startswith("test_")}


def test_each_promise_has_somebody_who_breaks_it():
    assert promises(WorksheetConformance) == set(WRONG)
    assert promises(ResultsConformance) == set(WRONG_RESULTS)


@pytest.mark.parametrize(("promise", "exporter"), CASES, ids=[promise for promise, _ in CASES])
def test_a_wrong_worksheet_breaks_its_promise_and_the_right_one_keeps_it(promise, exporter):
    kit = getattr(WorksheetConformance(), f"test_{promise}")
    kit(EXAMPLE)
    with pytest.raises(FAILS):
        kit(replace(EXAMPLE, worksheet=exporter))


def wrong_results(render=None, **attributes):
    class Wrong(Gradescope):
        def render(self, view, rules):
            return (render or Gradescope.render)(super(), view, rules)

    for name, value in attributes.items():
        setattr(Wrong, name, value)
    return Wrong


def with_output(right, view, rules, quote):
    """A right file, and beside it what a program printed, as `quote` makes it."""
    read = json.loads(right.render(view, rules))
    return json.dumps(read | {"printed": quote(view.evidence.observations["b"].output)})


WRONG_RESULTS = {
    "it_has_a_name_for_a_command_and_one_for_its_file": [
        wrong_results(name="Grade Scope"),
        wrong_results(filename="results"),
    ],
    "a_final_grade_is_shown": [wrong_results(lambda right, *a: right.render(*a).replace("7.5", "7"))],
    "what_is_not_final_is_for_staff_alone": [
        wrong_results(lambda right, view, _: right.render(view, Rules(include_provisional=True)))
    ],
    "what_is_not_final_is_shown_where_told": [
        wrong_results(lambda right, view, _: right.render(view, Rules()))
    ],
    "what_the_late_rule_could_not_be_applied_to_is_for_staff_alone": [
        wrong_results(lambda right, view, _: right.render(view, Rules(include_untimed=True)))
    ],
    "what_the_late_rule_could_not_be_applied_to_is_shown_where_told": [
        wrong_results(lambda right, view, _: right.render(view, Rules()))
    ],
    "the_view_of_staff_is_refused": [
        wrong_results(lambda right, view, rules: right.render(replace(view, audience="student"), rules))
    ],
    "no_title_disturbs_a_grade": [
        wrong_results(
            lambda right, view, rules: right.render(view, rules).encode("ascii").decode() + odd_title(view)
        ),
    ],
    "nothing_that_a_program_says_disturbs_a_grade_or_acts_on_whoever_reads_it": [
        wrong_results(lambda *keys: with_output(*keys, lambda printed: printed)),
        wrong_results(lambda *keys: with_output(*keys, lambda printed: block(printed) * 10)),
        wrong_results(
            lambda right, view, rules: right.render(view, rules) + view.evidence.submission.archive[3:-4]
        ),
    ],
    "the_same_grade_gives_the_same_file": [
        wrong_results(lambda right, *keys: right.render(*keys) + " " * next(COUNT))
    ],
}
RESULTS = [(promise, exporter) for promise, exporters in WRONG_RESULTS.items() for exporter in exporters]


def odd_title(view):
    """Return a title that breaks a file which repeats it unchanged."""
    title = view.scorecard.lines[0].title
    return "" if title == "A title" else title


class Read(ResultsConformance):
    exporter = Gradescope

    def shown(self, text):
        read = json.loads(text)
        return read["score"] if read["visibility"] == "visible" else None


@pytest.mark.parametrize(("promise", "exporter"), RESULTS, ids=[promise for promise, _ in RESULTS])
def test_a_wrong_results_file_breaks_its_promise_and_the_right_one_keeps_it(promise, exporter):
    kit = Read()
    getattr(kit, f"test_{promise}")()
    kit.exporter = exporter
    with pytest.raises((*FAILS, ValueError)):
        getattr(kit, f"test_{promise}")()


@pytest.mark.parametrize("kit", [WorksheetConformance, ResultsConformance])
def test_who_says_nothing_of_the_exporter_is_told_what_to_say(kit):
    with pytest.raises(NotImplementedError, match="override"):
        kit.example.__wrapped__(kit()) if kit is WorksheetConformance else kit().shown("")
