"""Text of a stranger's as a line and as a block: what is spelled out, what stays, and how much of it."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.text import BLOCK, LINE, LINES, MARKS, block, document, one_line, quoted

ANY = st.text(st.characters(), max_size=60) | st.text(
    st.sampled_from("\n\r\t\x1b\x9b\u2028\u202e\u200d\ufe0f\u0301\u20e3\ud800\U000e0041\u1160:#[ae1 ☀👩م"),
    max_size=60,
)
"""Any text, and text in which what is spelled out is dense."""

SPELLED = {
    "\x1b[2J": r"\x1b[2J",
    "\x9b2J": r"\x9b2J",
    "a\rb": r"a\rb",
    "a\r\nb\tc": r"a\r\nb\tc",
    "a\x0b\x0c\x1c\x1d\x1e\x85b": r"a\x0b\x0c\x1c\x1d\x1e\x85b",
    "a\u2028b\u2029c": r"a\u2028b\u2029c",
    "\x1b]8;;https://evil.example\x1b\\text": r"\x1b]8;;https://evil.example\x1b\text",
    "\ud800": r"\ud800",
    "\u202eabc\u2066\u2069\u200e": r"\u202eabc\u2066\u2069\u200e",
    "pass\u200bword\ufeff\u2060": r"pass\u200bword\ufeff\u2060",
    "a\U000e0041\U000e007f": r"a\U000e0041\U000e007f",
    "a\ufe00\U000e0100\u180b\u115f\u3164\uffa0\u2800": r"a\ufe00\U000e0100\u180b\u115f\u3164\uffa0\u2800",
    "1\ufe0f2": r"1\ufe0f2",
    "a\u200db\u200cc": r"a\u200db\u200cc",
    "\ue000\U000f0000\uffff\u0378": r"\ue000\U000f0000\uffff\u0378",
    "\u0301a": r"\u0301a",
    "a" + "\u0301" * 9: "a" + "\u0301" * MARKS + r"\u0301" * (9 - MARKS),
    "a\u2003b\u1680c": r"a\u2003b\u1680c",
    "::error file=x::forged": r"\x3a:error file=x::forged",
    " \xa0::set-output name=total::21": " \xa0" + r"\x3a:set-output name=total::21",
    "a ##[error] b ##vso[task.x] ##teamcity[y]": r"a \x23#[error] b \x23#vso[task.x] \x23#teamcity[y]",
    "[[ATTACHMENT|/etc/passwd]]": r"\x5b[ATTACHMENT|/etc/passwd]]",
}
HONEST = (
    "Ünïcödé, naïve façade, Đặng Thị Ngọc Tiệp, ἀλήθεια, Привет, 1 − 2 ≤ ½ × π ± 3 °C",  # noqa: RUF001 - letters that look like others are the point
    unicodedata.normalize("NFD", "Ünïcödé, Đặng Thị Ngọc Tiệp, ἀλήθεια"),
    "שלום עולם, שָׁלוֹם, مرحبا بالعالم, می‌خواهم, नमस्ते, क्‍ष, ภาษาไทย",
    "全角\u3000スペース，矩阵乘法，行列の積，행렬",  # noqa: RUF001 - letters that look like others are the point
    "12\u202f345\xa0€ « guillemets »",
    "✓ ✗ → ∀x∈A 😀 ❤️ ☀︎ 1️⃣ #️⃣ 👩🏽‍🚀 👨‍👩‍👧‍👦 🏳️‍🌈 ❤️‍🔥 🇩🇪 ⚠️ ‼️ ↔️ ℹ️",  # noqa: RUF001 - letters that look like others are the point
    r"C:\new\x1b, a::b, std::vector<float>, ## heading, a[[1]]",
)


@pytest.mark.parametrize(("raw", "shown"), SPELLED.items())
def test_a_line_spells_out_what_anything_would_act_on(raw, shown):
    assert one_line(raw) == shown


@pytest.mark.parametrize("text", HONEST)
def test_honest_text_stays_readable(text):
    assert one_line(text) == text
    assert block(text) == text


def test_a_block_keeps_its_lines_and_tabs_and_nothing_else_breaks_a_line():
    assert block("a\r\nb\n\n\tc\rd\x0b\x85\u2028e\n") == "a\nb\n\n\tc\\rd\\x0b\\x85\\u2028e\n"
    assert block("x\n::error::y\n  ::debug::z") == "x\n\\x3a:error::y\n  \\x3a:debug::z"
    assert block("a\n\u0301b") == "a\n\\u0301b"


def test_every_line_of_a_quoted_block_begins_with_the_prefix():
    assert quoted("total 21 / 21\nFinal.\n", "| ") == "| total 21 / 21\n| Final."
    assert quoted("", "| ") == "| "


def allowed(text, line_breaks=""):
    """Whether there is nothing in a text that is never shown as it is."""
    return all(
        letter.isprintable() or letter in "\xa0\u202f\u3000\u200c\u200d" + line_breaks for letter in text
    )


@given(ANY)
@example("a" + "\u0301" * 5 + "\u200d")
@example("م" + "\u0301" * 5 + "\u200dم")
def test_any_line_is_one_line_and_stays_as_it_is(text):
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert allowed(line)
    assert one_line(line) == line
    assert block(line) == line
    line.encode("utf-8")


@given(ANY)
def test_any_block_breaks_only_where_the_text_did_and_stays_as_it_is(text):
    shown = block(text)
    assert allowed(shown, "\n\t")
    assert shown.count("\n") == text.count("\n")
    assert block(shown) == shown


@given(ANY, st.integers(0, 90))
def test_a_line_is_never_longer_than_allowed(text, limit):
    line = one_line(text, limit)
    assert len(line) <= limit
    assert one_line(line, limit) == line


@given(ANY, st.integers(0, 90), st.integers(1, 9))
def test_a_block_is_never_larger_than_allowed(text, limit, lines):
    shown = block(text, limit, lines)
    assert len(shown) <= limit
    assert shown.count("\n") < lines
    assert block(shown, limit, lines) == shown


@given(ANY, st.integers(0, 90), st.integers(1, 9))
def test_no_line_of_a_shortened_block_begins_where_none_began(text, limit, lines):
    lines_before = block(text).split("\n")
    _, *more = block(text, limit, lines).split("\n")
    assert all(
        any(whole.startswith(line.partition(" … ")[0].removesuffix("…")) for whole in lines_before)
        for line in more
    )


@given(ANY)
def test_what_can_be_read_is_not_lost(text):
    letters = [letter for letter in text if letter.isascii() and letter.isalnum()]
    shown = iter(one_line(text))
    assert all(letter in shown for letter in letters)


def test_of_a_long_text_head_and_tail_stay_and_the_rest_is_counted():
    shown = one_line("a" * 500 + "b" * 500, 100)
    assert shown == "a" * 32 + " … 936 characters left out … " + "b" * 32
    assert one_line("abc", 2) == "a…"
    many = block("".join(f"{number}\n" for number in range(1000)), lines=5)
    assert many == "0\n1\n2 … 3877 characters left out … 998\n999\n"


@pytest.mark.parametrize("letter", ["a", "\x00", "\n", "中", "\u0301", "\U000e0041", "\ud800"])
def test_a_million_characters_are_bounded(letter):
    text = letter * 1_000_000
    assert len(one_line(text)) <= LINE
    shown = block(text)
    assert len(shown) <= BLOCK
    assert shown.count("\n") < LINES


def test_a_document_is_safe_at_every_depth_and_loses_no_entry():
    hostile = {"a\x1b": ["b\u202e", {"c\n": ("d\r",)}], r"a\x1b": 1, r"a\x1b (2)": 2, "n": None, "f": 0.5}
    assert document(hostile) == {
        r"a\x1b": [r"b\u202e", {r"c\n": [r"d\r"]}],
        r"a\x1b (2)": 1,
        r"a\x1b (2) (2)": 2,
        "n": None,
        "f": 0.5,
    }


def test_a_document_may_be_nested_however_deep():
    deep: object = "x"
    for _ in range(900):
        deep = [deep]
    assert "…" in str(document(deep))


def test_a_thousand_names_that_become_one_are_all_there():
    same = {
        "\x1b" * (number % 2) + r"\x1b" * (1000 - number % 2) + "x" * 5000 + str(number): number
        for number in range(1000)
    }
    assert sorted(document(same).values()) == list(range(1000))
