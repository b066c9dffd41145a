"""Typed examples of the public names: mypy checks them, nothing runs them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self, assert_type

from grader.api import Assignment, InputCase, Limits, case, hookimpl
from grader.api.check import (
    Award,
    Call,
    Case,
    CheckContext,
    CheckKind,
    FunctionName,
    Observation,
    Outcome,
    RanksOrder,
    option,
)
from grader.api.engine import (
    Ended,
    Engine,
    EngineSettings,
    Event,
    Order,
    QueueStatus,
    Records,
    Session,
    Waits,
)
from grader.api.exporter import FilledSheet, Grade, ResultsFile, Roster, Rules, Worksheet
from grader.api.platform import Change, Platform, PlatformGrade, PlatformOptions, Receipt, Target
from grader.api.report import AudienceView, Report
from grader.api.sandbox import Promise, Sandbox


def family() -> Iterator[InputCase]:
    """Give cases as `inputs.py` does."""
    yield assert_type(case("two numbers", 1, 2, scale=3.0), InputCase)


class Kind(CheckKind):
    """A kind with all that is declared."""

    name = "kind"
    timed = True
    by_hand = True
    related_optional = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("A function.")
        cores: int = option("How many cores.", default=1)

    def simulates(self, options: Options) -> bool:
        """Tell whether a simulator would do."""
        return not options.of

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Use each part of a context."""
        assert_type(context.limits, Limits)
        assert_type(context.read("work.py"), bytes)
        launched = context.ranks(RanksOrder(file="main.py", processes=2, within_s=9.0, blocked_s=1.0))
        assert_type(launched.call, Call)
        with context.subject("work", cores=options.cores) as subject:
            (first, *_) = context.inputs("family")
            call = assert_type(subject.call("f", first), Call)
        return Observation(item=context.item, outcome=Outcome(call.outcome), seed=context.seed)

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """Judge the cases."""
        assert_type(observation.cases, tuple[Case, ...])
        return Award(fraction=1.0, reason=f"{options.of} beside {len(related)}")


class File(Report):
    """A report."""

    name = "file"
    filename = "file.txt"

    def render(self, view: AudienceView) -> str:
        """Return the student's name."""
        return f"{view.scorecard.student}\n"


def told(event: Event) -> str:
    """Tell every event of an engine from the others."""
    if isinstance(event, Waits):
        return assert_type(event.message, str)
    if isinstance(event, Records):
        return assert_type(event.lines, tuple[bytes, ...])[0].decode()
    if isinstance(event, QueueStatus):
        return assert_type(event.message, str)
    return assert_type(event, Ended).problem


class Elsewhere(Engine):
    """An engine."""

    name = "elsewhere"

    def open(self, settings: EngineSettings) -> AbstractContextManager[Session]:
        """Use the settings."""
        raise NotImplementedError(settings.at_once)


def queue(session: Session, order: Order) -> Event | None:
    """Use a session."""
    if session.wants():
        session.submit(order)
    return session.event()


class Wall(Sandbox):
    """A sandbox, without its methods."""

    name = "wall"
    strength = 1
    promises = frozenset({Promise.NO_NETWORK})


class Post(Platform):
    """A platform."""

    name = "post"
    title = "Post"
    Options = PlatformOptions

    @classmethod
    def connect(cls, options: PlatformOptions, assignment: str, token: str) -> Self:
        """Return an assignment."""
        raise NotImplementedError(options.assignments[assignment], token)

    def target(self) -> Target:
        """Describe it."""
        return Target(key="post 1", title="HW1", possible=Decimal(10))

    def grades(self) -> tuple[PlatformGrade, ...]:
        """Return nobody."""
        return ()

    def apply(self, changes: Iterable[Change]) -> Iterator[Receipt]:
        """Refuse all."""
        return (Receipt.refused(change, "closed") for change in changes)


class Sheet(Worksheet):
    """A table."""

    name = "sheet"
    file = "the table"

    def fill(
        self, content: bytes, where: str, grades: Mapping[str, Grade], roster: Roster, rules: Rules
    ) -> FilledSheet:
        """Return it as it was."""
        return FilledSheet(text=content.decode(), results=())


class StudentFile(ResultsFile):
    """A file for each student."""

    name = "file"
    filename = "file.json"

    def render(self, view: AudienceView, rules: Rules) -> str:
        """Return nothing."""
        return "{}"


@hookimpl
def grader_assignments() -> list[Assignment]:
    """Bring an assignment."""
    return [Assignment(name="hw1", title="Homework 1", accepts=("work.py",), limits=Limits(call_wall_s=5.0))]


REGISTERED: tuple[type[Any], ...] = (Kind, File, Elsewhere, Wall, Post, Sheet, StudentFile)
