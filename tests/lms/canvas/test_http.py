"""Requests: patience with throttling, honesty about lost answers, and a token that nobody sees."""

from __future__ import annotations

import socket

import pytest

from grader.errors import NotObservedError, UsageError
from grader.lms.http import Http, LostAnswer, RequestRefused, Response


@pytest.fixture
def http(canvas, loopback_canvas):
    """Requests to it, with what they slept in `http.slept`."""
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        canvas.tick(seconds)

    made = Http(canvas.url, loopback_canvas.TOKEN, sleep=sleep)
    made.slept = slept
    return made


def response(status=200, body=b"{}", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status=status, headers=named, body=body, address="https://c.edu/api/v1/x")


def test_reading_is_tried_again_with_longer_and_longer_waits(canvas, http):
    faults = iter(["500", "502", "drop_before", "half", "garbage", "429", "403_rate"])
    http.get("api/v1/users/self")
    canvas.chooser = lambda _: next(faults, None)
    assert http.get("api/v1/users/self").json()["id"] == 900
    assert http.slept == [1, 2, 4, 8, 16, 32, 60]


def test_patience_ends_with_a_line(canvas, http):
    http.get("api/v1/users/self")
    canvas.chooser = lambda _: "500"
    with pytest.raises(NotObservedError, match=r"cannot be read \(it answered 500\)"):
        http.get("api/v1/users/self")
    canvas.chooser = lambda _: "429"
    with pytest.raises(NotObservedError, match="over its rate limit"):
        http.get("api/v1/users/self")


def test_what_never_answered_is_given_up_soon(canvas, http):
    canvas.chooser = lambda _: "drop_before"
    with pytest.raises(NotObservedError, match="cannot be read"):
        http.get("api/v1/users/self")
    assert len(http.slept) == 2


@pytest.mark.parametrize("fault", ["drop_before", "drop_after", "500", "502", "half"])
def test_a_change_is_never_sent_again_blindly(canvas, http, loopback_canvas, fault):
    path = f"api/v1/{loopback_canvas.OF}/submissions/101"
    canvas.chooser = lambda _: fault
    with pytest.raises(LostAnswer):
        http.send("PUT", path, [("submission[posted_grade]", "3")])
    assert len(canvas.requests) == 1


@pytest.mark.parametrize("fault", ["429", "403_rate"])
def test_a_change_that_was_not_looked_at_is_sent_again(canvas, http, loopback_canvas, fault):
    faults = iter([fault, fault])
    canvas.chooser = lambda _: next(faults, None)
    http.send("PUT", f"api/v1/{loopback_canvas.OF}/submissions/101", [("submission[posted_grade]", "3")])
    assert canvas.graded == [(101, 3.0, 900)]
    assert http.slept == [1, 2]


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        ("17", 17),
        ("100000", 300),
        ("Sat, 01 Nov 2025 10:00:30 GMT", 30),
        ("Sat, 01 Nov 2025 09:00:00 GMT", 0),
        ("soon", 0),
        ("", 0),
    ],
)
def test_how_long_canvas_asks_to_wait_is_heard(retry_after, seconds):
    answer = response(429, retry_after=retry_after, date="Sat, 01 Nov 2025 10:00:00 GMT")
    assert answer.retry_after_s == seconds


def test_as_long_as_canvas_asks_is_waited(canvas, http, loopback_canvas):
    perform, waits = canvas.perform, iter(["17"])

    def throttled(request, *, between):
        for seconds in waits:
            raise loopback_canvas.Trouble(429, "Rate Limit Exceeded", **{"Retry-After": seconds})
        return perform(request, between=between)

    canvas.perform = throttled
    http.get("api/v1/users/self")
    assert http.slept == [17]


def test_only_a_403_that_speaks_of_the_rate_is_throttling(canvas, http, loopback_canvas):
    canvas.assignment["moderated_grading"] = True
    with pytest.raises(RequestRefused) as caught:
        http.send("PUT", f"api/v1/{loopback_canvas.OF}/submissions/101", [("submission[posted_grade]", "3")])
    assert caught.value.not_allowed
    assert caught.value.message == "user not authorized to perform that action"
    assert http.slept == []


def test_a_server_that_never_answers_may_still_be_at_work(loopback_canvas):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(LostAnswer) as caught:
            Http(url, loopback_canvas.TOKEN, timeout_s=0.05).send("PUT", "x", [])
    assert caught.value.unfinished


def test_a_wrong_token_is_one_line_without_the_token(canvas):
    with pytest.raises(UsageError) as caught:
        Http(canvas.url, "7~wrong").get("api/v1/users/self")
    assert caught.value.problems == (
        f"{canvas.url}: does not accept the token; make a new one in your settings there",
    )


def test_a_token_that_an_answer_repeats_is_not_repeated(canvas, http, loopback_canvas):
    def perform(request, *, between):
        message = f"no:{request.headers['Authorization']}\n\x1b[31m" + "x" * 1000
        raise loopback_canvas.Trouble(400, {"message": message})

    canvas.perform = perform
    with pytest.raises(RequestRefused) as caught:
        http.get("api/v1/users/self")
    assert caught.value.message.startswith("no:Bearer … \\x1b[31mxxx")
    assert len(caught.value.message) < 250


@pytest.mark.parametrize("token", ["", "two words", "käse", "line\nbreak"])
def test_what_cannot_be_a_token_is_said_and_not_shown(token):
    with pytest.raises(UsageError) as caught:
        Http("https://canvas.edu", token)
    assert token == "" or token not in str(caught.value)


def test_the_token_goes_to_no_other_host(canvas, http):
    with pytest.raises(NotObservedError, match=r"links to evil\.edu; the token stays here"):
        http.get("https://evil.edu/api/v1/users/self")
    with pytest.raises(UsageError, match="must begin with https://"):
        Http("http://canvas.edu", "t")


def test_a_redirect_is_not_followed(canvas, http, loopback_canvas):
    def perform(request, *, between):
        raise loopback_canvas.Trouble(302, {}, Location="http://localhost:1/elsewhere")

    canvas.perform = perform
    with pytest.raises(RequestRefused):
        http.get("api/v1/users/self")
    assert len(canvas.requests) == 1


def test_lists_are_read_to_their_end_by_their_links(loopback_canvas):
    with loopback_canvas.LoopbackCanvas(students=23, page_most=5) as canvas:
        http = Http(canvas.url, loopback_canvas.TOKEN)
        ids = [user["id"] for user in http.pages(f"api/v1/courses/{loopback_canvas.COURSE}/users")]
        assert ids == list(range(101, 124))
        assert len(canvas.requests) == 5


@pytest.mark.parametrize(
    ("link", "following"),
    [
        ('<https://c.edu/a?page=2>; rel="current",<https://c.edu/b>; rel="next"', "https://c.edu/b"),
        ('</api/v1/z>; rel="next"', "https://c.edu/api/v1/z"),
        ('<https://c.edu/b>; rel="last"', ""),
        ("", ""),
    ],
)
def test_the_next_page_is_the_one_that_the_header_calls_so(link, following):
    assert response(link=link).next == following
