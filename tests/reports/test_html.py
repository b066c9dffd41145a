from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from grader.model.observation import Outcome
from grader.model.rubric import LatePolicy
from grader.reports.html import LONGEST, MOST_CASES, Html


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


def page(card):
    return Page(Html().render(*card.all))


def sections(card):
    """The sections below the table, by the title of their item: whether open, and the source."""
    source = Html().render(*card.all)
    found = re.findall(r'<section class="item.*?</section>', source, re.DOTALL)
    titles = [re.search(r"<h3>(.*?)</h3>", section, re.DOTALL)[1] for section in found]
    return dict(zip(titles, found, strict=True))


def test_says_whose_work_and_how_many_points_and_how_sure(stored):
    text = page(stored("normal")).text
    assert "alice" in text
    assert "5.5 / 21 points" in text
    assert "Provisional: 3 points still open, neither earned nor lost." in text


def test_says_why_points_are_missing_and_what_to_try(stored):
    source = Html().render(*stored("normal").all)
    assert "<p>ended in ZeroDivisionError: division by zero</p>" in source
    assert '<p class="hint">Which side is the input&#x27;s?</p>' in source


def test_a_held_card_says_that_a_person_looks_first(stored):
    assert "Held: a person has to look first" in page(stored("held")).text


def test_lateness_is_told_beside_the_raw_total(stored):
    text = page(stored("late")).text
    assert "10 / 10 points" in text
    assert "Handed in late: 8 / 10 remain." in text


def test_marks_have_words_for_those_who_do_not_see_signs(stored):
    source = Html().render(*stored("normal").all)
    for word in ("earned", "partly earned", "not earned", "skipped", "open"):
        assert f'<span class="sr">{word}</span>' in source


def test_what_lost_points_lies_open_and_what_passed_is_folded(stored):
    found = sections(stored("normal"))
    assert "<details open>" in found["zeros_weights has the right shapes"]
    assert "<details>" in found["add_elementwise adds element by element"]
    assert "max_gpu launches a kernel" not in found  # nothing was seen of it


def test_a_wrong_case_shows_the_call_what_came_back_and_what_was_expected(stored):
    section = sections(stored("normal"))["zeros_weights has the right shapes"]
    assert section.count('<article class="case wrong">') == 2
    assert "<pre>zeros_weights([3, 2])</pre>" in section
    assert "<pre>[array((2, 3))]</pre>" in section
    assert "<pre>[array((3, 2))]</pre>" in section
    assert "Changed in place: sizes" in section
    assert "1 case went well" in section
    assert "<pre>debug: (2, 3)\ndebug: (3, 2)\n</pre>" in section


def test_each_property_says_whether_it_holds(stored):
    section = sections(stored("normal"))["xavier_init stays within its bounds"]
    assert "✓ agrees with bounds" in section
    assert "✗ disagrees with variance" in section
    assert "0.01 s (as the program says)" in section


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
    assert "<pre>Traceback (most recent call last)" in section


def test_a_page_of_many_cases_stays_readable(make):
    wrong = tuple(make.case(f"c{i}", note="differs") for i in range(MOST_CASES + 7))
    card = make.graded([make.item("a", "Title")], [make.seen("a", 0.0, cases=wrong)])
    section = sections(card)["Title"]
    assert section.count("<article") == MOST_CASES
    assert "And 7 more." in section


def test_long_texts_keep_their_head_and_tail(stored):
    longest = max(map(len, page(stored("long")).texts))
    assert LONGEST <= longest < LONGEST + 100


def test_where_the_mark_comes_from_stands_at_the_end(stored):
    card = stored("normal")
    text = page(card).text.partition("Where this mark comes from")[2]
    for fact in (
        card.evidence.submission.digest,
        card.rubric.digest,
        "2024-12-20T10:11:12+00:00",
        "bubblewrap",
        "CPython 3.11.9",
        "numpy 2.1.0, numba 0.60.0",
    ):
        assert fact in text


def test_the_secret_of_the_inputs_is_told_so_that_they_can_be_drawn_again(stored):
    assert "00ff" * 8 in sections(stored("normal"))["zeros_weights has the right shapes"]


def test_nothing_from_outside_becomes_markup(stored):
    tags = page(stored("hostile")).tags
    assert not {"script", "bold", "img", "iframe", "link", "object"} & {tag for tag, _ in tags}
    names = {name for _, attrs in tags for name in attrs}
    assert names <= {
        "aria-hidden", "charset", "class", "content", "href", "http-equiv", "id", "lang", "name", "open",
        "scope", "style",
    }  # fmt: skip


def test_the_page_needs_nothing_but_itself(each):
    source = Html().render(*each.all)
    links = page(each)
    assert "src=" not in source
    assert "url(" not in source
    assert "@import" not in source
    assert set(links.attributes("href")) <= {f"#{name}" for name in links.attributes("id")}


def hidden_card(make, visible, **late):
    items = [
        make.item("open.one", "an open item", 4.0, needs=("SECRET.gate",)),
        make.item("open.two", "another open item", 6.0),
        make.item("SECRET.gate", "SECRET title", 5.0, visible=visible, hint="SECRET hint"),
        make.item("SECRET.pending", "SECRET title", 3.0, visible=visible),
    ]
    observations = [
        make.seen("open.one", outcome=Outcome.SKIPPED),
        make.seen("open.two"),
        make.seen(
            "SECRET.gate",
            outcome=Outcome.CRASHED,
            note="SECRET",
            output="SECRET",
            cases=(make.case("SECRET"),),
        ),
    ]
    return make.graded(items, observations, **late)


@pytest.mark.parametrize("visible", ["never", "after_due", "after_published"])
def test_nothing_of_a_hidden_item_is_on_the_page(make, visible):
    shown = page(hidden_card(make, visible, late=LatePolicy(per_day=0.5), late_s=60.0)).text
    assert "SECRET" not in shown
    assert "6 / 10 points" in shown
    assert "Provisional" not in shown
    assert "18" not in shown.partition("Where this mark comes from")[0]
    assert "Handed in late." in shown
    assert "waits for an item that is not shown here" in shown


def test_items_for_later_are_counted_and_those_for_nobody_are_not(make):
    assert "2 items are shown later." in page(hidden_card(make, "after_due")).text
    assert "shown later" not in page(hidden_card(make, "never")).text
