"""Every hook: what is asked, when, who is asked, and what None, exceptions and two answers mean.

Registries are asked at most once per process, and only when somebody first needs what they hold. Moments are
told as they happen, one at a time, from whatever thread. Nothing here can change points.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from grader.config.problem import place_of, suggestion
from grader.markers import PROJECT, hookspec

if TYPE_CHECKING:
    from grader.contracts.check import CheckKind, DeferredKind
    from grader.contracts.engine import Engine
    from grader.contracts.exporter import ResultsFile, Worksheet
    from grader.contracts.platform import Platform
    from grader.contracts.report import Report
    from grader.contracts.sandbox import Sandbox
    from grader.model.assignment import Assignment
    from grader.model.evidence import Evidence
    from grader.model.observation import Observation
    from grader.model.score import Scorecard
    from grader.model.submission import Submission

PREFIX = "grader_"
"""Begins the name of every hook."""


@hookspec
def grader_assignments() -> Iterable[Assignment] | None:
    """The assignments you bring.

    When: once, before the first archive is opened or the first rubric is read.
    Who: `assignments/<name>/assignment.py` of the course; an installed plugin may answer, too.
    Answers: an empty list or None brings nothing. An exception ends the run and names the plugin.
    Two of one name end it as well, and both are named.
    """


@hookspec
def grader_checks() -> Iterable[type[CheckKind] | DeferredKind] | None:
    """The kinds of checks you bring: classes, or names of classes that are imported when a rubric asks.

    When: once, before the first rubric is read; in the worker again, before the first item is observed.
    Who: the built-in kinds, installed plugins, and the `assignment.py` of a course.
    Answers: an empty list or None brings nothing. An exception ends the run and names the plugin.
    Two of one name end it as well, and both are named.
    """


@hookspec
def grader_reports() -> Iterable[type[Report]] | None:
    """The report formats you bring, as classes.

    When: once, after the first submission was scored.
    Who: the built-in formats, installed plugins, and the `assignment.py` of a course.
    Answers: an empty list or None brings nothing. An exception ends the run and names the plugin.
    Two of one name end it as well, and both are named.
    """


@hookspec
def grader_engines() -> Iterable[type[Engine]] | None:
    """The ways you know to get workers run, as classes.

    When: once, before the first submission is opened.
    Who: the built-in `local`, `ray` and `slurm`, installed plugins, and the `assignment.py` of a course;
    `--engine` names the one in use.
    Answers: an empty list or None brings nothing. An exception ends the run and names the plugin.
    Two of one name end it as well, and both are named.
    """


@hookspec
def grader_sandboxes() -> Iterable[type[Sandbox]] | None:
    """The sandboxes you know to put a subject server into, as classes.

    When: in the worker, once, before it starts the first server.
    Who: the built-in layers, installed plugins, and the `assignment.py` of a course. The strongest that
    works on the machine is taken.
    Answers: an empty list or None brings nothing. An exception ends the run and names the plugin.
    Two of one name end it as well, and both are named.
    """


@hookspec
def grader_lms() -> Iterable[type[Worksheet] | type[ResultsFile]] | None:
    """The exporters for learning platforms that you bring, as classes.

    When: once, before the first grade is exported, and when `grader export` lists what there is.
    Who: the built-in exporters, installed plugins, and the `assignment.py` of a course.
    Answers: an empty list or None brings nothing. An exception ends the export and names the plugin.
    Two of one name end it as well, and both are named.
    """


@hookspec
def grader_platforms() -> Iterable[type[Platform]] | None:
    """The learning platforms to post to that you bring, as classes.

    When: once, before `course.yaml` is read if it has a key of a platform, and when `grader post` lists them.
    Who: the built-in platforms, installed plugins, and the `assignment.py` of a course.
    Answers: an empty list or None brings nothing. An exception ends the posting and names the plugin.
    Two of one name end it as well, and both are named.
    """


@hookspec
def grader_run_started(submission: Submission, total: int) -> None:
    """A run is about to begin; `total` items are going to be observed.

    When: on the host, before the worker is started.
    Who: progress displays, logs.
    Answers: none are expected; all are called. An exception ends the run, and a line names it.
    """


@hookspec
def grader_observed(observation: Observation, title: str) -> None:
    """An item of this title was observed.

    When: on the host, while the worker goes on, in the order of the evidence.
    Who: progress displays, logs.
    Answers: none are expected; all are called. An exception ends the run, and a line names it.
    """


@hookspec
def grader_waits(submission: Submission, message: str) -> None:
    """The observation of a submission waits: for cores or GPUs that others have, or in a queue.

    When: on the host, each time an engine says so.
    Who: progress displays, logs.
    Answers: none are expected; all are called. An exception ends the run, and a line names it.
    """


@hookspec
def grader_queue_status(message: str) -> None:
    """The orders of a run stand so: how many run on which machines, and what the others wait for.

    When: on the host, each time an engine whose workers run on other machines says so.
    Who: progress displays, logs.
    Answers: none are expected; all are called. An exception ends the run, and a line names it.
    """


@hookspec
def grader_graded(submission: Submission, evidence: Evidence, scorecard: Scorecard) -> None:
    """A submission was scored and its reports are written.

    When: on the host, once per submission that was accepted.
    Who: whatever wants to hear of a grade; it cannot change it any more.
    Answers: none are expected; all are called. An exception ends the run, and a line names it.
    """


def uncalled(plugin: object) -> Iterator[str]:
    """Yield what of a module nobody would ever call: misspelt hooks, and hooks without their marker."""
    if not isinstance(plugin, ModuleType):
        return
    names = {name for name in globals() if name.startswith(PREFIX)}
    for name, function in vars(plugin).items():
        code = getattr(function, "__code__", None)
        if not name.startswith(PREFIX) or code is None or code.co_filename != plugin.__file__:
            continue
        place = place_of(function)
        if name not in names:
            yield f"{place}: no hook is called {name}; {suggestion(name, names)}"
        elif not hasattr(function, f"{PROJECT}_impl"):
            yield f"{place}: {name} is never called; write @hookimpl above it (from grader.api)"
