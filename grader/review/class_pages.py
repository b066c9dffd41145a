"""Pages of submissions: the list with its filters, and one submission with all that is known of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, Response

from grader.gradebook.history import history, team_history
from grader.reports.html import Html
from grader.review.class_index import in_shown_order
from grader.review.files import MOST_BYTES, file_of, picture_type, shown_file, workspace_of
from grader.review.filters import FILTERS, QUICK, Traits
from grader.review.labels import label
from grader.review.page_pictures import PagePictures
from grader.review.publishing import is_published
from grader.review.requests import requests_of
from grader.review.safety import REPORT_POLICY
from grader.review.site import MissingPageError, ReviewRoom, ReviewSite, Visit, whole
from grader.scoring.redact import closes, staff_view, student_view

if TYPE_CHECKING:
    from grader.gradebook.history import HistoryEvent
    from grader.model.view import AudienceView
    from grader.review.class_index import GradedEntry

PER_PAGE = 200


class ClassPages:
    """Handlers of the submissions' pages."""

    def __init__(self, site: ReviewSite) -> None:
        self._site = site
        self._traits = Traits(site.book)
        self._pictures = PagePictures()

    def submissions(self, visit: Visit) -> Response:
        """List submissions."""
        place = self._site.place(visit)
        desk, index = place.desk, place.index
        chosen = visit.query.get("show", "all")
        chosen = chosen if chosen in FILTERS else "all"
        entries = list(index.entries)
        counts = {
            name: sum(test(desk, index, self._traits, entry) for entry in entries)
            for name, (_, test) in FILTERS.items()
            if name in QUICK
        }
        if chosen not in QUICK:
            self._traits.read(desk, entries)
        matching = [e for e in entries if FILTERS[chosen][1](desk, index, self._traits, e)]
        counts[chosen] = len(matching)
        search = visit.query.get("search", "").strip()[:100]
        if search:
            matching = [
                entry for entry in matching if self._matches(entry, search, names=visit.session.names)
            ]
        matching = in_shown_order(matching, names=visit.session.names)
        page = whole(visit.query.get("page", "")) or 1
        pages = max(1, -(-len(matching) // PER_PAGE))
        page = min(max(1, page), pages)
        shown = matching[(page - 1) * PER_PAGE : page * PER_PAGE]
        return self._site.page(
            "submissions.html.j2",
            visit,
            place,
            filters=[(name, label, counts.get(name)) for name, (label, _) in FILTERS.items()],
            chosen=chosen,
            search=search,
            rows=[
                (
                    entry,
                    sum(index.waits(entry, item) for item in desk.items),
                    shown_totals(entry, names=visit.session.names),
                )
                for entry in shown
            ],
            matching=len(matching),
            number_of_page=page,
            pages=pages,
        )

    def submission(self, visit: Visit) -> Response:
        """Show one submission."""
        place = self._site.place(visit)
        entry = self._site.entry(place, visit)
        workspace = workspace_of(self._site.results, place.desk.assignment, entry)
        name = visit.query.get("file", "")
        path = file_of(workspace, entry, name) if workspace and name else None
        events = self._history(entry, place.desk.assignment)
        return self._site.page(
            "submission.html.j2",
            visit,
            place,
            entry=entry,
            totals=shown_totals(entry, names=visit.session.names),
            lines=[
                (line, place.index.judgement(entry, line.item), self._is_for_people(place, entry, line.item))
                for line in entry.card.lines
            ],
            files=entry.submission.files if workspace else (),
            has_files=workspace is not None,
            file=shown_file(path, name) if path else None,
            pages_of_file=self._pictures.count(path) if path and path.read_bytes()[:4] == b"%PDF" else 0,
            events=list(reversed(events)),
            requests=[
                each
                for each in requests_of(self._site.book, place.desk.assignment)
                if each.submission == entry.number
            ],
            published=is_published(self._site.book, place.desk.assignment),
        )

    def picture(self, visit: Visit) -> Response:
        """Return a picture that was handed in, or a page of a PDF as one."""
        place = self._site.place(visit)
        entry = self._site.entry(place, visit)
        workspace = workspace_of(self._site.results, place.desk.assignment, entry)
        path = file_of(workspace, entry, visit.query.get("file", "")) if workspace else None
        if path is None:
            raise MissingPageError("there is no such file")
        if number := whole(visit.query.get("page", "")):
            content, kind = self._pictures.page(path, number), "image/png"
        else:
            with path.open("rb") as file:
                content = file.read(20 * MOST_BYTES)
            kind = picture_type(content)
        if not content or not kind:
            raise MissingPageError("this file cannot be shown as a picture")
        return Response(content, media_type=kind)

    def report(self, visit: Visit) -> Response:
        """Show the report of staff, or that of the student as it is now."""
        place = self._site.place(visit)
        entry = self._site.entry(place, visit)
        desk, kinds = place.desk, place.desk.plugins.checks
        evidence = self._site.book.evidence(entry.attempt)
        lines = tuple(line for line in entry.card.lines if line.item in desk.items)
        card = replace(entry.card, lines=lines)
        if visit.path["audience"] not in {"staff", "student"}:
            raise MissingPageError("there is no such report")
        if visit.path["audience"] == "staff":
            view = staff_view(desk.rubric, evidence, card, kinds=kinds)
        else:
            extensions = desk.course.extensions_of(desk.assignment)
            view = student_view(
                desk.rubric,
                evidence,
                card,
                kinds=kinds,
                now=datetime.now(UTC),
                published=is_published(self._site.book, desk.assignment),
                closes=closes(desk.rubric, extensions, desk.course.zone),
            )
        view = replace(
            view,
            assignment_title=desk.title,
            course_title=desk.course.title,
            time_zone=desk.course.zone,
        )
        text = Html().render(view if visit.session.names else _without_names(view, entry))
        return HTMLResponse(text, headers={"content-security-policy": REPORT_POLICY})

    def _is_for_people(self, place: ReviewRoom, entry: GradedEntry, name: str) -> bool:
        item = place.desk.items.get(name)
        return item is not None and place.index.concerns(entry, item)

    def _history(self, entry: GradedEntry, assignment: str) -> tuple[HistoryEvent, ...]:
        """Return what happened to a submission: of a team, what all its members have."""
        if entry.submission.members:
            return team_history(self._site.book, entry.submission.student, assignment)
        return history(self._site.book, entry.students[0], assignment)

    def _matches(self, entry: GradedEntry, search: str, *, names: bool) -> bool:
        if search == str(label(entry.number)):
            return True
        texts = (entry.submission.student, *entry.submission.students) if names else ()
        return any(search.casefold() in text.casefold() for text in texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTotal:
    """A total after the late rule, of all students of a submission or of one."""

    points: float
    late: float
    """Points that lateness costs."""
    open: float
    """The most that open points can add."""
    student: str
    """Whose it is, as shown on the page; empty where all students have the same."""


def shown_totals(entry: GradedEntry, *, names: bool) -> list[ShownTotal]:
    """Return the total of a submission once, or that of each student where their extensions differ."""
    card = entry.card
    totals = [total for total in card.totals if total.student in entry.students] or card.totals
    alike = len({(total.adjusted, card.still_open(total)) for total in totals}) == 1
    return [
        ShownTotal(
            points=total.adjusted,
            late=total.late.lost if total.late else 0.0,
            open=card.still_open(total),
            student="" if alike else total.student if names else f"Student {place}",
        )
        for place, total in enumerate(totals[:1] if alike else totals, start=1)
    ]


def _without_names(view: AudienceView, entry: GradedEntry) -> AudienceView:
    name = f"Submission {label(entry.number)}"
    totals = tuple(
        replace(total, student=name if len(view.scorecard.totals) == 1 else f"Student {number}")
        for number, total in enumerate(view.scorecard.totals, start=1)
    )
    submission = replace(view.evidence.submission, student=name, members=(), archive="", top="", lms_id=None)
    return replace(
        view,
        scorecard=replace(view.scorecard, student=name, totals=totals),
        evidence=replace(view.evidence, submission=submission),
    )
