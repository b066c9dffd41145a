"""The class of `grader review --demo`, or one of the course's assignments, behind the pages or a server."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests

from grader.config.course import find_course
from grader.coursecode import PACKAGE
from grader.gradebook.book import Gradebook
from grader.plugins import Plugins
from grader.review.demo import ASSIGNMENT, fill, record, write_course
from grader.review.desk import Desk
from grader.review.people import Door, Reviewer
from grader.review.server import application, listen, web_server
from grader.review.site import ReviewSite

HOST = "127.0.0.1"
CSRF = re.compile(r'name="csrf" value="([^"]+)"')


def forget_course_code() -> None:
    """Take the modules of any course out of those that were imported."""
    for name in [name for name in sys.modules if f"{name}.".startswith(f"{PACKAGE}.")]:
        del sys.modules[name]


class Visitor:
    """A browser without scripts: it keeps its cookie, and sends forms with the word of its session."""

    def __init__(self, address: str, token: str) -> None:
        self.address = address
        self.client = requests.Session()
        self.client.get(f"{address}/enter?token={token}")

    def page(self, path: str) -> requests.Response:
        return self.client.get(self.address + path)

    def get(self, path: str) -> str:
        response = self.page(path)
        assert response.status_code == 200, (response.status_code, response.text[:500])
        return response.text

    def word(self) -> str:
        match = CSRF.search(self.get("/a/demo"))
        assert match
        return match[1]

    def post(self, path: str, **fields: object) -> requests.Response:
        form = {name.replace("_", "-"): str(value) for name, value in fields.items()}
        headers = {"origin": self.address, "sec-fetch-site": "same-origin"}
        return self.client.post(self.address + path, data={"csrf": self.word(), **form}, headers=headers)

    def give(
        self, item: str, number: int, *parts: object, after: int = 0, **more: object
    ) -> requests.Response:
        fields = {f"part_{place}": value for place, value in enumerate(parts)}
        return self.post(f"/a/demo/q/{item}/{number}", after=after, **fields, **more)


@contextmanager
def served(site: ReviewSite, door: Door) -> Iterator[str]:
    """Serve the pages from a thread; the address."""
    opened = listen(HOST, 0)
    port = opened.getsockname()[1]
    server = web_server(application(site, door, host=HOST, port=port))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
    thread.start()
    try:
        yield f"http://{HOST}:{port}"
    finally:
        server.should_exit = True
        thread.join()
        opened.close()


def texts(page: str) -> str:
    """What a reader sees of a page, roughly."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


PEOPLE = (
    Reviewer(name="Ada", role="teacher"),
    Reviewer(name="Bob", role="assistant"),
    Reviewer(name="Cem", role="assistant"),
)


@contextmanager
def classroom(
    folder: Path, course_folder: Path, assignment: str, fill: Callable[[Gradebook, Desk, Path], None]
) -> Iterator[SimpleNamespace]:
    """The pages of one assignment with a class in it."""
    results = folder / "results"
    course = find_course(course_folder, {}, folder)
    forget_course_code()
    with ExitStack() as resources:
        book = resources.enter_context(Gradebook(folder / "gradebook.db", create=True))
        desk = Desk(assignment, course, Plugins(course_folder), course.rubric_for(assignment))
        fill(book, desk, results)
        door = Door(PEOPLE)
        site = ReviewSite(book, {assignment: desk}, results=results)
        resources.callback(site.close)
        address = resources.enter_context(served(site, door))
        tokens = {person.name: token for person, token in door.tokens.items()}
        yield SimpleNamespace(
            address=address,
            book=book,
            desk=desk,
            door=door,
            path=folder / "gradebook.db",
            results=results,
            room=site.places[assignment],
            rubric=course_folder / "rubrics" / f"{assignment}.yaml",
            site=site,
            texts=texts,
            tokens=tokens,
            visitor=lambda name="Ada": Visitor(address, tokens[name]),
        )
    forget_course_code()


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[SimpleNamespace]:
    """The demo's class with a teacher, Ada, and two assistants."""
    write_course(tmp_path / "course")
    with classroom(tmp_path, tmp_path / "course", ASSIGNMENT, fill) as room:
        yield room


@pytest.fixture
def csye(tmp_path: Path) -> Iterator[SimpleNamespace]:
    """Twenty students with answers to the thirteen questions of csye7105_hw4."""

    def answer(book: Gradebook, desk: Desk, results: Path) -> None:
        questions = [item for item in desk.rubric.items if item.check == "answer"]
        for number in range(20):
            answers = {}
            for place, item in enumerate(questions):
                words = item.options.model.split()
                part = (len(words), 3 * len(words) // 4, len(words) // 2, 6)[(number + place) % 4]
                answers[item.options.label] = " ".join(words[:part])
            record(book, desk, results, f"student_{number:02}", answers)

    with classroom(tmp_path, Path(__file__).parent.parent.parent, "csye7105_hw4", answer) as room:
        room.room.index.refresh()
        yield room


@pytest.fixture
def total(demo) -> Callable[[int], float]:
    """Points of a submission in the gradebook now."""

    def of(number: int) -> float:
        entry = demo.room.index.refresh().entry(number)
        assert entry is not None
        (grade,) = demo.book.grades(assignment="demo", student=entry.submission.student)
        return grade.card.points.raw

    return of
