"""What keeps grades off Moodle is told in a line, without the token, and before anything is sent."""

from __future__ import annotations

import pytest

from grader.errors import NotObservedError, UsageError
from grader.lms.moodle_service.calls import WebService
from grader.lms.moodle_service.service import FUNCTIONS

SAVE = "mod_assign_save_grade"


@pytest.fixture
def refused(moodle, poster, server):
    """The one line of an error, when all is planned and posted."""

    def line(kind, **made):
        with pytest.raises(kind) as caught:
            poster.post(poster.service(**made))
        (message,) = caught.value.problems
        assert "\n" not in message
        assert server.TOKEN not in message
        assert moodle.count(SAVE) == 0
        return message

    return line


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"grade": -3}, "HW1: is graded on a scale there, not in points"),
        ({"grade": 0}, "HW1: has no grade there"),
        ({"markingworkflow": 1}, "HW1: has a marking workflow there"),
    ],
)
def test_an_assignment_that_takes_no_points_is_refused(moodle, refused, keys, message):
    moodle.assignment |= keys
    assert refused(UsageError).startswith(message)


def test_advanced_grading_is_refused(moodle, refused):
    moodle.method = "rubric"
    assert "is graded by a form there (rubric)" in refused(UsageError)


def test_a_token_that_is_not_accepted(refused):
    assert "does not accept the token" in refused(UsageError, token="f" * 32)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_that_the_service_lacks_is_named(moodle, refused, function):
    moodle.allowed.discard(function)
    assert function in refused(NotObservedError)


def test_an_account_that_may_not_grade(moodle, refused):
    moodle.may_grade = False
    assert "may not grade there" in refused(NotObservedError)


def test_the_number_of_the_address_is_asked_for_and_not_the_inner_one(refused, server):
    message = refused(UsageError, module=server.INSTANCE)
    assert "/mod/assign/view.php?id=17" in message
    assert "is it 4242, HW1?" in message
    assert "enrol the account" in refused(UsageError, module=1)


@pytest.mark.parametrize(
    ("status", "body", "headers", "message"),
    [
        (403, "", {}, "web services or the REST protocol are off there"),
        (404, "<html>", {}, "has no web service"),
        (301, "", {"Location": "https://moodle.example.edu/"}, "points to https://moodle.example.edu/"),
    ],
)
def test_what_is_no_web_service_is_told_at_once(
    moodle, poster, refused, server, status, body, headers, message
):
    moodle.perform = lambda request, between: (_ for _ in ()).throw(server.Trouble(status, body, **headers))
    assert message in refused(NotObservedError)
    assert len(moodle.requests) == 1
    assert poster.slept == []


def test_maintenance_is_waited_for_and_then_told(moodle, poster, refused, server):
    down = server.exception("sitemaintenance", "The site is undergoing maintenance")
    moodle.perform = lambda request, between: (_ for _ in ()).throw(down)
    assert "undergoing maintenance" in refused(NotObservedError)
    assert poster.slept == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]


def test_where_nothing_answers_patience_is_short(moodle, poster, refused):
    moodle.chooser = lambda request: "502"
    assert "it answered 502" in refused(NotObservedError)
    assert len(moodle.requests) == 3


def test_a_moodle_that_repeats_the_token_does_not_get_it_shown(moodle, refused, server):
    refusal = server.exception("nopermissions", f"no: {server.TOKEN}\n\x1b[2J <b>{server.TOKEN}</b>")
    moodle.perform = lambda request, between: (_ for _ in ()).throw(refusal)
    assert refused(NotObservedError).endswith("no: … \\x1b[2J <b>…</b>")


@pytest.mark.parametrize(
    ("url", "token", "message"),
    [
        ("http://moodle.example.edu", "a1", "must begin with https://"),
        ("moodle.example.edu", "a1", "is no address"),
        ("https://moodle.example.edu", "", "the token is empty or has characters"),
        ("https://moodle.example.edu", "a b\n", "the token is empty or has characters"),
    ],
)
def test_an_address_or_a_token_that_cannot_be(url, token, message):
    with pytest.raises(UsageError, match=message):
        WebService(url, token)


def test_no_address_and_no_object_shows_the_token(moodle, poster, server):
    service = poster.service()
    poster.post(service)
    assert {path for _, path in moodle.requests} == {"/webservice/rest/server.php?moodlewsrestformat=json"}
    assert server.TOKEN not in repr(service) + repr(service._calls)
