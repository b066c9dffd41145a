"""What platforms were told is kept before and after, and says later which grades are ours."""

from __future__ import annotations

from decimal import Decimal

import pytest

from grader.errors import NotObservedError
from grader.gradebook.history import history
from grader.gradebook.posts import SENDING, Post, note, posted

KEY = "canvas c.edu 1 2"


@pytest.fixture
def say(book, keep, tiny):
    """Keeps rows of one student, and says what may stand there."""
    keep(tiny.evidence())
    (entry,) = book.grades()

    def post(*rows, platform=KEY):
        keys = {"score": entry.score, "student": "ann", "platform": platform, "marker": "[grader 1.x]"}
        note(book, [Post(points=Decimal(points), outcome=outcome, **keys) for points, outcome in rows])
        return posted(book, KEY).get("ann", ())

    return post


def test_what_was_seen_there_is_ours_and_what_was_sent_since_may_be(say):
    assert say() == ()
    assert say(("7.5", SENDING)) == (Decimal("7.5"),)
    assert say(("7.5", "there")) == (Decimal("7.5"),)
    assert say(("8", SENDING), ("8", "unknown")) == (Decimal("7.5"), Decimal(8))
    assert say(("9", SENDING), ("9", "there")) == (Decimal(9),)


def test_what_was_told_another_platform_is_not_ours_here(say):
    assert say(("7.5", "there"), platform="canvas c.edu 1 3") == ()


def test_what_was_refused_is_still_in_doubt_by_its_sending(say):
    assert say(("7", "there"), ("8", SENDING), ("8", "refused")) == (Decimal(7), Decimal(8))


def test_the_history_tells_of_it(book, say):
    say(("7.5", SENDING), ("7.5", "there"))
    posts = [event.details for event in history(book, "ann") if event.what == "post"]
    assert [(post["platform"], post["points"], post["outcome"]) for post in posts] == [
        (KEY, 7.5, "sending"),
        (KEY, 7.5, "there"),
    ]


def test_two_do_not_post_at_once(book):
    with (
        book.database.alone(),
        pytest.raises(NotObservedError, match="another grader is at work here"),
        book.database.alone(),
    ):
        pass
    with book.database.alone():
        pass
