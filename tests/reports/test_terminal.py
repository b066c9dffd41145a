from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from datetime import UTC
from threading import Thread

import pytest

from grader.model.observation import Observation, Outcome
from grader.reports.terminal import NARROWEST, Progress, cells, show, table, wrapped

CARD = """\
cdp_hw1  alice

  ✓ add_elementwise adds element by element              3 / 3
    │ flag: changed its inputs in place
  ◐ zeros_weights has the right shapes                   1 / 3
    │ 1 of 2 cases agrees
    │ hint: Which side is the input's?
  ◐ xavier_init stays within its bounds                1.5 / 3
    │ 1 of 2 cases agrees
  ✗ max_cpu finds the larger element                     0 / 4
    │ ended in ZeroDivisionError: division by zero
  · max_gpu is at least 40 times faster than max_cpu     0 / 5
    │ skipped: needs "max_cpu finds the larger element"
  … max_gpu launches a kernel                            … / 3
    │ no GPU on this machine: pending, not lost

    total                                             5.5 / 21
    Provisional: 3 points still open, neither earned nor lost.
"""


TEAM = """\
cdp_hw1  red

  ✓ first                    10 / 10
  ✓ second                        +2
  ◐ only what was asked for     -0.5
    │ 1 of 2 cases agrees

    total                    11 / 10
    Final.
    10 points earned, +2 bonus, -0.5 penalty: 11, within the bounds of the rubric.
    Handed in 2024-12-20 11:00 UTC; the deadline with the extension of 2 days (bob) is 2024-12-21
    08:00 UTC.
    Handed in 1 day 3 hours late (alice): 2.2 points off, 8.8 / 10 left. Rule: 10 % per started day.
"""


class Terminal:
    """A real pseudo-terminal, and all that was written to it."""

    def __init__(self, encoding="utf-8"):
        self._master, slave = os.openpty()
        self.stream = open(slave, "w", encoding=encoding)  # noqa: PTH123, SIM115 - a descriptor; closed by written()
        self._pieces = []
        self._reader = Thread(target=self._read)
        self._reader.start()

    def _read(self):
        while True:
            try:
                piece = os.read(self._master, 65536)
            except OSError:  # how Linux says that nobody has the other end open any more
                return
            self._pieces.append(piece)

    def written(self):
        self.stream.close()
        self._reader.join()
        os.close(self._master)
        return b"".join(self._pieces).decode(errors="replace")


@pytest.fixture(autouse=True)
def xterm(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def test_the_table_has_one_line_per_item_and_says_more_only_where_points_are_missing(stored):
    assert table(stored("normal").scorecard) == CARD


@pytest.mark.parametrize("width", [NARROWEST, 60, 80, 100])
@pytest.mark.parametrize("name", ["normal", "held", "many", "long", "nothing"])
def test_no_line_is_wider_than_asked_for(stored, name, width):
    lines = table(stored(name).scorecard, width=width).splitlines()
    assert max(map(len, lines)) <= width


def test_signs_are_ascii_where_the_encoding_has_no_others(stored):
    text = table(stored("normal").scorecard, unicode=False)
    assert text.isascii()
    assert "  x max_cpu finds the larger element                     0 / 4\n" in text
    assert "  ? max_gpu launches a kernel                            ? / 3\n" in text


def test_wide_letters_keep_the_points_in_their_column(make):
    items = [make.item("a", "行列の積", 3.0), make.item("b", "product", 3.0)]
    text = table(make.graded(items, [make.seen("a"), make.seen("b")]).scorecard)
    assert "✓ 行列の積  3 / 3" in text
    assert "✓ product   3 / 3" in text


def test_items_that_follow_each_other_share_one_reason(make):
    lost = {"outcome": Outcome.CRASHED, "note": "utils.py:4: expected ':'"}
    items = [make.item(name, f"Title {name}") for name in "abcd"]
    seen = [make.seen("a", **lost), make.seen("b", **lost), make.seen("c"), make.seen("d", **lost)]
    assert """\
  ✗ Title a   0 / 3
  ✗ Title b   0 / 3
    │ 2 items: utils.py:4: expected ':'
  ✓ Title c   3 / 3
  ✗ Title d   0 / 3
    │ utils.py:4: expected ':'
""" in table(make.graded(items, seen).scorecard)


def test_lateness_is_told(stored):
    assert "Handed in 1 day 3 hours late: 2 points off, 8 / 10 left." in table(stored("late").scorecard)


def test_bonus_and_penalty_stand_in_the_column_of_the_points(stored):
    assert table(stored("team").scorecard) == TEAM


def test_a_file_gets_plain_text(stored):
    stream = io.StringIO()
    show(stored("normal").scorecard, UTC, stream)
    assert stream.getvalue() == CARD


def test_a_stream_of_a_poor_encoding_gets_what_it_can_hold(stored):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    show(stored("hostile").scorecard, UTC, stream)
    stream.flush()
    assert b"\n  x <script>" in raw.getvalue()


def test_writing_to_a_pipe_loads_no_rich():
    code = """
import sys
from datetime import UTC
from grader.model.score import Points, Scorecard, Standing
from grader.reports.terminal import Progress, show
progress = Progress(sys.stderr)
progress.started(1)
progress.finished()
show(Scorecard(student="a", assignment="b", rubric="b", rubric_digest="", submission_digest="", lines=(),
               points=Points(), totals=(), standing=Standing.FINAL), UTC, sys.stdout)
print("rich" in sys.modules)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "False"
    assert ran.stderr == ""


def test_a_terminal_gets_colours_and_the_same_words(stored):
    terminal = Terminal()
    show(stored("normal").scorecard, UTC, terminal.stream)
    text = terminal.written()
    assert "\x1b[31m" in text
    assert re.sub(r"\x1b\[[\d;]*m|\r", "", text) == re.sub(r" +$", "", CARD, flags=re.MULTILINE)


def test_a_students_text_gives_the_terminal_no_orders(stored):
    terminal = Terminal()
    show(stored("hostile").scorecard, UTC, terminal.stream)
    left = re.sub(r"\x1b\[[\d;]*m", "", terminal.written())
    assert not {"\x1b", "\x07", "\x9b", "\x00"}.intersection(left)
    assert r"\x1b[31m" in left
    assert "[bold]" in left


def observation(outcome=Outcome.OBSERVED):
    return Observation(item="a", outcome=outcome)


def test_progress_is_live_on_a_terminal_and_leaves_nothing_behind():
    terminal = Terminal()
    progress = Progress(terminal.stream)
    progress.started(2)
    progress.observed(observation(), "first title")
    progress.observed(observation(Outcome.TIMED_OUT), "[red]second \x1b]0;evil\x07title")
    progress.finished()
    progress.finished()
    text = terminal.written()
    assert "2/2" in text
    assert r"[red]second \x1b]0;evil\x07title: timed out" in text
    assert "\x1b]" not in text
    assert text.endswith("\x1b[1A\x1b[2K")  # up to the line it was on, and clear that


def test_progress_says_nothing_into_a_file():
    stream = io.StringIO()
    progress = Progress(stream)
    progress.started(2)
    progress.observed(observation(), "first")
    progress.finished()
    assert stream.getvalue() == ""


def test_progress_can_finish_before_it_started():
    Progress(io.StringIO()).finished()


@pytest.mark.parametrize(
    "letter",
    ["\u4dc0", "\u3248", "\uac00\u302e", "\u1b05\u1b44", "\ua98f\ua9c0", "\U0001d158\U0001d165"],
    ids=["hexagram", "number", "tone mark", "adeg adeg", "pangkon", "stem"],
)
def test_no_letter_takes_more_room_than_is_counted(letter):
    rooms = {"\u4dc0": 2, "\u3248": 2, "\uac00\u302e": 4}
    assert cells(letter) >= rooms.get(letter, len(letter))
    lines = wrapped(letter * 300, 90)
    assert all(len(line) // len(letter) * rooms.get(letter, len(letter)) <= 90 for line in lines)
    assert "".join(lines) == letter * 300
