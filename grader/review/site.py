"""Parts that all pages share: gradebook, desks, the class in memory, templates, and forms that were sent."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qsl, quote

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from grader.config.codec import digest_bytes
from grader.errors import GraderError
from grader.reports.pages import TEMPLATES as STYLES
from grader.reports.pages import environment
from grader.review.class_index import ClassIndex, GradedEntry
from grader.review.desk import Desk
from grader.review.judging import Judging
from grader.review.labels import label
from grader.review.mirror import Mirror
from grader.review.people import ReviewSession
from grader.review.presence import Presence
from grader.review.safety import MOST_BYTES, has_csrf

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook

TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"
STATIC_FILES = {
    "style.css": STYLES / "style.css",
    "review.css": STATIC / "review.css",
    "review.js": STATIC / "review.js",
}
MOST_DIGITS = 16
MISTAKE = (
    "This is a mistake of grader review itself; the terminal where it was started says more. See whether "
    "your last points are there before you give them again."
)
LOG = logging.getLogger(__name__)
VERSION = digest_bytes(b"".join(path.read_bytes() for path in STATIC_FILES.values()))[-12:]
"""Part of the addresses of those files, so that browsers may keep them for ever."""
PAGES = (
    ("Questions", ()),
    ("Submissions", ("submissions",)),
    ("Fairness", ("fairness",)),
    ("Requests", ("requests",)),
    ("Publish", ("publish",)),
    ("Audit", ("audit",)),
)
"""Names and paths of the pages of an assignment, in the order of the navigation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRoom:
    """One assignment with everything that its pages work with."""

    desk: Desk
    index: ClassIndex
    judging: Judging

    def refresh(self) -> None:
        """Read what is new in gradebook and rubric."""
        self.desk.refresh()
        self.index.refresh()


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request of a person whose session and form are checked."""

    session: ReviewSession
    path: Mapping[str, Any]
    query: Mapping[str, str]
    form: Mapping[str, str] | None
    """The fields of a form; None for a page that is only looked at."""


Handler: TypeAlias = Callable[[Visit], Response]


class MissingPageError(Exception):
    """There is no such page, with a line that says why."""

    status = 404


class ForbiddenPageError(MissingPageError):
    """The role of a person does not allow this page."""

    status = 403


class ReviewSite:
    """The gradebook and the assignments that are graded in it."""

    def __init__(self, book: Gradebook, desks: Mapping[str, Desk], *, results: Path | None = None) -> None:
        self.book = book
        self.results = results
        self.identity = hashlib.sha256(f"{book.database.name}\0{book.created}".encode()).hexdigest()[:12]
        """Whose drafts a browser shows again: those of this gradebook alone."""
        self.presence = Presence()
        self._mirror = None if results is None else Mirror(book, results)
        self.places = {
            name: ReviewRoom(desk=desk, index=ClassIndex(book, desk), judging=Judging(book, desk))
            for name, desk in desks.items()
        }

    @property
    def problems(self) -> Mapping[str, str]:
        """Why pages of students could not be written, by student."""
        return {} if self._mirror is None else self._mirror.problems

    def follow(self, place: ReviewRoom, *entries: GradedEntry) -> None:
        """Have the results folders of these submissions brought up to date."""
        if self._mirror is not None:
            self._mirror.follow(place.desk, *entries)

    def catch_up(self) -> None:
        """Have all results folders brought up to date that may lack points, as after the end of a process."""
        for place in self.places.values():
            index = place.index.refresh()
            judged = {(each.student, each.record.submission) for each in index.judgements}
            entries = [e for e in index.entries if (e.submission.student, e.submission.digest) in judged]
            self.follow(place, *entries)

    def close(self) -> None:
        """Write what is left for the results folders."""
        if self._mirror is not None:
            self._mirror.close()

    def place(self, visit: Visit) -> ReviewRoom:
        """Return the assignment of a page, with what is new in gradebook and rubric."""
        place = self.places.get(visit.path["assignment"])
        if place is None:
            raise MissingPageError("there is no such assignment in this gradebook")
        place.refresh()
        return place

    def entry(self, place: ReviewRoom, visit: Visit) -> GradedEntry:
        """Return the submission of a page."""
        entry = place.index.entry(visit.path["number"])
        if entry is None:
            raise MissingPageError("there is no such submission, or another one has taken its place")
        return entry

    def page(
        self, name: str, visit: Visit, place: ReviewRoom | None = None, *, status: int = 200, **values: Any
    ) -> Response:
        """Render a template for a person."""
        note, visit.session.note = visit.session.note, ""
        saved, visit.session.saved = visit.session.saved, ""
        text = (
            environment(TEMPLATES)
            .get_template(name)
            .render(
                session=visit.session,
                person=visit.session.person,
                teacher=visit.session.person.role == "teacher",
                assignment=place.desk.assignment if place else "",
                note=note,
                saved=saved,
                book=self.identity,
                label=lambda entry: label(entry.number),
                link=link,
                csrf=lambda: Markup('<input type="hidden" name="csrf" value="{}">').format(
                    visit.session.csrf
                ),
                status=status,
                PAGES=PAGES,
                VERSION=VERSION,
                title_of=lambda entry: title_of(entry, visit.session),
                when=partial(when, zone=place.desk.course.zone if place else UTC),
                **values,
            )
        )
        return HTMLResponse(text, status_code=status)

    def endpoint(self, handler: Handler) -> Callable[[Request], Any]:
        """Wrap a handler: read the form, check its word, and turn errors into a line."""

        async def answer(request: Request) -> Response:
            form = None
            if request.method == "POST":
                form, refusal = await _form(request)
                if refusal is not None:
                    return refusal
            visit = Visit(
                session=request.state.session,
                path=request.path_params,
                query=dict(request.query_params),
                form=form,
            )
            try:
                return await run_in_threadpool(handler, visit)
            except Exception as error:
                status, problems = _problem(error, request.url.path)
            place = self.places.get(visit.path.get("assignment", ""))
            return self.page("problem.html.j2", visit, place, status=status, problems=problems)

        return answer


def title_of(entry: GradedEntry, session: ReviewSession) -> str:
    """Return the name of a submission, or its number while names are hidden."""
    return entry.submission.student if session.names else f"Submission {label(entry.number)}"


def when(at: str, *, zone: tzinfo, seconds: bool = False) -> str:
    """Return a time of the gradebook by the clock of the course; other texts as they are."""
    try:
        time = datetime.fromisoformat(at).astimezone(zone)
    except ValueError:
        return at
    return f"{time:%Y-%m-%d %H:%M:%S %Z}" if seconds else f"{time:%Y-%m-%d %H:%M %Z}"


def link(*parts: object, **query: object) -> str:
    """Return a path of this site."""
    path = "/" + "/".join(quote(str(part), safe="") for part in parts)
    text = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items() if value != "")
    return f"{path}?{text}" if text else path


def whole(text: str) -> int | None:
    """Read a number of a form or an address; None if it is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < MOST_DIGITS else None


def go(*parts: object, **query: object) -> Response:
    """Send a browser to another page after a form."""
    return RedirectResponse(link(*parts, **query), status_code=303)


def _problem(error: Exception, path: str) -> tuple[int, tuple[str, ...]]:
    """Return the status and the lines of the page that says why a page could not be shown."""
    if isinstance(error, MissingPageError):
        return error.status, (str(error),)
    if isinstance(error, GraderError):
        return 503, tuple(error.problems)
    if isinstance(error, OSError):
        return 503, (f"{error.filename or 'a file'}: cannot be used ({error.strerror or error}); try again",)
    LOG.error("grader review: a mistake of its own at %s", path, exc_info=error)
    return 500, (MISTAKE,)


async def _form(request: Request) -> tuple[Mapping[str, str], Response | None]:
    """Read a form of the session; return its fields, and the answer if it is refused."""
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BYTES:
                return {}, PlainTextResponse("grader review: that is too much for one form\n", 413)
    except ClientDisconnect:
        return {}, Response(status_code=400)  # nobody reads it
    try:
        form = dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=500))
    except ValueError:
        form = {}
    if not has_csrf(request.state.session, form.get("csrf", "")):
        return {}, PlainTextResponse("grader review: this form is too old; load the page again\n", 403)
    return form, None
