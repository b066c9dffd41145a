"""Whoever is killed while writing leaves a book that opens and holds whole rows."""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import event

from grader.gradebook.book import Gradebook
from grader.gradebook.rescore import rescore

LOOSE = """
    SELECT count(*) FROM scores
    LEFT JOIN totals ON totals.score = scores.id
    LEFT JOIN attempts ON attempts.id = scores.attempt
    LEFT JOIN evidence ON evidence.attempt = attempts.id
    LEFT JOIN submissions ON submissions.id = attempts.submission
    WHERE totals.score IS NULL OR evidence.attempt IS NULL OR submissions.id IS NULL
"""


def killed_at(number, path, act) -> bool:
    """Act in a process that SIGKILL ends before its nth statement; whether it got that far."""
    pid = os.fork()
    if pid == 0:
        try:
            with Gradebook(path, create=True) as book:
                left = [number]

                @event.listens_for(book.database.engine, "before_cursor_execute")
                def count(*_):
                    left[0] -= 1
                    if not left[0]:
                        os.kill(os.getpid(), signal.SIGKILL)

                act(book)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


def whole(path) -> None:
    with closing(sqlite3.connect(path)) as book:
        assert book.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert book.execute("PRAGMA foreign_key_check").fetchall() == []
        assert book.execute(LOOSE).fetchall() == [(0,)]


def test_killed_before_any_statement_a_grade_is_whole_or_absent(path, tiny):
    of = tiny.evidence("ann", tiny.judged(tiny.observe("style", "sha256:w1"), 3.0))
    number, killed = 0, True
    while killed:
        number += 1
        killed = killed_at(number, path, lambda book: book.record(of, tiny.card(of), how="run"))
        whole(path)
        with Gradebook(path) as book:
            assert [entry.card.points.raw for entry in book.grades()] == ([] if killed else [3.0])
    assert number > 8, "statements of one record"


def test_killed_after_its_commit_a_grade_is_there(path, tiny):
    of = tiny.evidence("ann")

    def record(book):
        book.record(of, tiny.card(of), how="run")
        os.kill(os.getpid(), signal.SIGKILL)

    assert killed_at(0, path, record)
    whole(path)
    with Gradebook(path) as book:
        assert book.students() == ("ann",)


@pytest.mark.parametrize("at", ["before anything is written", "between two lots", "before the commit"])
def test_killed_while_it_is_applied_a_rubric_is_applied_to_nobody(path, tiny, at, monkeypatch):
    monkeypatch.setattr("grader.gradebook.rescore._CHUNK", 4)
    dearer = tiny.rubric(tiny.item("double", 5.0), digest="sha256:r2")
    with Gradebook(path, create=True) as book:
        for number in range(10):
            of = tiny.evidence(f"s{number}")
            book.record(of, tiny.card(of), how="run")
    places = {"before anything is written": 1, "between two lots": 7, "before the commit": 10}

    def apply(book):
        for number, _ in enumerate(rescore(book, tiny.judge(dearer), apply=True), start=1):
            if number == places[at]:
                os.kill(os.getpid(), signal.SIGKILL)

    assert killed_at(0, path, apply)
    whole(path)
    with Gradebook(path) as book:
        assert {entry.card.points.raw for entry in book.grades()} == {4.0}
        assert len(list(rescore(book, tiny.judge(dearer), apply=True))) == 10
        assert {entry.card.points.raw for entry in book.grades()} == {5.0}


def test_killed_while_it_is_made_the_file_can_be_used(path, tiny, monkeypatch):
    pid = os.fork()
    if pid == 0:
        try:
            monkeypatch.setattr(
                "grader.gradebook.migrations.now", lambda _: os.kill(os.getpid(), signal.SIGKILL)
            )
            Gradebook(path, create=True)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status)
    of = tiny.evidence("ann")
    with Gradebook(path) as book:
        assert book.students() == ()
        assert book.record(of, tiny.card(of), how="run")
