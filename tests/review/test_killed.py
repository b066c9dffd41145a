"""A server that is killed in the middle loses nothing that it has answered, and writes nothing by halves."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
import requests

from tests.review.conftest import Visitor

LINK = re.compile(r"(http://\S+)/enter\?token=(\S+)")


@contextmanager
def server(
    demo, *options: str, python: tuple[str, ...] = ("-m", "grader")
) -> Iterator[tuple[subprocess.Popen[str], Visitor]]:
    command = [sys.executable, *python, "--course", str(demo.rubric.parent.parent), "review"]
    command += ["--gradebook", str(demo.path), "--port", "0", "--person", "Ada:teacher", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout
        match = LINK.search(process.stdout.readline())
        assert match
        yield process, Visitor(match[1], match[2])
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def test_killed_between_two_answers_of_many_it_has_all_that_it_answered(demo):
    demo.site.close()
    numbers = [entry.number for entry in demo.room.index.refresh().queue(demo.desk.items["writing"])]
    answered: list[int] = []
    with server(demo) as (process, visitor):
        word, enough = visitor.word(), threading.Event()

        def grade() -> None:
            for number in numbers:
                try:
                    response = visitor.client.post(
                        f"{visitor.address}/a/demo/q/writing/{number}",
                        data={"csrf": word, "after": "0", "part-0": "1"},
                        allow_redirects=False,
                    )
                except requests.ConnectionError:
                    return
                assert response.status_code == 303
                answered.append(number)
                if len(answered) == 7:
                    enough.set()

        thread = threading.Thread(target=grade)
        thread.start()
        assert enough.wait(60)
        os.kill(process.pid, signal.SIGKILL)
        thread.join()
    with closing(sqlite3.connect(demo.path)) as book:
        assert book.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        judged = {row[0] for row in book.execute("SELECT submission FROM points")}
        scores = book.execute("SELECT count(*) FROM scores WHERE how = 'review'").fetchone()[0]
        lines = book.execute("SELECT count(*) FROM audit WHERE action = 'points'").fetchone()[0]
    assert set(answered) <= judged
    assert len(judged) <= len(answered) + 1
    assert len(judged) == scores == lines
    with server(demo, "--results", str(demo.results)) as (_, visitor):
        assert f"{len(judged)} graded by people" in visitor.get("/a/demo")


KILLS_ITSELF = """
import os, signal
from grader.review.judging import Judging
from grader.cli.main import main

give = Judging.give
def and_die(*args, **keys):
    give(*args, **keys)
    os.kill(os.getpid(), signal.SIGKILL)
Judging.give = and_die
main()
"""


def test_killed_between_the_write_and_the_reply_it_has_the_points_once(demo):
    demo.site.close()
    number = demo.room.index.refresh().queue(demo.desk.items["writing"])[0].number
    with server(demo, python=("-c", KILLS_ITSELF)) as (process, visitor):
        with pytest.raises(requests.ConnectionError):
            visitor.give("writing", number, 1, comment="clear")
        assert process.wait(60) == -signal.SIGKILL
    with server(demo) as (_, visitor):  # the page that was left open sends the same form again
        assert visitor.give("writing", number, 1, comment="clear").status_code == 200
    with closing(sqlite3.connect(demo.path)) as book:
        assert book.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert book.execute("SELECT points, comment FROM points").fetchall() == [(1.0, "clear")]
        assert book.execute("SELECT count(*) FROM audit").fetchone() == (1,)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_end_it_ends(demo, number):
    demo.site.close()
    with server(demo) as (process, _):
        process.send_signal(number)
        assert process.wait(30) in {0, 128 + number, -number}
