"""The keys of platforms in course.yaml, and to which addresses a token may go."""

from __future__ import annotations

import pytest

from grader.address import address_problem, origin
from grader.config.course import load_course
from grader.errors import CourseError
from grader.plugins import Plugins

CANVAS = Plugins().platforms["canvas"].Options


def load(folder):
    return load_course(folder, lambda _: {"canvas": CANVAS})


def test_a_course_says_where_it_is_on_canvas(tmp_path):
    keys = "url: 'https://c.edu', course: 12, assignments: {hw1: 34}, rubrics: {hw1: {a: _1}}"
    (tmp_path / "course.yaml").write_text(f"title: x\ncanvas: {{{keys}}}\n")
    assert load(tmp_path).platforms["canvas"] == CANVAS(
        url="https://c.edu", course=12, assignments={"hw1": 34}, rubrics={"hw1": {"a": "_1"}}
    )
    (tmp_path / "course.yaml").write_text("title: x\n")
    assert load(tmp_path).platforms == {}


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ("url: 'http://c.edu', course: 1, assignments: {}", "2:1: canvas: url: must begin with https://"),
        ("url: 'https://c.edu', course: 0, assignments: {}", "canvas.course: must be a whole number > 0"),
        (
            "url: 'https://c.edu', course: 1, assignments: {a: x}",
            "canvas.assignments.a: must be a whole number",
        ),
        ("url: 'https://c.edu', course: 1, assignments: {a: 0}", "assignments.a: must be a whole number > 0"),
        ("url: 'https://c.edu', course: 1", "canvas.assignments: missing"),
        ("url: 'https://c.edu', course: 1, assignments: {}, token: x", "canvas.token: unknown key"),
    ],
)
def test_what_is_wrong_with_it_is_said_where_it_stands(tmp_path, keys, line):
    (tmp_path / "course.yaml").write_text(f"title: x\ncanvas: {{{keys}}}\n")
    with pytest.raises(CourseError) as caught:
        load(tmp_path)
    (problem,) = caught.value.problems
    assert line in problem


def test_a_key_of_no_platform_is_refused_beside_those_that_are_wrong(tmp_path):
    (tmp_path / "course.yaml").write_text("title: x\ncanvsa: {}\nroster: 1\n")
    with pytest.raises(CourseError) as caught:
        load(tmp_path)
    assert [line.partition("course.yaml:")[2] for line in caught.value.problems] == [
        "2:1: canvsa: unknown key; did you mean canvas?",
        "3:1: roster: must be text, got 1; put it in quotes",
    ]


def test_platforms_are_loaded_only_for_a_course_that_names_one(tmp_path):
    (tmp_path / "course.yaml").write_text("title: x\n")
    load_course(tmp_path, lambda _: pytest.fail("loaded"))


@pytest.mark.parametrize(
    "url",
    [
        "http://canvas.edu",
        "http://127.0.0.1.evil.edu",
        "http://localhost.evil.edu",
        "ftp://canvas.edu",
        "canvas.edu",
        "https://",
        "https://me:secret@canvas.edu",
        "https://canvas.edu:x",
        "https://canvas.edu/a b",
        "",
    ],
)
def test_no_token_goes_where_others_could_read_it(url):
    assert address_problem(url)


@pytest.mark.parametrize(
    "url", ["https://canvas.edu", "http://127.0.0.1:8080", "http://localhost", "http://[::1]:80/x"]
)
def test_encrypted_addresses_and_this_machine_are_fine(url):
    assert address_problem(url) == ""


def test_an_origin_is_scheme_host_and_port():
    assert origin("https://A.edu/x") == origin("https://a.edu:443/y?z")
    assert (
        len({origin(url) for url in ("https://a.edu", "http://a.edu", "https://b.edu", "https://a.edu:8")})
        == 4
    )
