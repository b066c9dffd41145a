"""Pages on which answers are graded: the questions of an assignment, and one answer after another."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response

from grader.checks.judged import documents_asked, documents_of
from grader.gradebook.judgements import Judgement, undoable
from grader.model.score import Standing
from grader.review.criteria_changes import criteria_changes
from grader.review.exhibit import Exhibit, exhibit
from grader.review.forms import Entered, judgement, read_form, written
from grader.review.judging import Conflict, Saved, clock
from grader.review.phrases import add_phrase, phrases_of, retire_phrase
from grader.review.site import MissingPageError, ReviewRoom, ReviewSite, Visit, go, link, whole

if TYPE_CHECKING:
    from grader.config.points_file import PointsGiven
    from grader.model.rubric import Item
    from grader.review.class_index import GradedEntry


LONGEST_PATH = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionProgress:
    """How far one question is."""

    item: Item
    total: int
    judged: int
    waiting: int
    flagged: int
    """How many have a flag that costs nothing, and that no person has given points about."""
    by: tuple[tuple[str, int], ...]
    """People with how many answers each has graded."""

    @property
    def automatic(self) -> int:
        """How many answers a program decided."""
        return self.total - self.judged - self.waiting


def progress(place: ReviewRoom) -> list[QuestionProgress]:
    """Count the answers of each question that a person reads."""
    questions = []
    for item in place.desk.items.values():
        queue = place.index.queue(item)
        judgements = [place.index.judgement(entry, item.id) for entry in queue]
        by = Counter(each.record.by for each in judgements if each)
        if queue:
            questions.append(
                QuestionProgress(
                    item=item,
                    total=len(queue),
                    judged=sum(by.values()),
                    waiting=sum(place.index.waits(entry, item.id) for entry in queue),
                    flagged=sum(place.index.only_flagged(entry, item.id) for entry in queue),
                    by=tuple(by.most_common()),
                )
            )
    return questions


class GradingPages:
    """Handlers of the questions' pages."""

    def __init__(self, site: ReviewSite) -> None:
        self._site = site

    def home(self, visit: Visit) -> Response:
        """Show the assignments with how much waits in each; lead on to the only one."""
        places = self._site.places
        if len(places) == 1:
            return go("a", *places)
        waiting = {}
        for name, place in places.items():
            place.refresh()
            waiting[name] = sum(question.waiting for question in progress(place))
        return self._site.page("home.html.j2", visit, places=places, waiting=waiting)

    def questions(self, visit: Visit) -> Response:
        """Show every question with how far it is."""
        place = self._site.place(visit)
        self._site.presence.leave(place.desk.assignment, visit.session.person.name)
        questions = progress(place)
        people: Counter[str] = Counter()
        for question in questions:
            people.update(dict(question.by))
        return self._site.page(
            "questions.html.j2",
            visit,
            place,
            title=place.desk.title,
            questions=questions,
            people=people.most_common(),
            waiting=sum(question.waiting for question in questions),
            total=sum(question.total for question in questions),
            judged=sum(question.judged for question in questions),
        )

    def start(self, visit: Visit) -> Response:
        """Go to the first answer of a question that waits; to its first one if none does."""
        place = self._site.place(visit)
        item = self._item(place, visit)
        taken = self._taken(visit, place, item)
        entry = place.index.next_open(item, taken=taken) or next(iter(place.index.queue(item)), None)
        if entry is None:
            raise MissingPageError(f"{item.id}: nobody has to read an answer to this")
        return go("a", place.desk.assignment, "q", item.id, entry.number)

    def answer(self, visit: Visit) -> Response:
        """Show one answer, or take the points that a person gives for it."""
        place = self._site.place(visit)
        item, entry = self._item(place, visit), self._site.entry(place, visit)
        if entry.line(item.id) is None:
            raise MissingPageError(f"{item.id}: this submission was graded without it; grade it again")
        shown = self.exhibit_of(place, entry, item)
        if visit.form is None:
            return self._show(visit, place, entry, item, shown)
        entered = read_form(visit.form, shown.rows)
        after = whole(visit.form.get("after", "")) or 0
        if entered.problems:
            return self._show(visit, place, entry, item, shown, entered=entered, after=after, status=422)
        person = visit.session.person
        record = self.judged(visit, entry, item, entered, shown)
        saved = place.judging.give(entry, record, person, after=after)
        if isinstance(saved, Conflict):
            other = saved.other
            return self._show(
                visit,
                place,
                entry,
                item,
                shown,
                entered=entered,
                after=other.number,
                conflict=other,
                status=409,
            )
        self._site.follow(place, entry)
        if visit.form.get("keep") and entered.comment:
            add_phrase(self._site.book, place.desk.assignment, item.id, entered.comment, person)
        return self._next(visit, place, entry, item, saved, record.points)

    def undo(self, visit: Visit) -> Response:
        """Take the last judgement of this person back, and show its answer."""
        place = self._site.place(visit)
        person = visit.session.person
        last = undoable(place.index.judgements, person.name)
        entry = None if last is None else place.index.entry(last.submission)
        if last is None or entry is None:
            visit.session.note = "There is nothing of yours to take back."
            return go("a", place.desk.assignment)
        outcome = place.judging.undo(last, entry, person)
        self._site.follow(place, entry)
        if isinstance(outcome, Conflict):
            by = outcome.other.record.by
            visit.session.note = f"{by} has given points here since; nothing was taken back."
        else:
            visit.session.note = f"Taken back: {last.record.points:g} of {last.record.possible:g}."
        return go("a", place.desk.assignment, "q", last.record.item, entry.number)

    def names(self, visit: Visit) -> Response:
        """Show or hide the names of students, which the audit notes."""
        from grader.review.judging import add_audit

        place = self._site.place(visit)
        form = visit.form or {}
        visit.session.names = form.get("show") == "1"
        if visit.session.names:
            self._site.book.database.write(
                lambda connection: add_audit(
                    connection, place.desk.assignment, visit.session.person, "names", "shown"
                )
            )
        back = form.get("back", "")
        inside = back.startswith(link("a", place.desk.assignment)) and len(back) < LONGEST_PATH
        return RedirectResponse(back if inside else link("a", place.desk.assignment), status_code=303)

    def phrases(self, visit: Visit) -> Response:
        """Take a kept comment off the list of a question."""
        place = self._site.place(visit)
        item = self._item(place, visit)
        form = visit.form or {}
        if retired := whole(form.get("retire", "")):
            retire_phrase(self._site.book, place.desk.assignment, item.id, retired, visit.session.person)
        number = whole(form.get("number", ""))
        parts = (number,) if number else ()
        return go("a", place.desk.assignment, "q", item.id, *parts)

    def _item(self, place: ReviewRoom, visit: Visit) -> Item:
        item = place.desk.items.get(visit.path["item"])
        if item is None:
            raise MissingPageError("the rubric has no such item that a person gives points for")
        return item

    def exhibit_of(self, place: ReviewRoom, entry: GradedEntry, item: Item) -> Exhibit:
        """Return what there is to read of an item."""
        observations = self._site.book.evidence(entry.attempt).observations
        kind = place.desk.plugins.checks[item.check]
        return exhibit(item, observations.get(item.id), kind, observations, zone=place.desk.course.zone)

    @staticmethod
    def judged(visit: Visit, entry: GradedEntry, item: Item, entered: Entered, shown: Exhibit) -> PointsGiven:
        """Return what a visitor judges now of an item that was shown to them, by a form without problems."""
        return judgement(
            item,
            entered,
            by=visit.session.person.name,
            at=clock(),
            digest=entry.submission.digest,
            suggested=shown.suggested,
        )

    def _section_of(self, place: ReviewRoom, entry: GradedEntry, item: Item) -> int:
        """Return the number of an item's section in the report of staff; 0 if no call stands there."""
        observation = self._site.book.evidence(entry.attempt).observations.get(item.id)
        if observation is None or not (observation.cases or observation.output):
            return 0
        graded = [line.item for line in entry.card.lines if line.item in place.desk.items]
        return graded.index(item.id) + 1

    def _next(
        self, visit: Visit, place: ReviewRoom, entry: GradedEntry, item: Item, saved: Saved, points: float
    ) -> Response:
        place.index.refresh()
        note = f"Saved: {points:g} of {item.points:g}."
        if not saved.counts:
            note += " It counts after the next grader run: rubric, assignment or grader have changed since."
        taken = self._taken(visit, place, item)
        following = place.index.next_open(item, entry.number, taken)
        visit.session.note = note
        visit.session.saved = link("a", place.desk.assignment, "q", item.id, entry.number)
        if following is None:
            visit.session.note += " That was the last one of this question."
            return go("a", place.desk.assignment)
        return go("a", place.desk.assignment, "q", item.id, following.number)

    def _taken(self, visit: Visit, place: ReviewRoom, item: Item) -> dict[int, str]:
        """Return the submissions whose answer to a question others have open."""
        return self._site.presence.others(place.desk.assignment, visit.session.person.name, item.id)

    def show_second(
        self,
        visit: Visit,
        place: ReviewRoom,
        entry: GradedEntry,
        item: Item,
        shown: Exhibit,
        entered: Entered | None,
    ) -> Response:
        """Show an answer to a second reader, without anybody's points."""
        return self._site.page(
            "answer.html.j2",
            visit,
            place,
            status=422 if entered else 200,
            second=True,
            item=item,
            entry=entry,
            line=None,
            held=False,
            shown=shown,
            documents=documents_of(item, entry.submission.files),
            documents_asked=documents_asked(item),
            entered=entered or written(None, shown.rows),
            after=0,
            conflict=None,
            opened_by="",
            current=None,
            position=0,
            total=0,
            waiting=0,
            before=None,
            following=None,
            changed=0,
            section=0,
            phrases=phrases_of(self._site.book, place.desk.assignment, item.id),
        )

    def _show(  # noqa: PLR0913 - what was entered, and what came between
        self,
        visit: Visit,
        place: ReviewRoom,
        entry: GradedEntry,
        item: Item,
        shown: Exhibit,
        *,
        entered: Entered | None = None,
        after: int | None = None,
        conflict: Judgement | None = None,
        status: int = 200,
    ) -> Response:
        index = place.index
        self._site.presence.note(place.desk.assignment, visit.session.person.name, item.id, entry.number)
        queue = index.queue(item)
        numbers = [each.number for each in queue]
        position = numbers.index(entry.number) + 1 if entry.number in numbers else 0
        newest, current = index.newest(entry, item.id), index.judgement(entry, item.id)
        line = entry.line(item.id)
        return self._site.page(
            "answer.html.j2",
            visit,
            place,
            status=status,
            second=False,
            changed=sum(1 for _ in criteria_changes(index, item)),
            item=item,
            entry=entry,
            line=line,
            held=line is not None and line.standing is Standing.HELD,
            shown=shown,
            documents=documents_of(item, entry.submission.files),
            documents_asked=documents_asked(item),
            entered=entered or written(current.record if current else None, shown.rows),
            after=(newest.number if newest else 0) if after is None else after,
            conflict=conflict,
            opened_by=self._taken(visit, place, item).get(entry.number, ""),
            current=current,
            position=position,
            total=len(queue),
            waiting=sum(index.waits(each, item.id) for each in queue),
            before=numbers[position - 2] if position > 1 else None,
            following=numbers[position] if 0 < position < len(numbers) else None,
            section=self._section_of(place, entry, item),
            phrases=phrases_of(self._site.book, place.desk.assignment, item.id),
        )
