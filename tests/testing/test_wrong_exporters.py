"""Every promise of the kits can be broken: an exporter that breaks it on purpose fails there."""

from __future__ import annotations

import inspect
import itertools
import json
import re
from dataclasses import replace

import pytest

from grader.errors import UsageError
from grader.lms.contract import FilledSheet, RowOutcome, Rules
from grader.lms.gradescope import Gradescope
from grader.lms.moodle import MoodleWorksheet
from grader.testing.results import ResultsConformance
from grader.testing.worksheets import Example, WorksheetConformance, mark
from grader.text import block

EXAMPLE = Example(
    worksheet=MoodleWorksheet,
    headings=("Full name", "Identifier", "Username", "Maximum Grade", "Grade", "Last modified (grade)"),
    row=("{name}", "Participant {number}", "{student}", "{maximum}", "{grade}", "-"),
    no_grade=("", "-"),
)
FAILS = (AssertionError, pytest.fail.Exception, UsageError)
COUNT = itertools.count()


def wrong(*, content=None, marks=None, rules=None, done=None, **attributes):
    """A worksheet that does one thing otherwise: with what it is given, or with what comes of it."""

    class Wrong(MoodleWorksheet):
        def fill(self, given, where, told, roster, ruled):
            filled = super().fill(
                content(given) if content else given,
                where,
                marks(given, told) if marks else told,
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


def fates(old, new):
    return outcomes(
        lambda all_: (replace(one, outcome=new if one.outcome is old else one.outcome) for one in all_)
    )


def ruled(**keys):
    return lambda rules: replace(rules, **keys)


def without_notes(all_):
    return (replace(one, note="") for one in all_)


def by_place(given, told):
    """The marks for the rows as they come, whoever they are of."""
    rows = [line.split(",")[2] for line in given.decode().split("\r\n")[1:-1] if line.count(",") == 5]
    return {row: replace(one, student=row) for row, one in zip(rows, told.values(), strict=False)} or told


def cut_off(given, told):
    return {who: replace(one, points=int(one.points * 100) / 100) for who, one in told.items()}


class Gullible(MoodleWorksheet):
    def fill(self, content, where, marks, roster, rules):
        try:
            return super().fill(content, where, marks, roster, rules)
        except UsageError:
            return FilledSheet(text=content.decode(errors="replace"), results=())


class Wordy(MoodleWorksheet):
    def fill(self, content, where, marks, roster, rules):
        try:
            return super().fill(content, where, marks, roster, rules)
        except UsageError:
            raise UsageError("something is wrong\nperhaps") from None


WRONG = {
    "it_has_a_name_for_a_command_and_words_for_its_file": [wrong(name="My Platform"), wrong(file=" ")],
    "a_final_mark_is_written": [
        wrong(marks=lambda *_: {}),
        wrong(done=fates(RowOutcome.WRITTEN, RowOutcome.SAME)),
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
    "nobody_gets_a_zero_for_a_mark_that_is_not_there": [
        wrong(marks=lambda _, told: {one: mark(one, points=0.0) for one in ("ann", "ben")} | told),
        wrong(done=outcomes(without_notes)),
    ],
    "a_mark_without_a_row_is_named_and_makes_no_row": [
        wrong(done=outcomes(lambda all_: (one for one in all_ if one.outcome is not RowOutcome.NO_ROW))),
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
    "an_open_mark_replaces_nothing_even_where_told_to_overwrite": [
        wrong(rules=lambda rules: replace(rules, include_provisional=rules.overwrite))
    ],
    "what_stands_for_no_grade_is_filled": [wrong(content=lambda given: given.replace(b",-,-", b",x,-"))],
    "nothing_but_the_grade_changes": [
        wrong(done=text("^\ufeff", "")),
        wrong(done=text("\r\n", "\n")),
        wrong(done=text('"', "")),
        wrong(done=text("[;\t]", ",")),
        wrong(done=text("10.00", "10")),
        wrong(done=text("[,;\t]-", ",now")),
    ],
    "a_decimal_comma_is_kept": [wrong(done=text("7,5", "7.5"))],
    "a_filled_file_has_nothing_left_to_fill": [wrong(done=fates(RowOutcome.SAME, RowOutcome.WRITTEN))],
    "the_same_input_gives_the_same_file": [wrong(done=lambda done: replace(done, rounded=next(COUNT)))],
    "what_is_rounded_is_said_and_a_half_goes_up": [
        wrong(marks=cut_off),
        wrong(done=lambda done: replace(done, rounded=0)),
        wrong(rules=ruled(digits=2)),
    ],
    "no_name_disturbs_a_mark": [wrong(content=lambda given: given.replace(b'"', b""))],
    "no_name_is_a_formula": [wrong(done=text("'([=+@-]|\uff1d)", r"\1"))],
    "an_id_is_never_changed": [
        wrong(done=text(",=ann", ",'=ann")),
        wrong(done=lambda done: replace(done, remarks=())),
    ],
    "a_student_is_found_wherever_the_row_stands": [wrong(marks=by_place)],
    "a_name_alone_is_nobody": [
        wrong(
            content=lambda given: given.replace(b"other", b"ann"),
            done=text("Participant 1,ann", "Participant 1,other"),
        )
    ],
    "of_two_rows_of_one_student_neither_is_filled": [
        wrong(content=lambda given: given.replace(b"Participant 2,ann", b"Participant 2,x"))
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
            done=outcomes(lambda all_: (replace(one, who=one.who.replace("\\x1b", "\x1b")) for one in all_))
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
    "a_final_mark_is_shown": [wrong_results(lambda right, *a: right.render(*a).replace("7.5", "7"))],
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
    "no_title_disturbs_a_mark": [
        wrong_results(
            lambda right, view, rules: right.render(view, rules).encode("ascii").decode() + said(view)
        ),
    ],
    "nothing_that_a_program_says_disturbs_a_mark_or_acts_on_whoever_reads_it": [
        wrong_results(lambda *given: with_output(*given, lambda said: said)),
        wrong_results(lambda *given: with_output(*given, lambda said: block(said) * 10)),
        wrong_results(
            lambda right, view, rules: right.render(view, rules) + view.evidence.submission.archive[3:-4]
        ),
    ],
    "the_same_mark_gives_the_same_file": [
        wrong_results(lambda right, *given: right.render(*given) + " " * next(COUNT))
    ],
}
RESULTS = [(promise, exporter) for promise, exporters in WRONG_RESULTS.items() for exporter in exporters]


def said(view):
    """What breaks a file that holds a title as it came."""
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
