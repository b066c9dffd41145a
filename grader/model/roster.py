"""The roster: students of the course with their ids on learning platforms."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from grader.model.submission import Submission
from grader.text import one_line

_ALIKE = 0.8
"""Similarity of names (0 to 1) from which one is suggested for the other."""
_SHORTEST = 3
"""Letters of a team's name from which another one among them may be a slip; `A` and `B` are two teams."""
_EQUALLY_ALIKE = 3
"""The number of equally similar names up to which all are suggested; of more none is."""
FILE_IDS = ("canvas_id", "moodle_id")
"""Ids that platforms write into the names of files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Student:
    """One line of the roster; unknown fields are empty."""

    student: str
    """The name in results."""
    canvas_id: str = ""
    sis_id: str = ""
    moodle_id: str = ""
    """Moodle's participant number, which differs from assignment to assignment."""
    email: str = ""
    name: str = ""
    """For people."""
    section: str = ""
    team: str = ""
    """Students of one team hand in together, in all assignments."""


@dataclass(frozen=True, kw_only=True)
class Roster:
    """The students of a course, in the order of the file."""

    students: tuple[Student, ...] = ()
    file: str = ""
    """As lines about it name it."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """The line of each student in the file."""

    @cached_property
    def by_id(self) -> Mapping[str, str]:
        """The student, or the team as `alice+bob`, by each id that platforms write into file names."""
        return {
            getattr(entry, column): self._parties[entry.student]
            for entry in self.students
            for column in FILE_IDS
            if getattr(entry, column)
        }

    @cached_property
    def teams(self) -> Mapping[str, tuple[str, ...]]:
        """The students of each team, in the order of the file."""
        teams: dict[str, tuple[str, ...]] = {}
        for entry in self.students:
            teams[entry.team] = (*teams.get(entry.team, ()), entry.student)
        return {team: members for team, members in teams.items() if team}

    def team_of(self, students: Sequence[str]) -> str:
        """Return the team that consists of these students; empty if none does."""
        return next((team for team, members in self.teams.items() if {*members} == {*students}), "")

    def other_team(self, students: Sequence[str]) -> str:
        """Say who of some students is in a team that consists of others; empty if nobody is."""
        for team, members in self.teams.items():
            if {*members} != {*students} and (both := [name for name in students if name in members]):
                others = "+".join(name for name in members if name not in both)
                return f"{both[0]} is in team {team}" + (f", with {others}" if others else "")
        return ""

    def misspelt_teams(self, students: Collection[str] | None = None) -> Iterator[str]:
        """Yield a line on each team of one whose name is near that of one other team, which has room for it.

        Names with other numbers, and those near to several (`team a`, `team b`), are no slips. Another letter
        in a short name (`bed`, `red`) is none where each of several teams has one student.
        Only teams of `students` are asked about; None stands for all.
        """
        sizes = [*map(len, self.teams.values())]
        largest = max((2, *sizes))
        all_alone = len(sizes) > 2 and max(sizes) == 1
        for team, members in self.teams.items():
            (student, *more) = members
            if more or student == team or (students is not None and student not in students):
                continue
            numbers = _numbers(team)
            candidates = [t for t in self.teams if t != team and _numbers(t) == numbers]
            near = [*_alike(team, candidates)]
            if not near and len(team) >= _SHORTEST and not all_alone:
                near = [t for t in candidates if is_one_slip(team.casefold(), t.casefold())]
            others = self.teams[near[0]] if len(near) == 1 else ()
            is_told = len(others) == 1 and near[0] < team  # as the other team of the pair
            if 0 < len(others) < largest and not is_told:
                yield one_line(
                    f"{self.file}:{self.lines.get(student, 1)}: team {team} has {student} alone, and team "
                    f"{near[0]} has {', '.join(others)}; if they are one team, give them one name"
                )

    def team_objection(self, team: str, assignment: str, at_most: int) -> str:
        """Return a line on a team that is larger than an assignment allows; empty if it is not, or for 0."""
        members = self.teams[team]
        if not 0 < at_most < len(members):
            return ""
        why = f"team {team} has {len(members)} students, and teams of {assignment} have at most {at_most}"
        return one_line(
            f"{self.file}:{self.lines.get(members[0], 1)}: {why}; make smaller teams, or raise team_at_most"
        )

    @cached_property
    def _parties(self) -> Mapping[str, str]:
        """The student or the team as `alice+bob`, by the name of each student and of each team."""
        joined = {team: "+".join(sorted(members)) for team, members in self.teams.items()}
        return joined | {entry.student: joined.get(entry.team, entry.student) for entry in self.students}

    def hands_in_as(self, name: str) -> str:
        """Return whose a submission is that is named after a student or a team: all of the team's.

        `alice+bob` is of the two, unless both are in one team. Capital letters and blanks of a team's name do
        not matter, as in its column.
        """
        if name in self._parties:
            return self._parties[name]
        plain = " ".join(name.split()).casefold()
        for team, members in self.teams.items():
            if team.casefold() == plain:
                return "+".join(sorted(members))
        parties = {self._parties.get(member, "") for member in name.split("+")}
        return parties.pop() or name if len(parties) == 1 else name

    def party(self, name: str) -> str:
        """Return how submissions of a student or a team are named: `alice+bob`, also for the team `red`."""
        members = [entry.student for entry in self.students if entry.team == name]
        on_roster = any(entry.student == name for entry in self.students)
        return "+".join(sorted(name.split("+") if on_roster or not members else members))

    def remark(self, submission: Submission) -> str:
        """Return a warning if the id of a submission is not on the roster; empty otherwise."""
        students_by_id, lms_id = self.by_id, submission.lms_id
        if not students_by_id or lms_id is None or lms_id in students_by_id:
            return ""
        message = (
            f"{submission.archive}: id {lms_id} is not on the roster ({self.file}), so the student is called "
            f"{submission.student}; add the id there, or give --student NAME"
        )
        return one_line(message)

    def other_teams(self, submission: Submission) -> str:
        """Return a warning if those who hand in together are no team of the roster; empty otherwise."""
        students = submission.students
        if len(students) < 2 or not self.teams or self.team_of(students):
            return ""
        objection, advice = self.other_team(students), ""
        if not objection and {*students} <= {entry.student for entry in self.students}:
            objection = f"{' and '.join(students)} are in no team"
            advice = "; otherwise give them a team there"
        if not objection:  # of who is not on the roster another line is printed
            return ""
        return one_line(
            f"{submission.archive}: is graded as of {submission.student}, and by the roster ({self.file}) "
            f"{objection}; if the name is a slip, correct it and grade again{advice}"
        )

    def same_files(self, submissions: Iterable[Submission]) -> list[tuple[Submission, ...]]:
        """Group submissions of one assignment with the same accepted files, of students who are no team.

        Of uploads of one student, or of one team of the roster, the first stands for all.
        """
        by_digest: dict[str, list[Submission]] = {}
        for submission in sorted(submissions, key=lambda each: each.student):
            alike = by_digest.setdefault(submission.digest, [])
            party = self._with_team(submission)
            if submission.files and not any(party & self._with_team(other) for other in alike):
                alike.append(submission)
        return [tuple(alike) for alike in by_digest.values() if len(alike) > 1]

    def _with_team(self, submission: Submission) -> set[str]:
        """Return the students of a submission, and all of their teams on the roster."""
        return {name for student in submission.students for name in self.hands_in_as(student).split("+")} | {
            *submission.students
        }

    def stranger(self, submission: Submission) -> str:
        """Return a warning if a submission was named by hand after somebody not on it; empty otherwise."""
        on_roster = [entry.student for entry in self.students]
        strangers = [student for student in submission.students if student not in on_roster]
        if not on_roster or not strangers or submission.lms_id is not None:
            return ""
        names = ", ".join(with_likeness(student, on_roster) for student in strangers)
        are = "is" if len(strangers) == 1 else "are"
        message = (
            f"{submission.archive}: {names} {are} not on the roster ({self.file}), so the grade is nobody's "
            "there; correct the name, or add it there"
        )
        return one_line(message)

    def reconciled(self, students: Collection[str], ungraded: Collection[str] = ()) -> Iterator[str]:
        """Yield lines that name students without a submission and, if there is a roster, those not on it.

        `ungraded` handed something in that was not graded: nobody may take it for nothing.
        """
        if not self.students:
            return
        on_roster = [entry.student for entry in self.students]
        without_grade = [student for student in on_roster if student not in students]
        absent = [student for student in without_grade if student not in ungraded]
        refused = [student for student in without_grade if student in ungraded]
        strangers = sorted({*students, *ungraded}.difference(on_roster))
        if refused:
            yield (
                f"{self.file}: {_so_many(refused)} whose submission was not graded, as told above: "
                f"{', '.join(refused)}"
            )
        if absent:
            yield f"{self.file}: {_so_many(absent)} without a submission in this run: {', '.join(absent)}"
        if strangers:
            teams = [team for team, members in self.teams.items() if {*members} <= {*absent}]
            names = ", ".join(with_likeness(student, absent, teams) for student in strangers)
            yield f"{self.file}: {_so_many(strangers)} not on it: {names}"
        yield from self.misspelt_teams({*students, *ungraded})


def _so_many(students: Sequence[str]) -> str:
    return f"{len(students)} student{'' if len(students) == 1 else 's'}"


def with_likeness(stranger: str, absent: Sequence[str], teams: Sequence[str] = ()) -> str:
    """Return a name, with the most similar students or teams of those that handed nothing in."""
    words = {team: f"team {team}" for team in teams} | {student: student for student in absent}
    alike = _alike(stranger, words)
    near = [words[other] for other, similarity in alike.items() if similarity == max(alike.values())]
    return f"{stranger} (is {' or '.join(near)} meant?)" if 0 < len(near) <= _EQUALLY_ALIKE else stranger


def _alike(name: str, others: Iterable[str]) -> dict[str, float]:
    """Return the similarity of those names that are alike, whatever the case.

    Two neighbours that changed places are one slip, of which the ratio of a short name makes two.
    """
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(b=name.casefold())
    alike = {}
    for other in others:
        matcher.set_seq1(other.casefold())
        if matcher.real_quick_ratio() < _ALIKE or matcher.quick_ratio() < _ALIKE:  # upper bounds
            continue
        similarity = matcher.ratio()
        if are_exchanged(name.casefold(), other.casefold()):
            similarity = max(similarity, _ALIKE)
        if similarity >= _ALIKE:
            alike[other] = similarity
    return alike


def are_exchanged(one: str, other: str) -> bool:
    """Tell whether two names differ by two neighbours that changed places, and nothing else."""
    differing = [place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]]
    if len(one) != len(other) or len(differing) != 2:
        return False
    first, last = differing
    return last == first + 1 and one[first] + one[last] == other[last] + other[first]


def is_one_slip(one: str, other: str) -> bool:
    """Tell whether two names differ by one letter (wrong, missing or added), or two that changed places."""
    shorter, longer = sorted((one, other), key=len)
    if len(longer) > len(shorter):
        return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))
    return sum(map(str.__ne__, one, other)) == 1 or are_exchanged(one, other)


def _numbers(name: str) -> list[str]:
    return re.findall(r"\d+", name)
