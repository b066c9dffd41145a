from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import datetime
from html.parser import HTMLParser
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from grader import __version__
from grader.checks.points_drawings import points_drawings
from grader.model.observation import NOT_CALLED, Case, Outcome, Quantity
from grader.reports.class_groups import fold
from grader.reports.html import Html
from grader.reports.item_rows import MOST_CASES
from grader.reports.pages import LONGEST, TEMPLATES, quantity_chips, quantity_text
from grader.reports.terminal import table

CSS = (TEMPLATES / "style.css").read_text()
SPEEDUP = SimpleNamespace(of="m.f", over="m.g", at_least=40.0)


def timed(make, *observations, **options):
    """A card of one item whose kind draws speedups."""
    options = SimpleNamespace(**{**vars(SPEEDUP), **options})
    return make.graded([make.item("a", "Title", check="drawn", options=options)], observations)


class Page(HTMLParser):
    """What a browser would see: tags with their attributes, and text by the tag around it."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts, self._path = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._path.append(tag)

    def handle_endtag(self, tag):
        while self._path.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" not in self._path:
            self.texts.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.texts))

    def attributes(self, name):
        return [attrs[name] for _, attrs in self.tags if name in attrs]


def without_attributes(tag, source):
    return re.sub(rf"<{tag} [^>]*>", f"<{tag}>", source)


def page(card):
    return Page(Html().render(card.staff))


def sections(card):
    """The sections below the table, by the title of their item: whether open, and the source."""
    source = Html().render(card.staff).replace("<wbr>", "")
    found = re.findall(r'<section class="item.*?</section>', source, re.DOTALL)
    titles = [re.search(r"<h3>(.*?)</h3>", section, re.DOTALL)[1] for section in found]
    return dict(zip(titles, found, strict=True))


def test_says_whose_work_and_how_many_points_and_how_sure(stored):
    text = page(stored("normal")).text
    assert "alice" in text
    assert "5.5 / 21 points" in text
    assert "Provisional: 3 points still open, neither earned nor lost." in text


def test_says_why_points_are_missing_and_what_to_try(stored):
    source = Html().render(stored("normal").staff)
    assert "<p>ended in ZeroDivisionError: division by zero</p>" in source
    assert '<p class="hint">Which side is the input&#39;s?</p>' in source


def test_a_held_card_says_that_a_person_looks_first(stored):
    assert "Held: a person has to look first" in page(stored("held")).text


def test_a_late_total_is_told_with_how_it_comes_about(stored):
    text = page(stored("late")).text
    assert "8 / 10 points" in text
    assert "Handed in 1 day 3 hours late: 2 points off, 8 / 10 left." in text
    assert ledger(stored("late")) == [
        ("Earned", "10"),
        ("Raw total", "10"),
        ("Late by 1 day 3 hours", "-2"),
        ("Final", "8"),
    ]


def test_a_team_sees_the_total_of_each_of_it(stored):
    assert "alice, bob" in page(stored("team")).text
    assert ledger(stored("team")) == [
        ("Earned", "10"),
        ("Bonus", "+2"),
        ("Penalty", "-0.5"),
        ("Raw total, within the bounds of the rubric", "11"),
        ("alice, late by 1 day 3 hours", "-2.2"),
        ("alice, final", "8.8"),
        ("bob, final", "11"),
    ]
    assert ledger(stored("normal")) == []


def ledger(card):
    source = Html().render(card.staff)
    found = re.search(r'<dl class="ledger">(.*?)</dl>', source, re.DOTALL)
    return re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", found[1]) if found else []


def test_what_is_pending_is_gathered_by_its_reason(make):
    waits = {"outcome": Outcome.NOT_OBSERVED, "note": "needs 1 GPU; this machine has none"}
    items = [make.item(name, f"Title {name}", 2.0) for name in "abc"]
    card = make.graded(items, [make.seen("a", **waits), make.seen("b", **waits), make.seen("c")])
    source = Html().render(card.staff)
    (entry,) = re.findall(r"<li><strong>(.*?)</li>", source, re.DOTALL)
    assert entry.startswith("4 points:</strong> needs 1 GPU; this machine has none")
    assert "Title a; Title b" in entry
    penalty = [make.item("a", "Title a", 2.0, counts="penalty")]
    assert "<li>needs 1 GPU" in Html().render(make.graded(penalty, [make.seen("a", **waits)]).staff)
    assert "Still open" not in Html().render(make.graded(items, [make.seen(n) for n in "abc"]).staff)


def test_a_speedup_is_drawn_against_what_is_needed_and_told_in_words(stored):
    section = sections(stored("speedups"))["max_gpu is at least 40 times faster than max_cpu"]
    assert "56 times faster, between 54 and 58; 40 times are needed." in section
    assert '<rect class="ratio" x="0" y="24" width="88.83%"' in section  # 92 % times 56 / 58
    assert 'class="needed" x1="63.45%"' in section
    assert section.count('class="whisker"') == 3
    assert "max_functions.max_gpu: 4.12 ms, median of 7" in section
    assert "max_functions.max_cpu: 231 ms, median of 7" in section
    assert section.count("<circle") == 21
    assert "ratio low" not in section  # what is drawn is not listed again
    assert "<li>7 rounds</li>" in section
    assert section.count('role="img" aria-label="56 times faster') == 1  # the rest is told in its labels
    assert "<details open>" in section  # although it earned everything


@pytest.mark.parametrize(
    ("ratio", "share", "outcome", "looks"),
    [
        (39.9, 1.0, Outcome.OBSERVED, "full"),  # a doubt is for the student's benefit
        (39.9, 0.0, Outcome.NOT_OBSERVED, "open"),
        (56.0, 0.0, Outcome.NOT_OBSERVED, "open"),
        (56.0, 0.0, Outcome.OBSERVED, "lost"),  # the GPU did not do it
        (8.0, 0.0, Outcome.OBSERVED, "lost"),
        (30.0, 0.5, Outcome.OBSERVED, "partial"),
    ],
)
def test_the_bar_of_a_speedup_has_the_colour_of_the_verdict(make, ratio, share, outcome, looks):
    card = timed(make, make.seen("a", share, outcome, **make.fast(ratio)))
    section = sections(card)["Title"]
    assert section.startswith(f'<section class="item {looks}"')
    assert '<rect class="ratio" ' in section
    assert f".{looks} {{ --mark: var(--{looks}); }}" in CSS
    assert "svg .ratio { fill: var(--mark" in CSS


def test_an_interval_without_an_upper_end_leaves_room_for_the_ratio(make):
    ends = {"ratio": 434.0, "ratio_low": 304.0, "ratio_high": 2.09e6, "threshold": 40.0}
    seen = make.seen("a", quantities={name: Quantity(value=value) for name, value in ends.items()})
    section = sections(timed(make, seen))["Title"]
    assert "434 times faster, between 304 and 2,090,000; 40 times are needed." in section
    assert '<rect class="ratio" x="0" y="24" width="46.00%"' in section
    assert 'x2="100.00%"' in section
    assert section.count('class="whisker"') == 2, "the upper end is outside"


def test_the_threshold_that_is_drawn_is_the_one_that_judges_now(make):
    card = timed(make, make.seen("a", **make.fast(threshold=40.0)), at_least=20.0)
    assert "20 times are needed" in sections(card)["Title"]


@pytest.mark.parametrize("value", ["fast", None, True, math.nan, math.inf, -1.0])
def test_what_is_no_measurement_is_listed_and_not_drawn(make, value):
    quantities = {"ratio": Quantity(value=value), "threshold": Quantity(value=40.0)}
    card = timed(make, make.seen("a", quantities=quantities))
    section = sections(card)["Title"]
    assert "<svg" not in section
    assert "ratio: " in section


def test_no_time_at_all_is_no_division_by_zero(make):
    quantities = {name: Quantity(value=0.0) for name in ("ratio", "threshold", "of_s", "over_s")}
    card = timed(make, make.seen("a", quantities=quantities))
    assert "0 times faster" in sections(card)["Title"]


def test_staff_sees_flags_and_what_students_do_not_see(stored, make):
    staff = Html().render(stored("hidden").staff)
    assert staff.count("flag: near_threshold: a person may look") == 2
    assert "students never see it" in staff
    assert "students see it after the deadline" in staff
    assert "for staff" in staff
    student = Html().render(stored("hidden").student())
    assert "flag" not in student
    assert "for staff" not in student
    later = Html().render(stored("hidden").student(closes=make.due))
    assert "second" in later
    assert "students see" not in later


def test_marks_have_words_for_those_who_do_not_see_signs(stored):
    source = Html().render(stored("normal").staff)
    for word in ("earned", "partly earned", "not earned", "skipped", "pending"):
        assert f'<span class="sr">{word}</span>' in source


def test_what_lost_points_lies_open_and_what_passed_is_folded(stored):
    found = sections(stored("normal"))
    assert "<details open>" in found["zeros_weights has the right shapes"]
    assert "<details>" in found["add_elementwise adds element by element"]
    assert "max_gpu launches a kernel" not in found  # nothing was seen of it


def test_a_case_that_went_well_without_a_call_to_show_is_its_name(stored):
    card = stored("normal")
    observations = {
        name: replace(seen, cases=tuple(replace(case, called="") for case in seen.cases))
        for name, seen in card.evidence.observations.items()
    }
    source = Html().render(replace(card.staff, evidence=replace(card.evidence, observations=observations)))
    assert "1 case went well" in source
    assert "<code></code>" not in source


def test_a_case_that_failed_and_weighs_nothing_did_not_go_well(make):
    cases = (
        Case(name="test_a", outcome=Outcome.OBSERVED, agrees={"passed": True}),
        Case(name="test_b", outcome=Outcome.OBSERVED, agrees={"passed": False}),
        Case(name="test_c", outcome=Outcome.TIMED_OUT),
    )
    card = make.graded([make.item("tests", "The tests pass")], [make.seen("tests", cases=cases)])
    page = Page(Html().render(card.staff)).text
    assert "1 case went well" in page
    assert "2 cases failed and cost nothing" in page


def test_a_wrong_case_shows_the_call_what_came_back_and_what_was_expected(stored):
    section = sections(stored("normal"))["zeros_weights has the right shapes"]
    assert section.count('<article class="case wrong">') == 2
    assert "<pre>zeros_weights([3, 2])</pre>" in section
    assert "<pre>[array((2, 3))]</pre>" in section
    assert "<pre>[array((3, 2))]</pre>" in section
    assert "Changed in place: sizes" in section
    assert "1 case went well" in section
    section = without_attributes("pre", section)
    assert "<pre>debug: (2, 3)\ndebug: (3, 2)\n</pre>" in section


def test_shortened_values_of_a_wrong_case_are_shown_whole_behind_a_fold(make):
    longer = {"called": "f(array([0, 1, 2, 3, 4]))", "expected": "array([5, 6, 7, 8, 9])"}
    wrong = make.case(note="differs", called="f(array([0, …, 4]))", longer=longer)
    card = make.graded([make.item("a", "Title")], [make.seen("a", 0.0, cases=(wrong, make.case(note="x")))])
    source = Html().render(card.student())
    (fold,) = re.findall("<details><summary>All elements</summary>(.*?)</details>", source, re.DOTALL)
    assert re.findall("<dt>(.*?)</dt>", fold) == ["Called", "Expected"]
    assert all(text in fold for text in longer.values())


def test_each_property_says_whether_it_holds(stored):
    section = sections(stored("normal"))["xavier_init stays within its bounds"]
    assert "✓ bounds" in section
    assert "✗ variance" in section
    assert "10 ms (as the program says)" in section


@pytest.mark.parametrize(
    "keys",
    [
        {"agrees": {"with layer 0": True, "without": False}, "note": "4 arrays, expected 3"},
        {"agrees": {"expected": False}},
        {"outcome": Outcome.TIMED_OUT, "agrees": {}},
    ],
)
def test_a_case_that_differs_stands_out_from_those_that_do_not(make, keys):
    cases = (make.case("a", agrees={"with layer 0": True, "without": False}), make.case("b", **keys))
    card = make.graded([make.item("a", "Title")], [make.seen("a", 0.5, cases=cases)])
    section = sections(card)["Title"]
    assert section.count('<article class="case wrong">') == section.count("<article") == 1
    assert "<h4>b" in section


def test_if_no_case_stands_out_all_are_shown(make):
    alike = [make.case(name) for name in ("one", "two")]
    card = make.graded([make.item("a", "Title")], [make.seen("a", 0.5, cases=tuple(alike))])
    assert sections(card)["Title"].count('<article class="case">') == 2


def test_a_crash_shows_what_the_program_printed(stored):
    section = sections(stored("normal"))["max_cpu finds the larger element"]
    assert "ended in ZeroDivisionError" in section
    section = without_attributes("pre", section)
    assert "<pre>Traceback (most recent call last)" in section


def test_a_page_of_many_cases_stays_readable(make):
    wrong = tuple(make.case(f"c{i}", note="differs") for i in range(MOST_CASES + 7))
    card = make.graded([make.item("a", "Title")], [make.seen("a", 0.0, cases=wrong)])
    section = sections(card)["Title"]
    assert section.count("<article") == MOST_CASES
    assert "And 7 more." in section


def test_long_texts_keep_their_head_and_tail(stored):
    longest = max(map(len, page(stored("long")).texts))
    assert LONGEST - 100 < longest <= LONGEST


def test_where_the_mark_comes_from_stands_at_the_end(stored):
    card = stored("normal")
    text = page(card).text.partition("Where this grade comes from")[2]
    for fact in (
        card.evidence.submission.digest,
        card.rubric.digest,
        "2024-12-20 10:11 UTC",
        "bubblewrap",
        "CPython 3.11.9",
        "numpy 2.1.0, numba 0.60.0",
    ):
        assert fact in text


def test_what_the_machine_was_is_named_in_words(make):
    card = make.graded([make.item("a", "Title")], [make.seen("a")])
    process = {"python": "3.11", "seccomp": True}
    environment = {"load_1min": 0.5, "cores": 2, "memory": "24 GiB", "subject": process, "x_y": 1}
    run = replace(card.evidence.runs[0], environment=environment)
    source = Html().render(replace(card.staff, evidence=replace(card.evidence, runs=(run,))))
    terms = re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", source.partition("<footer>")[2])
    assert terms[-5:] == [
        ("Load over a minute", "0.5"),
        ("CPU cores", "2"),
        ("Memory", "24 GiB"),
        ("Process of the student", "python 3.11, filter of system calls yes"),
        ("X y", "1"),
    ]
    assert ("Digest of the files", card.scorecard.submission_digest) in terms


@pytest.mark.parametrize("timed_", [True, False])
def test_a_student_reads_of_the_machine_what_times_depend_on(make, timed_):
    measured = {"ratio": 2.0, "ratio_low": 1.9, "ratio_high": 2.1, "threshold": 40.0}
    quantities = {name: Quantity(value=value) for name, value in measured.items()}
    card = timed(make, make.seen("a", quantities=quantities if timed_ else {}))
    gpus = [{"name": "NVIDIA H200", "uuid": "GPU-1", "driver": "570"}] * 2
    environment = {
        "python": "CPython 3.11.9", "processor": "AMD EPYC 9654", "cores": 2, "gpus": gpus,
        "kernel": "Linux 6.8", "subject": {"landlock_abi": 7}, "load_1min": 0.5,
    }  # fmt: skip
    run = replace(card.evidence.runs[0], environment=environment)
    view = replace(card.student(), evidence=replace(card.evidence, runs=(run,)))
    terms = dict(re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", Html().render(view).partition("<footer>")[2]))
    machine = {"Processor": "AMD EPYC 9654", "CPU cores": "2", "GPU": "NVIDIA H200, NVIDIA H200"}
    assert terms == {
        "Handed in": "alice.tar.gz",
        "Handed in at": "2024-12-19 08:00 UTC",
        "Files graded": "max_functions.py, utils.py",
        "Files ignored": "__pycache__/utils.pyc",
        "Rubric": card.rubric.name,
        "Grader": __version__,
        "Observed at": "2024-12-20 10:11 UTC",
        "Python": "CPython 3.11.9",
        **(machine if timed_ else {}),
    }


def test_what_is_the_same_in_all_runs_is_said_once(make):
    card = make.graded([make.item("a", "Title")], [make.seen("a")])
    run = replace(card.evidence.runs[0], environment={"load_1min": 0.5, "cores": 2})
    runs = (run, replace(run, environment={"load_1min": 3.5, "cores": 2}))
    source = Html().render(replace(card.staff, evidence=replace(card.evidence, runs=runs)))
    terms = re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", source.partition("<footer>")[2])
    names = [name for name, _ in terms]
    assert names[names.index("Grader") + 1 :] == [
        "Load over a minute",
        "Load over a minute",
        "Observed at",
        "Isolation",
        "CPU cores",
    ]


def test_dates_are_those_of_the_courses_clocks(make):
    card = make.graded([make.item("a", "Title")], [make.seen("a")])
    submitted = datetime.fromisoformat("2026-11-20T21:00:00+00:00")
    submission = replace(card.evidence.submission, submitted_at=submitted)
    evidence = replace(card.evidence, submission=submission)
    view = replace(card.staff, evidence=evidence, time_zone=ZoneInfo("Europe/Berlin"))
    assert "Handed in at2026-11-20 22:00 CET" in Page(Html().render(view)).text


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        ("2026-11-20T21:00:00+00:00", "2026-11-20 22:00 CET: Points given by ada, because: late mail"),
        ("yesterday", "yesterday: Points given by ada, because: late mail"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00: Points given by ada, because: late mail"),
        ("", "Points given by ada, because: late mail"),
    ],
)
def test_who_gave_points_and_when_is_told_by_the_courses_clocks(make, moment, text):
    given = make.seen(
        "a",
        facts={"given_at": moment, "given_reason": "late mail"},
        quantities={
            name: Quantity(value=1.0, unit="points", taken_by="ada")
            for name in ("points_given", "points_possible")
        },
    )
    card = make.graded([make.item("a", "Title")], [given])
    drawings = {"a": tuple(points_drawings((), given))}
    view = replace(card.staff, drawings=drawings, time_zone=ZoneInfo("Europe/Berlin"))
    assert text in Page(Html().render(view)).texts


def test_the_secret_of_the_inputs_is_told_so_that_they_can_be_drawn_again(stored):
    assert "00ff" * 8 in sections(stored("normal"))["zeros_weights has the right shapes"]


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"points": 0.0}, "Provisional: what is still open is worth no points."),
        ({"points": 1.0, "counts": "bonus"}, "Provisional: what may still add or take points is open."),
        ({"points": 1.0, "counts": "penalty"}, "Provisional: what may still add or take points is open."),
        ({"points": 1.0}, "Provisional: 1 point still open, neither earned nor lost."),
    ],
)
def test_what_is_open_is_told_by_what_it_may_change(make, keys, sentence):
    items = [make.item("a", "First"), make.item("b", "Second", **keys)]
    card = make.graded(items, [make.seen("a"), make.seen("b", outcome=Outcome.NOT_OBSERVED)])
    assert sentence in page(card).text
    assert sentence in " ".join(table(card.scorecard).split())


@pytest.mark.parametrize("name", ["normal", "late", "bonus", "penalty"])
def test_the_bar_ends_at_the_total_that_stands_above_it(stored, make, name):
    if name in ("bonus", "penalty"):
        items = [make.item("a", "First", 10.0), make.item("b", "Second", 2.0, counts=name)]
        card = make.graded(items, [make.seen("a", 0.9), make.seen("b", 0.5)])
    else:
        card = stored(name)
    parts = re.findall(r'<i class="(\w+)" style="flex-grow:([\d.]+)">', Html().render(card.staff))
    shares = {part: float(share) for part, share in parts}
    possible = card.scorecard.points.possible
    assert shares.get("full", 0.0) == pytest.approx(min(card.scorecard.totals[0].adjusted, possible))
    assert sum(shares.values()) == pytest.approx(possible)


def test_nothing_from_outside_becomes_markup(stored):
    tags = page(stored("hostile")).tags
    assert not {"script", "bold", "img", "iframe", "link", "object"} & {tag for tag, _ in tags}
    names = {name for _, attrs in tags for name in attrs}
    assert names <= {
        "aria-hidden", "charset", "class", "content", "href", "http-equiv", "id", "lang", "name", "open",
        "scope", "style", "tabindex",
        "width", "height", "role", "aria-label", "x", "y", "rx", "x1", "x2", "y1", "y2", "cx", "cy", "r",
        "text-anchor", "dx",
    }  # fmt: skip


def test_the_page_needs_nothing_but_itself(each):
    source = Html().render(each.staff)
    links = page(each)
    assert "src=" not in source
    assert "url(" not in source
    assert "@import" not in source
    assert set(links.attributes("href")) <= {f"#{name}" for name in links.attributes("id")}


def test_a_students_page_shows_the_sums_of_what_is_on_it(stored):
    text = Page(Html().render(stored("hidden").student())).text
    assert "1.5 / 3 points" in text
    assert "These are the points of the items that are shown here. 1 item is shown later." in text


IMPORT = "utils.py could not be imported: ModuleNotFoundError: No module named 'mine'"


def test_what_ended_several_items_at_once_is_one_banner_without_hints_about_something_else(make):
    items = [make.item(name, f"Title {name}", hint=f"Hint of {name}") for name in "abc"]
    ended = [make.seen(name, outcome=Outcome.CRASHED, note=IMPORT, output="said") for name in "ab"]
    alone = make.seen("c", outcome=Outcome.CRASHED, note="another reason")
    for view in (make.graded(items, [*ended, alone]).staff, make.graded(items, [*ended, alone]).student()):
        text = Page(Html().render(view)).text
        assert text.count(IMPORT) == 1
        assert "6 points lost: utils.py could not" in text
        assert text.count("see the top of the page") == 2
        assert ("Hint of a" in text, "Hint of c" in text) == (False, True)
        assert text.count("said") == 1


def test_what_was_skipped_for_a_failed_import_is_part_of_what_it_costs(make):
    needs = {"c": ("a",), "d": ("c",), "e": ("other",)}
    items = [make.item(name, f"Title {name}", needs=needs.get(name, ())) for name in "abcde"]
    items.append(make.item("other", "Title other"))
    ended = [make.seen(name, outcome=Outcome.CRASHED, note=IMPORT) for name in "ab"]
    skipped = [make.seen(name, outcome=Outcome.SKIPPED) for name in "cde"]
    wrong = make.seen("other", outcome=Outcome.CRASHED, note="another reason")
    text = Page(Html().render(make.graded(items, [*ended, *skipped, wrong]).student())).text
    assert "12 points lost: utils.py could not" in text
    assert "looked at in 4 items" in text
    assert text.count("see the top of the page") == 4


@pytest.mark.parametrize("audience", ["staff", "student"])
def test_a_build_that_failed_is_the_banner_of_all_that_it_cost(make, audience):
    error = "blocks.cpp:3:3: 'undeclared' was not declared in this scope"
    needs = {"clean": ("build",), "product": ("clean",), "ring": ("build",)}
    items = [make.item("build", "Title build", 0.0, hint="Compile it yourself.")]
    items += [make.item(name, f"Title {name}", needs=needs.get(name, ())) for name in (*needs, "report")]
    case = Case(
        name="blocks.cpp:3:3", outcome=Outcome.NOT_BUILT, called="undeclared = 3;", note="'undeclared'"
    )
    built = make.seen("build", outcome=Outcome.NOT_BUILT, note=error, cases=(case,))
    skipped = [make.seen(name, outcome=Outcome.SKIPPED) for name in needs]
    card = make.graded(items, [built, *skipped, make.seen("report", 0.0)])
    text = Page(Html().render(card.staff if audience == "staff" else card.student())).text
    assert f"9 points lost: {error}" in text
    assert "Nothing else could be looked at in 3 items: mend this first." in text
    assert text.count("not looked at: see the top of the page") == 3
    assert text.count(error) == 1
    assert "Compile it yourself." in text
    assert "undeclared = 3;" in text


def test_a_build_that_cost_nothing_else_is_no_banner(make):
    seen = [make.seen("a", outcome=Outcome.NOT_BUILT, note="expected }"), make.seen("b")]
    text = Page(Html().render(make.graded([make.item(n, f"Title {n}") for n in "ab"], seen).student())).text
    assert "top of the page" not in text
    assert "mend this first" not in text


def test_a_build_that_failed_shows_its_lines_and_its_output_as_such(make):
    case = Case(name="work.cpp:1", outcome=Outcome.NOT_BUILT, called="int main() {", note="expected }")
    seen = make.seen("a", outcome=Outcome.NOT_BUILT, note="expected }", cases=(case,), output="make: Error 1")
    source = without_attributes(
        "pre", Html().render(make.graded([make.item("a", "Title a")], [seen]).student())
    )
    assert "<dt>Line</dt><dd><pre>int main() {" in source
    assert "What was printed</p><pre>make: Error 1" in source
    assert "Called" not in Page(source).text


def test_a_student_reads_lost_points_first_and_staff_the_order_of_the_rubric(make):
    items = [make.item(name, f"Title {name}") for name in "abc"]
    seen = [make.seen("a"), make.seen("b", 0.0), make.seen("c", outcome=Outcome.NOT_OBSERVED)]
    card = make.graded(items, seen)
    orders = [
        re.findall(r'<th scope="row"><span class="title">(?:<a[^>]*>)?Title (\w)', Html().render(view))
        for view in (card.student(), card.staff)
    ]
    assert orders == [["b", "c", "a"], ["a", "b", "c"]]


@pytest.mark.parametrize(
    ("quantities", "chips"),
    [
        ({"rounds": (7, "rounds"), "warnings": (1, "warnings")}, ["7 rounds", "1 warning"]),
        ({"of_s": (0.5, "s")}, ["of: 500 ms"]),
        (
            {"disturbed_rounds": (26, "rounds"), "identity_s": (0.5, "s"), "reference_of_s": (0.5, "s")},
            [
                "not used, as the machine was busy: 26 rounds",
                "handing over a result: 500 ms",
                "the reference's fast function: 500 ms",
            ],
        ),
        ({"max_abs_error": (1, ""), "max_rel_error": (0, "")}, ["largest difference: 1"]),
        ({"max_abs_error": (1, ""), "wrong": (0, "")}, ["largest difference: 1", "elements that differ: 0"]),
        (
            {"max_abs_error": (math.inf, ""), "max_rel_error": (math.inf, ""), "wrong": (1, "")},
            ["elements that differ: 1"],
        ),
        ({"wrong": (3, ""), "total": (8, ""), "max_abs_error": (1, "")}, ["largest difference: 1"]),
        ({"wrong": (3, ""), "total": (18, "")}, ["elements that differ: 3", "elements compared: 18"]),
    ],
)
def test_a_chip_says_nothing_twice(quantities, chips):
    values = {name: Quantity(value=value, unit=unit) for name, (value, unit) in quantities.items()}
    assert quantity_chips(values, "at [0]: got nan, expected 1 (3 of 8 values differ)") == chips


def test_no_difference_is_one_zero_and_nothing_where_a_text_differs():
    names = {"max_abs_error": 0, "max_rel_error": 0, "wrong": 0, "total": 9}
    values = {name: Quantity(value=value) for name, value in names.items()}
    assert quantity_chips(values) == ["largest difference: 0", "elements compared: 9"]
    assert quantity_chips(values, "item 1: got '5', expected '1'") == ["elements compared: 9"]


def test_statistics_of_drawn_values_are_for_staff_alone():
    values = {"ks": Quantity(value=2.97), "ks_of": Quantity(value="item 1"), "mean": Quantity(value=-0.38)}
    time = {"wall_s": Quantity(value=0.5, unit="s")}
    assert quantity_chips({**values, **time}, for_staff=False) == ["time: 500 ms"]
    assert len(quantity_chips({**values, **time})) == 4
    assert quantity_chips({"mean": Quantity(value=0.5)}, for_staff=False) == ["mean: 0.5"]


def test_a_student_reads_that_inputs_were_changed(make):
    changing = make.case("c", agrees={"f": True}, changed_inputs=("argument 1",))
    card = make.graded([make.item("a", "A")], [make.seen("a", cases=(changing,))])
    assert "changed its inputs in place" in Html().render(card.student())


def test_what_a_stopped_program_did_not_say_is_no_chip():
    assert quantity_chips({"exit_status": Quantity(value=None, taken_by="subject")}) == []


TRACE = """  File "/given/driver.py", line 3, in f
    g()
    ^^^
  File "/workspace/utils.py", line 9, in g
"""


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        ({"traceback": TRACE}, True),
        ({"tracebacks": {"case 0": TRACE, "case 1": "other"}}, True),
        ({"tracebacks": ["odd"], "traceback": 1}, False),
    ],
)
def test_a_traceback_is_for_staff_alone(make, facts, shown):
    seen = make.seen("a", outcome=Outcome.CRASHED, note="f(): KeyError: 1", facts=facts)
    card = make.graded([make.item("a", "A")], [seen])
    staff, student = Html().render(card.staff), Html().render(card.student())
    assert ("driver.py&#34;, line 3, in f\n    g()\n  File" in staff) == shown
    assert "driver.py" not in student


def test_cases_that_end_in_the_same_way_are_shown_once(make):
    ends = [*["f(): KeyError: 1 (utils.py:3, in f())"] * 3, "f(): KeyError: 2 (utils.py:3, in f())"]
    cases = [
        Case(name=f"case {k}", outcome=Outcome.CRASHED, called=f"f({k})", note=note)
        for k, note in enumerate(ends)
    ]
    differs = [
        Case(name=f"other {k}", outcome=Outcome.OBSERVED, called="f(9)", note="got 1, expected 2")
        for k in range(2)
    ]
    seen = make.seen("a", 0.0, cases=(*cases, *differs))
    source = Html().render(make.graded([make.item("a", "A")], [seen]).student())
    assert re.findall(r"<h4>([^ ]+ \d)", source) == ["case 0", "case 3", "other 0", "other 1"]
    assert "2 more cases ended in the same way</summary>" in source
    assert "<li>case 2: <code>f(2)</code></li>" in source


def test_what_is_wrong_in_a_simulator_is_one_open_reason_and_a_simulator_is_explained_once(make):
    items = [make.item(name, f"Title {name}") for name in "abc"]
    seen = [
        make.seen(
            n, 0.0, simulated=True, output="…", facts={"reason": f"reason {n}"}, cases=(make.case(note="x"),)
        )
        for n in "abc"
    ]
    source = Html().render(make.graded(items, seen).student())
    (entry,) = re.findall(r"<li><strong>(.*?)</li>", source, re.DOTALL)
    assert entry.startswith("9 points:</strong> needs a GPU; wrong in the simulator, as said above")
    assert "Title a; Title b; Title c" in entry
    assert source.count("cannot tell times") == 1


def test_only_long_words_of_a_title_may_break_within(make):
    card = make.graded([make.item("a", "matmul_transpose_numba & m1.2.py <b>")], [make.seen("a", output="x")])
    (title,) = re.findall("<h3>(.*?)</h3>", Html().render(card.staff))
    assert title == "matmul_<wbr>transpose_<wbr>numba &amp; m1.2.py &lt;b&gt;"


def test_a_hint_stands_once_in_the_section_if_there_is_one(make):
    items = [make.item(name, f"Title {name}", hint=f"Hint of {name}") for name in "ab"]
    seen = [make.seen("a", 0.0, output="…"), make.seen("b", 0.0)]
    table, _, below = Html().render(make.graded(items, seen).student()).partition("What was seen")
    assert re.findall('<p class="hint">(.*?)</p>', table) == ["Hint of b"]
    assert re.findall('<p class="hint">(.*?)</p>', below) == ["Hint of a"]


def test_what_is_wrong_in_a_simulator_comes_first_and_what_is_right_there_is_folded(make):
    items = [make.item(name, f"Title {name}") for name in "abcd"]
    shares = {"a": 1.0, "b": 0.0, "c": 1.0}
    seen = [make.seen(name, share, simulated=True, output="…") for name, share in shares.items()]
    card = make.graded(items, [*seen, make.seen("d", 0.0)])
    source = Html().render(card.student())
    assert re.findall(r"<h3>Title (\w)", source) == ["b", "a", "c"]
    assert source.count("<details open>") == 1, "d has no section, and b is open"
    assert "<strong>6 points:</strong> needs a GPU; right in the simulator<p" in source
    assert source.count("needs a GPU; wrong in the simulator: ") == 2, (
        "in the table and below, and not in between"
    )


@pytest.mark.parametrize(
    ("message", "folded"),
    [
        ('waits for "Part 2 is right", "Part 3"', 'waits for "Part 2 is right", "Part 3"'),
        ('skipped: needs "Part 2"', 'skipped: needs "Part 2"'),
        ('3 of 4 differ, as in "7"', '# of # differ, as in "#"'),
        ("a person gave 1.5 of 4: Nearly, Ann.", "a person gave # of #"),
        ("one: f(): KeyError: 1 (net/utils.py:31, in helper()); no", "one: f(): KeyError: #; no"),
        ("f(): KeyError: 1 (reference/utils.py:31)", "f(): KeyError: # (reference/utils.py:#)"),
    ],
)
def test_messages_of_a_class_keep_titles_and_leave_out_what_is_of_one_student(message, folded):
    assert fold(message) == folded


def test_a_seed_is_for_staff_alone(make):
    card = make.graded([make.item("a", "Title", points=3.0)], [make.seen("a", 0.0, output="said")])
    assert "seed" in Page(Html().render(card.staff)).text.lower()
    assert "seed" not in Page(Html().render(card.student())).text.lower()


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.005517, "s", "5.52 ms"),
        (0.0, "s", "0 s"),
        (849, "bytes", "849 bytes"),
        (8_000_000, "bytes", "7.63 MiB"),
        (1_000_000, "", "1,000,000"),
        (3.5531e-15, "", "3.553e-15"),
        (16, "blocks", "16 blocks"),
        (1, "blocks", "1 block"),
        (1, "ms", "1 ms"),
        (1, "GB/s", "1 GB/s"),
        (0.08811, "1", "0.08811"),
        (None, "s", "None s"),
        (float("inf"), "s", "inf s"),
        (True, "", "yes"),
        (1 / 3, "share", "33%"),
        (0.0, "share", "0%"),
        (1.004, "share", "100.4%"),
        (1.5, "share", "150%"),
        (52.23, "share", "5,223%"),
        ({"gpu": 2.5}, "GB/s", "gpu 2.5 GB/s"),
    ],
)
def test_a_quantity_has_the_unit_that_suits_it(value, unit, text):
    assert quantity_text(Quantity(value=value, unit=unit)) == text


def test_a_case_that_was_not_called_did_not_run_out_of_time(make):
    ended, rest = (
        Case(name=name, outcome=Outcome.TIMED_OUT, note=note, called=call)
        for name, note, call in (
            ("a ring", "did not end within 5 s", "ring(1)"),
            ("a small ring", NOT_CALLED, "ring(2)"),
        )
    )
    source = page(make.graded([make.item("a", "A")], [make.seen("a", 0.0, cases=(ended, rest))])).text
    assert "a ring ran out of time" in source
    assert "a small ring ran" not in source
    assert "Calledring(1)" in source
    assert "Callring(2)" in source
