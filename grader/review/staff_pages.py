"""Pages about grading itself: fairness, changed criteria, publishing, requests, audit."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from sqlalchemy import select
from starlette.responses import Response

from grader.errors import UsageError
from grader.gradebook.tables import AUDIT
from grader.model.score import Standing
from grader.review.class_index import in_shown_order
from grader.review.criteria_changes import CriteriaChange, applied, criteria_changes
from grader.review.fairness import (
    add_reading,
    disagreements,
    drift,
    for_second_reader,
    overruled,
    readings_of,
)
from grader.review.forms import clean_text, read_form
from grader.review.judging import add_audit
from grader.review.publishing import is_published, previews, publish
from grader.review.requests import StudentRequest, add_reply, add_request, is_since, requests_of
from grader.review.site import (
    ForbiddenPageError,
    MissingPageError,
    ReviewRoom,
    ReviewSite,
    Visit,
    go,
    link,
    whole,
)

if TYPE_CHECKING:
    from grader.model.rubric import Item
    from grader.review.class_index import GradedEntry
    from grader.review.grading_pages import GradingPages

MOST_LINES = 500
LONGEST = 10_000
"""Characters of a request or an answer."""


class StaffPages:
    """Handlers of these pages."""

    def __init__(self, site: ReviewSite, grading: GradingPages) -> None:
        self._site = site
        self._grading = grading
        self._replaying = threading.Lock()

    def fairness(self, visit: Visit) -> Response:
        """Show what people overrule, their points over time, and where second readers differ."""
        place = self._site.place(visit)
        index, desk = place.index, place.desk
        current = [each for e in index.entries for item in desk.items if (each := index.judgement(e, item))]
        readings = readings_of(self._site.book, desk.assignment)
        twice, differing = disagreements(index, readings)
        sample = for_second_reader(index, readings, visit.session.person.name, desk.items)
        people = sorted({each.record.by for each in current})
        return self._site.page(
            "fairness.html.j2",
            visit,
            place,
            overruled=overruled(current),
            titles={item.id: item.title for item in desk.items.values()},
            people=[(name, drift(current, name)) for name in people],
            twice=twice,
            differing=differing,
            sample=len(sample),
            first=sample[0] if sample else None,
        )

    def second(self, visit: Visit) -> Response:
        """Show an answer to a second reader, without the first one's points, or take the reading."""
        place = self._site.place(visit)
        item, entry = self._item(place, visit), self._site.entry(place, visit)
        shown = self._grading.exhibit_of(place, entry, item)
        first = place.index.judgement(entry, item.id)
        person = visit.session.person
        if first is None or first.record.by == person.name:
            raise MissingPageError("a second reader reads what somebody else has judged")
        entered = None
        if visit.form is not None:
            entered = read_form(visit.form, shown.rows)
            if not entered.problems:
                record = self._grading.judged(visit, entry, item, entered, shown)
                add_reading(self._site.book, place.desk.assignment, entry, record, person)
                others = f"{first.record.by} gave {first.record.points:g}"
                visit.session.saved = link("a", place.desk.assignment, "second", item.id, entry.number)
                visit.session.note = f"Read: {record.points:g} of {item.points:g}; {others}."
                readings = readings_of(self._site.book, place.desk.assignment)
                sample = for_second_reader(place.index, readings, person.name, place.desk.items)
                if sample:
                    following, other = sample[0]
                    return go("a", place.desk.assignment, "second", following, other.number)
                return go("a", place.desk.assignment, "fairness")
        return self._grading.show_second(visit, place, entry, item, shown, entered)

    def criteria(self, visit: Visit) -> Response:
        """Show whose points change with the criteria of an item, or apply that."""
        place = self._site.place(visit)
        item = self._item(place, visit)
        changes = list(criteria_changes(place.index, item))
        ready = [change for change in changes if change.after]
        if visit.form is not None:
            self._require_teacher(visit)
            person = visit.session.person
            if visit.form.get("plan") != _plan(ready):
                visit.session.note = "Somebody gave points meanwhile; look at the list again."
                return go("a", place.desk.assignment, "q", item.id, "criteria")
            records = [(each.entry, applied(each, person.name), each.judgement.number) for each in ready]
            about = f"{item.id}: {len(records)} judgements"
            conflicts = place.judging.give_many(records, person, "criteria applied", about)
            self._site.follow(place, *(each.entry for each in ready))
            visit.session.note = (
                "Somebody gave points meanwhile; nothing was changed."
                if conflicts
                else f"Applied to {len(records)} submissions."
            )
            return go("a", place.desk.assignment, "q", item.id, "criteria")
        return self._site.page(
            "criteria.html.j2",
            visit,
            place,
            item=item,
            ready=ready,
            missing=[change for change in changes if not change.after],
            plan=_plan(ready),
        )

    def publishing(self, visit: Visit) -> Response:
        """Show what publishing changes for whom, or publish."""
        place = self._site.place(visit)
        assignment = place.desk.assignment
        published = is_published(self._site.book, assignment)
        if visit.form is not None:
            self._require_teacher(visit)
            publish(
                self._site.book, assignment, visit.session.person, published=visit.form.get("publish") == "1"
            )
            self._site.follow(place, *place.index.entries)
            return go("a", assignment, "publish")
        entries = place.index.entries
        return self._site.page(
            "publish.html.j2",
            visit,
            place,
            published=published,
            changes=list(previews(place.desk, in_shown_order(entries, names=visit.session.names))),
            total=len(entries),
            final=sum(entry.card.standing is Standing.FINAL for entry in entries),
            problems=self._site.problems,
        )

    def requests(self, visit: Visit) -> Response:
        """List requests, or record one."""
        place = self._site.place(visit)
        assignment = place.desk.assignment
        form = visit.form
        if form is not None:
            entry = place.index.entry(whole(form.get("submission", "")) or 0)
            text = clean_text(form.get("text", ""))
            item = form.get("item", "")
            if entry is None or item not in place.desk.items or not text:
                visit.session.note = "A request needs a submission, an item and a text; nothing was recorded."
                return go("a", assignment, "requests")
            student = entry.students[0] if len(entry.students) == 1 else entry.submission.student
            person = visit.session.person
            request = add_request(
                self._site.book, assignment, entry.number, item, student, text[:LONGEST], person
            )
            return go("a", assignment, "requests", request)
        requests = requests_of(self._site.book, assignment)
        return self._site.page(
            "requests.html.j2",
            visit,
            place,
            requests=[(request, place.index.entry(request.submission)) for request in requests],
            items=place.desk.items.values(),
            entries=in_shown_order(place.index.entries, names=visit.session.names),
            titles={item.id: item.title for item in place.desk.items.values()},
            chosen=visit.query.get("submission", ""),
            chosen_item=visit.query.get("item", ""),
        )

    def request(self, visit: Visit) -> Response:
        """Show a request, or record the answer."""
        place = self._site.place(visit)
        request = self._request(place, visit)
        entry = place.index.entry(request.submission)
        if visit.form is not None:
            text = clean_text(visit.form.get("text", ""))
            if not text:
                visit.session.note = "An answer needs a text."
                return go("a", place.desk.assignment, "requests", request.number)
            newest = place.index.judgement(entry, request.item) if entry else None
            came_of_it = newest.number if newest and is_since(self._site.book, newest, request) else None
            add_reply(
                self._site.book,
                place.desk.assignment,
                request,
                text[:LONGEST],
                came_of_it,
                visit.session.person,
            )
            return go("a", place.desk.assignment, "requests", request.number)
        return self._request_page(visit, place, request, entry)

    def replay(self, visit: Visit) -> Response:
        """Observe the item of a request again with its seed, and show both."""
        from grader.files import scratch
        from grader.grading.replay import read_score, replay
        from grader.grading.sessions import open_session

        place = self._site.place(visit)
        request = self._request(place, visit)
        entry = place.index.entry(request.submission)
        if entry is None or self._site.results is None:
            raise UsageError("a replay needs the results folder; start grader review with --results")
        folder = self._site.results / place.desk.assignment / entry.submission.student
        desk = place.desk
        with (
            self._replaying,
            open_session(desk.plugins, "local") as session,
            scratch("grader-review-replay-") as scratch_folder,
        ):
            stored = read_score(folder)
            about, person = f"request {request.number}", visit.session.person
            self._site.book.database.write(
                lambda connection: add_audit(connection, desk.assignment, person, "replayed", about)
            )
            replayed = replay(stored, request.item, desk.files, session, place=scratch_folder)
        return self._request_page(visit, place, request, entry, replayed=replayed)

    def audit(self, visit: Visit) -> Response:
        """List who changed what."""
        place = self._site.place(visit)
        self._require_teacher(visit)
        rows = select(AUDIT).where(AUDIT.c.assignment == place.desk.assignment).order_by(AUDIT.c.id.desc())
        with self._site.book.database.reading() as connection:
            lines = connection.execute(rows.limit(MOST_LINES)).all()
        return self._site.page("audit.html.j2", visit, place, lines=lines, most=MOST_LINES)

    def _request_page(
        self,
        visit: Visit,
        place: ReviewRoom,
        request: StudentRequest,
        entry: GradedEntry | None,
        replayed: object = None,
    ) -> Response:
        return self._site.page(
            "request.html.j2",
            visit,
            place,
            request=request,
            entry=entry,
            line=entry.line(request.item) if entry else None,
            judgement=place.index.judgement(entry, request.item) if entry else None,
            item=place.desk.items.get(request.item),
            can_replay=self._site.results is not None,
            replayed=replayed,
        )

    def _request(self, place: ReviewRoom, visit: Visit) -> StudentRequest:
        for request in requests_of(self._site.book, place.desk.assignment):
            if request.number == visit.path["request"]:
                return request
        raise MissingPageError("there is no such request")

    def _item(self, place: ReviewRoom, visit: Visit) -> Item:
        item = place.desk.items.get(visit.path["item"])
        if item is None:
            raise MissingPageError("the rubric has no such item")
        return item

    def _require_teacher(self, visit: Visit) -> None:
        if visit.session.person.role != "teacher":
            raise ForbiddenPageError("ask a teacher to open this page, or to do this")


def _plan(changes: list[CriteriaChange]) -> str:
    """Return which rows a list of changes goes by, so that it is applied as it was shown."""
    return ",".join(
        f"{change.judgement.number}:{change.after.points:g}" for change in changes if change.after
    )
