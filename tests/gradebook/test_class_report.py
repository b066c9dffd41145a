"""A class out of its gradebook, as a page, as Markdown and as JUnit."""

from __future__ import annotations

import random
import re
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from grader.checks.drawings.ratio import ratio_drawings
from grader.gradebook.book import Gradebook
from grader.gradebook.report import class_view, staff_views
from grader.model.evidence import Evidence, WorkerRun
from grader.model.observation import Fault, Observation, Outcome, Quantity
from grader.model.rubric import Item, LatePolicy, Rubric
from grader.model.score import Award, Standing
from grader.model.submission import Submission
from grader.reports.class_counts import ItemTally, gpu_seconds, items_of, standings_of, totals_of
from grader.reports.class_groups import failures, flags, fold, open_points
from grader.reports.class_json import class_document
from grader.reports.class_junit import class_junit
from grader.reports.class_markdown import markdown
from grader.reports.class_page import FOR_STAFF, page
from grader.reports.class_view import ClassView
from grader.reports.words import LineState
from grader.scoring.score import score
from grader.testing.hostile import HOSTILE as HOSTILE_TEXTS
from grader.testing.hostile import unsafe
from grader.testing.kinds import AwardOnly

CELL = re.compile(r"(?<!\\)\|")
HOSTILE = "<script>alert('x')</script>\" onload='x' \x1b[31m|\n`a` *b* ]]> &amp; évil"


DUE = datetime(2024, 12, 20, 12, tzinfo=UTC)
NEEDS_40 = SimpleNamespace(at_least=40.0)
"""Options of a speedup."""


class Told(AwardOnly):
    """A kind whose observations say what they earn and why."""

    def award(self, options, observation, related):
        return Award(**{"fraction": 1.0, "reason": "all cases agree", **observation.facts})

    def show(self, options, observation):
        if options is not None:
            yield from ratio_drawings(observation, of="f", over="g", at_least=options.at_least)


KINDS = {"told": Told()}


def item(name, points=2.0, **keys):
    keys = {"check": "told", "options": None, "title": f"{name} is right", **keys}
    return Item(id=name, points=points, **keys)


def rubric(*items, digest="sha256:r1"):
    points = sum(item.points for item in items)
    return Rubric(name="tiny", assignment="tiny", points=points, items=items, digest=digest)


ITEMS = (
    *(item(f"utils.f{k}", 2.0, title=f"Function {k} of utils gives what it should") for k in range(7)),
    item("max.cpu", 4.0, title="max_cpu gives the larger element at every place"),
    item("max.gpu", 4.0, title="max_gpu gives the same", devices={"gpu": 1}),
    item("max.launch", 5.0, title="max_gpu launches 1000 blocks of 1000 threads", devices={"gpu": 1},
         needs=("max.gpu",), visible="never"),
    item("max.fast", 12.0, title="max_gpu is at least 40 times faster than max_cpu", options=NEEDS_40,
         needs=("max.gpu",), devices={"gpu": 1}),
    item("two", 3.0, title="Two GPUs share the work", devices={"gpu": 2}),
    item("report", 5.0, title="The report explains what was measured", on_flag="holds"),
    item("style", 4.0, title="The code is well kept"),
)  # fmt: skip
RUBRIC = rubric(*ITEMS)


def saw(name, fraction=1.0, outcome=Outcome.OBSERVED, *, facts=None, **keys):
    options = {"fraction": fraction, **({} if fraction == 1 else {"reason": "is wrong"}), **(facts or {})}
    return Observation(**{"item": name, "outcome": outcome, "facts": options, "wall_s": 1.5, **keys})


def times_faster(ratio, half=1.0):
    numbers = {"ratio": ratio, "ratio_low": ratio - half, "ratio_high": ratio + half, "threshold": 10.0}
    return {name: Quantity(value=value) for name, value in numbers.items()}


def evidence(*observations, student="ann", members=(), assignment="tiny", submitted_at=None):
    submission = Submission(
        student=student,
        assignment=assignment,
        archive=f"{student}.tar.gz",
        digest=f"sha256:{student}",
        files=("work.py",),
        members=members,
        submitted_at=submitted_at,
    )
    run = WorkerRun(id=f"e-{student}", started_at="2024-12-23T10:00:00+00:00", isolation="process")
    return Evidence(
        submission=submission,
        runs=(run,),
        observations={observation.item: observation for observation in observations},
    )


def keep(book, *observations, by=RUBRIC, **who):
    of = evidence(*observations, **who)
    book.record(of, score(by, of, KINDS), how="run")


def a_student(draw, number):
    """What a submission of one of many might show: some good, some bad, some that nobody could look at."""
    skill = draw.random()
    for item in ITEMS:
        ok = draw.random() < 0.35 + 0.7 * skill
        at = draw.randrange(900)
        wrong = f"[3 x 4] at [{at}]: got {draw.random():.4g}, expected 0.5 ({at + 1} of 1000 values differ)"
        keys = {"wall_s": 0.4 + draw.random()}
        if item.id == "style" and number % 4 == 0:
            yield saw(item.id, outcome=Outcome.NOT_OBSERVED, note="waits for a person")
        elif item.id == "two" and number % 9 == 0:
            note, fault = "GPU 1 is ill: it answers, and computes 3 instead of 4", Fault.MACHINE
            yield saw(item.id, outcome=Outcome.NOT_OBSERVED, note=note, fault=fault, **keys)
        elif item.id == "max.fast":
            ratio = draw.lognormvariate(3.9, 0.45)
            reached = {"reason": f"{ratio:.3g} times faster"}
            if 38 < ratio < 42:
                reached["flags"] = (f"near the threshold: between {ratio - 2:.3g} and {ratio + 2:.3g}",)
            keys["quantities"] = times_faster(ratio, ratio * 0.04)
            yield saw(item.id, float(ratio >= 40), facts=reached, **keys)
        elif item.id == "report" and number % 23 == 5:
            yield saw(item.id, 0.8, facts={"flags": ("the text is that of another submission",)}, **keys)
        elif not ok and draw.random() < 0.2:
            note = f"work.py, line {at}: ModuleNotFoundError: No module named 'cupy'"
            yield saw(item.id, outcome=Outcome.CRASHED, note=note, **keys)
        else:
            share = 1.0 if ok else draw.choice((0.0, 0.5))
            yield saw(item.id, share, facts={} if ok else {"reason": wrong}, **keys)


def a_class(book, count=60, seed=7):
    draw = random.Random(seed)
    for number in range(count):
        student = f"student{number:03}_{draw.randrange(10_000, 99_999)}"
        members = (f"{student}_a", f"{student}_b") if number % 20 == 3 else ()
        keep(book, *a_student(draw, number), student=student, members=members)
    return class_view(book, "tiny", rubric=RUBRIC, kinds=KINDS, roster=("student000_nobody", "zoe"))


class Page(HTMLParser):
    """What a browser would see; fails if elements are not nested as they should be."""

    VOID = frozenset({"meta", "line", "rect", "circle"})

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts, self._path = [], [], []
        self.feed(re.sub(r"<(line|rect|circle)([^<>]*)/>", r"<\1\2>", source.replace("<wbr>", "")))
        self.close()
        assert self._path == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._path.append(tag)

    def handle_endtag(self, tag):
        assert self._path.pop() == tag

    def handle_data(self, data):
        if "style" not in self._path:
            self.texts.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def attributes(self, name):
        return [attrs[name] for _, attrs in self.tags if name in attrs]


def shown(book, by=RUBRIC, **keys):
    return Page(page(class_view(book, "tiny", rubric=by, kinds=KINDS, **keys)))


def rows(text):
    """The cells of each row of each table of Markdown, split at the pipes that are not escaped."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


@pytest.mark.parametrize(
    ("message", "folded"),
    [
        ("at [3]: got -2.5e-07 (7 of 90 differ)", "at [#]: got # (# of # differ)"),
        ("at [3, 14]: shape (2, 3, 4)", "at [#, …]: shape (#, …)"),
        ("it ended at 0x7f3A. Then 3.", "it ended at #. Then #."),
        ("layer1 is float64 on sm_90, v2.1", "layer1 is float64 on sm_90, v2.1"),
        ("got nan\n  in line 12", "got nan in line #"),
    ],
)  # fmt: skip
def test_numbers_of_a_message_are_folded_and_names_are_kept(message, folded):
    assert fold(message) == folded


def test_failures_are_told_once_for_all_who_had_them_the_most_frequent_first(book):
    by = rubric(item("a"), item("b"))
    wrong = [{"reason": f"at [{k}]: got {k / 7}, expected 2"} for k in range(3)]
    keep(book, saw("a", 0.0, facts=wrong[0]), saw("b", 0.5, facts=wrong[1]), by=by)
    keep(book, saw("a", 0.0, facts=wrong[2]), saw("b"), by=by, student="ben")
    keep(book, saw("a"), saw("b", outcome=Outcome.CRASHED, note="died of 9"), by=by, student="cleo")
    first, second = failures(class_view(book, "tiny"))
    assert (first.message, first.students) == ("at [#]: got #, expected #", ("ann", "ben"))
    assert first.items == {"a": 2, "b": 1}
    assert (second.message, second.text, second.students) == ("died of #", "died of 9", ("cleo",))
    text = shown(book, by).text
    assert "ann, ben: items 1 (2), 2 (1)" in text
    assert "died of 9" in text, "what happened once needs no folding"
    assert "at [0]: got 0.0, expected 2 (also with other numbers)" in text
    assert "#" not in text


def test_a_message_that_many_had_keeps_its_numbers_where_all_have_the_same(book):
    by = rubric(item("a"), item("b"))
    for student in ("ann", "ben"):
        reasons = ({"reason": f"utils.py:{line}: expected ':'"} for line in (4, 4))
        keep(book, *(saw(name, 0.0, facts=next(reasons)) for name in "ab"), by=by, student=student)
    (group,) = failures(class_view(book, "tiny"))
    assert (group.text, group.numbers_differ) == ("utils.py:4: expected ':'", False)
    text = shown(book, by).text
    assert "utils.py:4: expected ':' ann, ben: items 1, 2" in text
    assert "also with other numbers" not in text


def test_comments_on_points_by_hand_are_not_on_the_page_of_the_class(book):
    by = rubric(item("a"))
    for student in ("ann", "ben"):
        reason = f"a person gave 1 of 2: Nearly, {student}."
        keep(book, saw("a", 0.5, facts={"reason": reason}), by=by, student=student)
        assert "a person gave 1 of 2" in shown(book, by).text
        assert "Nearly" not in shown(book, by).text


def test_the_summary_says_what_a_sign_in_its_messages_stands_for(book):
    by = rubric(item("a"))
    keep(book, saw("a", 0.0, facts={"reason": "got 3"}), by=by)
    summary = rows(markdown(class_view(book, "tiny")))
    assert ["submissions", "items", "message (# stands for a number)"] in summary
    assert ["1", "1", "got #"] in summary


def test_who_has_no_time_of_submission_is_named_on_the_page_and_counted_in_the_summary(book):
    by = replace(rubric(item("a")), due=DUE, late=LatePolicy(per_day=0.1))
    keep(book, saw("a"), by=by)
    keep(book, saw("a"), by=by, student="ben", submitted_at=DUE)
    keep(book, saw("a"), by=by, student="cleo+dan", members=("cleo", "dan"))
    view = class_view(book, "tiny")
    assert view.untimed == ("ann", "cleo", "dan")
    assert "Without a time of submission: the late rule takes nothing off 3 students ann, cleo, dan" in (
        Page(page(view)).text
    )
    summary = markdown(view)
    assert "> **Without a time of submission: the late rule takes nothing off** (3 students)." in summary
    assert "ann" not in summary


def test_without_a_late_rule_no_time_is_missed(book):
    keep(book, saw("a"), by=replace(rubric(item("a")), due=DUE))
    view = class_view(book, "tiny")
    assert view.untimed == ()
    assert "time of submission" not in page(view) + markdown(view)


def test_what_is_open_or_held_is_neither_passed_nor_failed(book):
    by = rubric(item("a", on_flag="holds"))
    keep(book, saw("a"), by=by, student="ann")
    keep(book, saw("a", 0.5), by=by, student="ben")
    keep(book, saw("a", outcome=Outcome.NOT_OBSERVED), by=by, student="cleo")
    keep(book, saw("a", facts={"flags": ("look",)}), by=by, student="dora")
    view = class_view(book, "tiny")
    (tally,) = items_of(view)
    assert tally.counts == {LineState.FULL: 1, LineState.PARTIAL: 1, LineState.OPEN: 1, LineState.HELD: 1}
    assert (tally.decided, tally.passed) == (2, 0.5)
    assert "1 earned, 1 partly earned, 1 held, 1 pending" in Page(page(view)).text


def test_who_was_skipped_has_not_failed():
    counts = {LineState.FULL: 3, LineState.LOST: 1, LineState.SKIPPED: 4}
    tally = ItemTally(item="a", title="a", possible=1.0, counts=counts)
    assert (tally.decided, tally.passed) == (8, 0.75)
    assert replace(tally, counts={LineState.SKIPPED: 4}).passed is None


def test_each_student_of_a_team_has_a_total_and_the_team_one_submission(book):
    by = rubric(item("a", 10.0))
    keep(book, saw("a"), by=by, student="red", members=("ann", "ben"))
    keep(book, saw("a", 0.4), by=by, student="ben")
    keep(book, saw("a", 0.5), by=by, student="blue", members=("cleo", "dora"))
    view = class_view(book, "tiny")
    assert [(submission.card.student, submission.students) for submission in view.submissions] == [
        ("ben", ("ben",)),
        ("blue", ("cleo", "dora")),
        ("red", ("ann",)),
    ]
    assert totals_of(view).settled == (4.0, 5.0, 5.0, 10.0)
    assert standings_of(view) == {Standing.FINAL: 4}, "of students, as the median"
    assert items_of(view)[0].counts == {LineState.FULL: 1, LineState.PARTIAL: 2}


def test_totals_that_may_still_move_are_drawn_apart_and_are_in_no_median(book):
    by = rubric(item("a", 8.0), item("b", 2.0))
    for student, share in (("ann", 1.0), ("ben", 0.5), ("cleo", 0.0)):
        keep(book, saw("a", share), saw("b"), by=by, student=student)
    keep(book, saw("a"), saw("b", outcome=Outcome.NOT_OBSERVED), by=by, student="dora")
    totals = totals_of(class_view(book, "tiny"))
    assert (totals.settled, totals.so_far) == ((2.0, 6.0, 10.0), (8.0,))
    assert sum(bin_.settled for bin_ in totals.bins) == 3
    assert [bin_.low for bin_ in totals.bins if bin_.so_far] == [8.0]
    assert (totals.bins[-1].low, totals.bins[-1].settled) == (9.5, 1), "the best is in the last bin"
    text = shown(book, by).text
    assert "3 final totals: median 6, mean 6, from 2 to 10 of 10 points." in text
    assert "1 total is not final yet" in text


def test_totals_below_nothing_and_beyond_everything_have_a_bar(book):
    by = rubric(item("a", 4.0))
    by = replace(
        by, items=(*by.items, item("more", 3.0, counts="bonus"), item("less", 3.0, counts="penalty"))
    )
    by = replace(by, floor=-3.0)
    keep(book, saw("a"), saw("more"), saw("less"), by=by, student="ann")
    keep(book, saw("a", 0.0), saw("more", 0.0), saw("less", 0.0), by=by, student="ben")
    totals = totals_of(class_view(book, "tiny"))
    assert totals.settled == (-3.0, 7.0)
    assert [bin_.low for bin_ in totals.bins if bin_.settled] == [-3.0, 6.5]


def test_the_axis_of_totals_ends_at_what_can_be_reached(book):
    by = rubric(item("a", 21.0))
    keep(book, saw("a"), by=by)
    keep(book, saw("a", 0.5), by=by, student="ben")
    bins = totals_of(class_view(book, "tiny")).bins
    assert (bins[-1].low, bins[-1].high, bins[-1].count) == (20.0, 21.0, 1)
    assert [bin_.high for bin_ in bins[:-1]] == [bin_.low for bin_ in bins[1:]]
    text = shown(book, by).text
    assert "20 to 21 points: 1 student" in text
    assert " 21 2 final totals:" in text
    assert "22" not in text.partition("Grades as of")[0]


def test_gpu_minutes_count_each_gpu_and_nothing_that_was_simulated(book):
    by = rubric(item("a"), item("b", devices={"gpu": 1}), item("c", devices={"gpu": 2}))
    keep(book, *(saw(name, wall_s=30.0) for name in "abc"), by=by)
    simulated = (saw("b", wall_s=30.0, simulated=True), saw("c", wall_s=60.0))
    keep(book, saw("a"), *simulated, by=by, student="ben")
    view = class_view(book, "tiny", rubric=by, kinds=KINDS)
    assert gpu_seconds(view) == 30 + 2 * 30 + 2 * 60
    assert "GPU minutes 3.5" in Page(page(view)).text
    assert gpu_seconds(class_view(book, "tiny")) is None
    assert "GPU minutes are unknown" in shown(book, None).text


@pytest.mark.parametrize("wall_s", [0.0, 2.0])
def test_a_class_that_used_no_gpu_reads_nothing_of_gpus(book, wall_s):
    by = rubric(item("a", devices={"gpu": 1}))
    keep(book, saw("a", wall_s=wall_s), by=by)
    assert "GPU" not in shown(book, by).text


def test_speedups_are_held_against_the_threshold_that_now_holds_with_their_intervals(book):
    by = rubric(item("fast", options=NEEDS_40))
    for student, ratio in (("ann", 80.0), ("ben", 40.5), ("cleo", 20.0), ("dora", 50.0)):
        keep(book, saw("fast", quantities=times_faster(ratio)), by=by, student=student)
    keep(book, saw("fast", outcome=Outcome.TIMED_OUT), by=by, student="emil")
    text = shown(book, by).text
    assert "40 times are needed: 2 reach it, 1 falls short, 1 has it within the interval." in text
    assert "Median 45.2, from 20 to 80. Noise: an interval is typically ±2.2 %." in text
    assert "ben: 40.5 times, between 39.5 and 41.5; earned" in text
    assert "Measured speedups" not in shown(book, None).text  # without a rubric nobody knows the kind


def test_numbers_that_no_logarithm_can_show_are_left_out_of_the_drawing(book):
    by = rubric(item("fast", options=NEEDS_40))
    for student, ratio in (("ann", 0.0), ("ben", float("nan")), ("cleo", float("inf")), ("dora", "fast")):
        keep(book, saw("fast", quantities={"ratio": Quantity(value=ratio)}), by=by, student=student)
    assert "Measured speedups" not in shown(book, by).text
    keep(book, saw("fast", quantities={"ratio": Quantity(value=7.0)}), by=by, student="emil")
    assert "0 reach it, 1 falls short" in shown(book, by).text


@pytest.mark.parametrize("holds", [True, False])
def test_a_flag_is_decided_where_a_person_gave_points(book, holds):
    by = rubric(item("a", on_flag="holds" if holds else "notes"))
    points = {"points_given": 1.0, "points_possible": 2.0}
    quantities = {name: Quantity(value=of, unit="points", taken_by="Ada") for name, of in points.items()}
    flagged = {"facts": {"flags": ("copied?",)}}
    keep(book, saw("a", **flagged, quantities=quantities), by=by)
    keep(book, saw("a", **flagged), by=by, student="ben")
    view = class_view(book, "tiny")
    assert [flag.students for flag in flags(view, decided=True)] == [("ann",)]
    assert [flag.students for flag in flags(view, holding=holds)] == [("ben",)]
    assert flags(view, holding=not holds) == ()
    for text in (Page(page(view)).text, markdown(view)):
        first, decided = text.split("Flags, decided by points of a person")
        assert ("Held until a person has looked" if holds else "Flags that cost nothing") in first
        assert "copied?" in first
        assert "copied?" in decided


def test_what_a_busy_machine_leaves_open_waits_for_another_run_and_for_nobody(book):
    by = rubric(item("a"))
    for student, why in (("ann", "it waited"), ("ben", "it waited; others ran")):
        note = f"not timed: the machine was busy in 9 of 9 rounds ({why}); the next run tries again"
        seen = saw("a", outcome=Outcome.NOT_OBSERVED, note=note, fault=Fault.BUSY)
        keep(book, seen, by=by, student=student)
    view = class_view(book, "tiny")
    assert open_points(view, for_person=True) == ()
    (waits,) = open_points(view, for_person=False)
    assert waits.text == "not timed: the machine was busy in 9 of 9 rounds; the next run tries again"
    assert (waits.fault, waits.students) == ("", ("ann", "ben"))
    assert "Waits for another run" in Page(page(view)).text


def test_what_needs_a_person_is_told_with_who_it_is_and_who_has_to_act(book):
    by = rubric(item("a", on_flag="holds"), item("b"), item("c"))
    ill = {"outcome": Outcome.NOT_OBSERVED, "note": "GPU 3 is ill", "fault": Fault.MACHINE}
    keep(book, saw("a", facts={"flags": ("copied?",)}), saw("b"), saw("c", **ill), by=by)
    keep(book, saw("a"), saw("b", facts={"flags": ("near 40",)}), saw("c", **ill), by=by, student="ben")
    view = class_view(book, "tiny", roster=("ann", "zoe", "ben"))
    assert [(flag.message, flag.students) for flag in flags(view, holding=True)] == [("copied?", ("ann",))]
    assert [(flag.message, flag.students) for flag in flags(view, holding=False)] == [("near #", ("ben",))]
    (waits,) = open_points(view, for_person=True)
    assert (waits.message, waits.fault, waits.students) == ("GPU # is ill", "machine", ("ann", "ben"))
    text = Page(page(view)).text
    for line in (
        "GPU 3 is ill (for the administrator)",
        "ann, ben: item 3",
        "1 student zoe",
    ):
        assert line in text


def test_what_another_run_may_decide_needs_no_person(book):
    by = rubric(*(item(name) for name in "abcdefg"))
    students = ("ann", "ben", "cleo", "dan")
    for student in students:
        keep(book, *(saw(name, simulated=True) for name in "abcf"), by=by, student=student)
    text = shown(book, by).text
    assert "Needs a person Nothing. Waits for another run" in text
    assert "needs a GPU; right in the simulator 4 submissions, items 1 to 3, 6 ann, ben, cleo, dan" in text
    assert "### Waits for another run" in markdown(class_view(book, "tiny"))


def test_of_messages_of_as_many_students_the_one_that_costs_more_items_is_first(book):
    by = rubric(*(item(name) for name in "abc"))
    reasons = {"a": "a is wrong", "b": "z", "c": "z"}
    keep(book, *(saw(name, 0.0, facts={"reason": reason}) for name, reason in reasons.items()), by=by)
    assert [group.text for group in failures(class_view(book, "tiny"))] == ["z", "a is wrong"]


def test_a_long_message_is_cut_on_the_page_of_a_class(book):
    by = rubric(item("a"))
    keep(book, saw("a", 0.0, facts={"reason": "total 21 / 21 " * 300}), by=by)
    (group,) = failures(class_view(book, "tiny"))
    assert len(group.text) < 500


def test_a_class_in_which_nothing_needs_anybody_says_so(book):
    by = rubric(item("a"))
    keep(book, saw("a"), by=by)
    assert "Needs a person Nothing." in shown(book, by).text
    assert "Why points were lost" not in shown(book, by).text


def test_one_student_with_open_points_alone_is_neither_good_nor_bad(book):
    by = rubric(item("a"), item("b", options=NEEDS_40))
    keep(book, by=by)
    view = class_view(book, "tiny", rubric=by, kinds=KINDS)
    text = Page(page(view)).text
    assert "median of final totals …" in text
    assert "1 total is not final yet" in text
    assert "2 / 4" not in text
    assert [cells[-2:] for cells in rows(markdown(view)) if cells[0] in {"1", "2"} and len(cells) == 5] == [
        ["0 of 1", "…"],
        ["0 of 1", "…"],
    ]


def test_who_has_a_grade_and_is_not_on_the_roster_is_listed_with_whom_that_may_be(book):
    for student in ("ann", "benn", "gusg_177"):
        keep(book, saw("report"), student=student)
    keep(book, saw("report"), student="zoe+kim", members=("zoe", "kim"))
    view = class_view(book, "tiny", roster=("ann", "ben", "zoe"))
    assert (view.absent, view.strangers) == (("ben",), ("benn", "gusg_177", "kim"))
    text = Page(page(view)).text
    assert "Handed in, and not on the roster" in text
    assert "benn (is ben meant?), gusg_177, kim" in text
    assert "3 students with a grade who are not on the roster." in markdown(view)
    assert class_document(view)["not_on_roster"] == ["benn", "gusg_177", "kim"]


@pytest.mark.parametrize("roster", [(), ("ann",)])
def test_without_a_roster_and_with_all_on_it_nobody_is_a_stranger(book, roster):
    keep(book, saw("report"), student="ann")
    view = class_view(book, "tiny", roster=roster)
    assert view.strangers == ()
    assert "roster" not in markdown(view) + Page(page(view)).text


def test_a_class_of_nobody_has_reports_too():
    view = ClassView(assignment="tiny", absent=("zoe",))
    assert "There are no grades yet." in Page(page(view)).text
    assert "There are no grades yet." in markdown(view)
    assert "1 student on the roster without a grade." in markdown(view)
    assert ET.fromstring(class_junit("tiny", ()).encode()).get("tests") == "0"


def test_nothing_that_students_or_courses_say_becomes_markup(book):
    by = rubric(
        item("a" + HOSTILE, title=HOSTILE, options=NEEDS_40), item("b", title=HOSTILE, on_flag="holds"),
        item("c", title=HOSTILE), digest=HOSTILE,
    )  # fmt: skip
    by = replace(by, name=HOSTILE)
    keep(
        book,
        saw("a" + HOSTILE, 0.0, facts={"reason": HOSTILE}, quantities=times_faster(30.0)),
        saw("b", facts={"flags": (HOSTILE,)}),
        saw("c", outcome=Outcome.NOT_OBSERVED, note=HOSTILE),
        by=by,
        student=HOSTILE,
    )
    view = class_view(book, "tiny", rubric=by, kinds=KINDS, roster=(HOSTILE + "2",))
    view = replace(view, assignment=HOSTILE)
    source = page(view)
    drawn = Page(source)
    assert {tag for tag, _ in drawn.tags}.isdisjoint({"script", "img", "link", "iframe", "a"})
    assert not [name for _, attrs in drawn.tags for name in attrs if name.startswith("on")]
    assert "<script" not in source
    assert "\x1b" not in source
    assert drawn.text.count("<script>alert('x')</script>") >= 8
    summary = markdown(view)
    assert "<script" not in summary
    assert "\x1b" not in summary
    assert {len(cells) for cells in rows(summary)} == {2, 3, 5}, "no text ends a cell or a row"
    suites = ET.fromstring(class_junit("tiny", staff_views(book, "tiny")).encode())
    assert suites.find("testsuite").get("name").startswith("<script>")


def of_programs(book, text):
    """A class whose programs say the same in every place."""
    by = rubric(item("a", options=NEEDS_40), item("b", on_flag="holds"), item("c"))
    keep(
        book,
        saw("a", 0.0, facts={"reason": text}, quantities=times_faster(30.0), output=text),
        saw("b", facts={"flags": (text,)}),
        saw("c", outcome=Outcome.NOT_OBSERVED, note=text),
        by=by,
    )
    return class_view(book, "tiny", rubric=by, kinds=KINDS)


@pytest.mark.quick(8)
@pytest.mark.parametrize("attack", HOSTILE_TEXTS)
def test_no_text_of_a_program_acts_or_changes_what_a_report_is_made_of(tmp_path, attack):
    def made_of(text, name):
        with Gradebook(tmp_path / name, create=True) as book:
            view = of_programs(book, text)
            junit = class_junit("tiny", staff_views(book, "tiny"))
        html, summary = page(view), markdown(view)
        assert [unsafe(text) for text in (html, summary, junit)] == [[], [], []]
        assert max(map(len, (html, summary, junit))) < 1_000_000
        return (
            [tag for tag, _ in Page(html).tags],
            [len(CELL.split(line)) for line in summary.split("\n")],
            [element.tag for element in ET.fromstring(junit.encode()).iter()],
        )

    assert made_of(HOSTILE_TEXTS[attack], "hostile.db") == made_of("some text", "honest.db")


def test_a_text_in_a_summary_is_no_link_and_names_nobody(book):
    summary = markdown(of_programs(book, HOSTILE_TEXTS["Markdown"]))
    assert "evil" in summary
    assert not re.search(r"://|www\.|@\w|#\d|<details>|(?<!\\)\]\(|(?<!\\)[`*_~]x", summary)


def test_the_page_is_for_staff_and_says_so(book):
    a_class(book, 3)
    text = shown(book).text
    assert FOR_STAFF in text
    assert "max_gpu launches 1000 blocks of 1000 threads" in text, "students never see this item"


def test_the_page_needs_no_network_and_no_scripts(book):
    a_class(book, 5)
    source = page(class_view(book, "tiny", rubric=RUBRIC, kinds=KINDS))
    drawn = Page(source)
    assert not drawn.attributes("src")
    assert not drawn.attributes("href")
    assert "default-src 'none'; style-src 'unsafe-inline'" in drawn.attributes("content")
    assert not re.search(r"https?:|@import", source)


def test_every_submission_has_a_row_and_every_item_a_column_the_best_first(book):
    view = a_class(book, 60)
    maps = re.findall(r'<table class="map">.*?</table>', page(view), re.DOTALL)
    lines = [line for block in maps for line in re.findall(r'<tr><th scope="row".*?</tr>', block)]
    assert [len(re.findall(r'<tr><th scope="row"', block)) for block in maps] == [25, 25, 10]
    assert all(line.count('<td class="') == 1 + len(ITEMS) for line in lines)
    points = [float(re.search(r'class="sum">([\d.]+)<', line)[1]) for line in lines]
    assert points == sorted(points, reverse=True)
    names = {re.search(r'title="(\w+)"', line)[1] for line in lines}
    assert names == {submission.card.student for submission in view.submissions}


def test_what_is_drawn_lies_within_its_drawing(book):
    everybody_reaches = rubric(item("max.fast", options=SimpleNamespace(at_least=1.0)))
    view = a_class(book, 60)
    source = page(view) + page(class_view(book, "tiny", rubric=everybody_reaches, kinds=KINDS))
    across = [float(value) for value in re.findall(r'(?:x|cx|x1|x2)="([-\d.]+)%"', source)]
    down = [float(value) for value in re.findall(r'(?:cy|y1|y2)="([-\d.]+)"', source)]
    assert len(across) > 120
    assert 0 <= min(across) <= max(across) <= 100
    assert 0 <= min(down) <= max(down) <= 236
    assert all(float(value) >= 0 for value in re.findall(r'height="([-\d.]+)"', source))


def test_the_summary_names_no_student_and_fits_a_step_of_continuous_integration(book):
    view = a_class(book, 60)
    summary = markdown(view)
    assert "student0" not in summary
    assert "zoe" not in summary
    assert len(summary.encode()) < 2**20, "the most that such a summary may hold"
    assert ["submissions", "60"] in rows(summary)
    assert "40 times are needed" in summary


def test_the_summary_is_as_long_for_many_messages_as_for_some(book):
    by = rubric(*(item(f"i{k}") for k in range(40)))
    for student in ("ann", "ben"):
        observations = (saw(f"i{k}", 0.0, facts={"reason": f"{student} " + "x" * (k + 1)}) for k in range(40))
        keep(book, *observations, by=by, student=student)
    summary = markdown(class_view(book, "tiny"))
    assert "And 65 more messages." in summary
    assert sum(" x" in cells[-1] for cells in rows(summary)) == 15
    source = page(class_view(book, "tiny"))
    assert "And 40 more messages." in source
    assert len(re.findall(r"<li><p>\w+ x", source)) == 40


def test_junit_has_a_suite_for_each_submission_with_what_the_file_of_one_grade_has(book):
    by = rubric(item("a"), item("part.b"), item("c"))
    broken = {"outcome": Outcome.NOT_OBSERVED, "note": "GPU 1 is ill", "fault": Fault.MACHINE}
    keep(book, saw("a"), saw("part.b", 0.5), saw("c", **broken), by=by)
    keep(book, saw("a"), saw("part.b"), saw("c"), by=by, student="red", members=("ben", "cleo"))
    root = ET.fromstring(class_junit("tiny", staff_views(book, "tiny")).encode())
    assert {key: root.get(key) for key in ("name", "tests", "failures", "errors", "skipped")} == {
        "name": "tiny",
        "tests": "6",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }
    assert [suite.get("name") for suite in root] == ["ann", "red"]
    cases = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(cases)) == 6, "whoever shows them must not take two students for one"
    assert ("ann.tiny.part", "part.b") in cases
    assert "1/2 points: is wrong" in root.find(".//failure").get("message")


def test_grades_by_another_rubric_are_named_and_their_items_are_there(book):
    keep(book, saw("a"), by=rubric(item("a"), item("old"), digest="sha256:r0"))
    new = rubric(item("new"), item("a"), item("more"))
    keep(book, saw("a"), saw("new"), saw("more"), by=new, student="ben")
    view = class_view(book, "tiny")
    assert [tally.item for tally in items_of(view)] == ["new", "a", "more", "old"]
    assert sum(submission.card.standing is Standing.FINAL for submission in view.submissions) == 1
    text = Page(page(view)).text
    assert "tiny, version r0 (1 submission)" in text
    assert "Not all are graded by the same rubric; grader rescore says what would change." in text


@pytest.mark.parametrize("width", [360, 680, 1280])
def test_no_figure_of_a_class_is_wider_than_its_tile(book, width):
    playwright = pytest.importorskip("playwright.sync_api")
    browser_path = (
        shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    )
    if browser_path is None:
        pytest.skip("needs Chromium (apt install chromium)")
    by = rubric(item("a", 100.0))
    keep(book, saw("a", 0.875), by=by)
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": width, "height": 740})
        opened.set_content(page(class_view(book, "tiny", rubric=by)))
        inner, widths = opened.evaluate("""() => [
            [...document.querySelectorAll(".tiles dd")]
                .map(box => [box.innerText, box.scrollWidth - box.clientWidth]),
            [...document.querySelectorAll(".tiles > div")].map(box => box.clientWidth)]""")
        browser.close()
    assert [figure for figure, over in inner if over > 0] == []
    assert "87.5 / 100" in [figure for figure, _ in inner]
    assert max(widths) < 2.2 * min(widths), "no tile is left alone on a line, and takes all of it"
