"""The class of `grader review --demo`, or one of the course's assignments, behind the pages or a server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.config.course import find_course
from grader.gradebook.book import Gradebook
from grader.plugins import Plugins
from grader.review.demo import ASSIGNMENT, fill, write_course
from grader.review.desk import Desk
from grader.review.people import Door, Reviewer
from grader.review.server import application
from grader.review.site import ReviewSite
from tests.cli.conftest import forget_course_code

HOST, PORT = "127.0.0.1", 8700
ADDRESS = f"http://{HOST}:{PORT}"
CSRF = re.compile(r'name="csrf" value="([^"]+)"')


class Visitor:
    """A browser without scripts: it keeps its cookie, and sends forms with the word of its session."""

    def __init__(self, app, token: str) -> None:
        from starlette.testclient import TestClient

        self.client = TestClient(app, base_url=ADDRESS)
        self.client.get(f"/enter?token={token}")

    def get(self, path: str) -> str:
        response = self.client.get(path)
        assert response.status_code == 200, (response.status_code, response.text[:500])
        return response.text

    def word(self) -> str:
        found = CSRF.search(self.client.get("/a/demo").text)
        assert found
        return found[1]

    def post(self, path: str, **fields: object):
        form = {"csrf": self.word(), **{name.replace("_", "-"): str(value) for name, value in fields.items()}}
        return self.client.post(path, data=form, headers={"origin": ADDRESS})

    def give(self, item: str, number: int, *parts: object, after: int = 0, **more: object):
        fields = {f"part_{place}": value for place, value in enumerate(parts)}
        return self.post(f"/a/demo/q/{item}/{number}", after=after, **fields, **more)


def texts(page: str) -> str:
    """What a reader sees of a page, roughly."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[SimpleNamespace]:
    """The demo's class with a teacher, Ada, and two assistants."""
    course_folder, results = tmp_path / "course", tmp_path / "results"
    write_course(course_folder)
    course = find_course(course_folder, {}, tmp_path)
    forget_course_code()
    with Gradebook(tmp_path / "gradebook.db", create=True) as book:
        desk = Desk(ASSIGNMENT, course, Plugins(course_folder))
        fill(book, desk, results)
        people = [
            Reviewer(name="Ada", role="teacher"),
            Reviewer(name="Bob", role="assistant"),
            Reviewer(name="Cem", role="assistant"),
        ]
        door = Door(people)
        site = ReviewSite(book, {ASSIGNMENT: desk}, results=results)
        app = application(site, door, host=HOST, port=PORT)
        tokens = {person.name: token for person, token in door.tokens.items()}

        def visitor(name: str = "Ada") -> Visitor:
            return Visitor(app, tokens[name])

        yield SimpleNamespace(
            app=app,
            book=book,
            desk=desk,
            door=door,
            path=tmp_path / "gradebook.db",
            results=results,
            rubric=course_folder / "rubrics" / "demo.yaml",
            site=site,
            room=site.places[ASSIGNMENT],
            texts=texts,
            tokens=tokens,
            visitor=visitor,
            address=ADDRESS,
        )
        site.close()
    forget_course_code()


@pytest.fixture
def total(demo) -> Callable[[int], float]:
    """Points of a submission in the gradebook now."""

    def of(number: int) -> float:
        entry = demo.room.index.refresh().entry(number)
        assert entry is not None
        (grade,) = demo.book.grades(assignment="demo", student=entry.submission.student)
        return grade.card.points.raw

    return of
