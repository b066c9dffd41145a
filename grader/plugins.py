"""The only module that asks hooks: discovery, typed answers, collisions."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, fields
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pluggy

from grader import api, hookspecs
from grader.config.problem import import_error, place_of, suggestion
from grader.contracts.check import CheckKind, DeferredKind
from grader.contracts.fulfilled import fulfilling, full_name
from grader.coursecode import PACKAGE, course_module, place_in_course, writing_no_bytecode
from grader.coursesyntax import joined_texts
from grader.errors import CourseError, GraderError
from grader.files import show_path
from grader.harness.guarded_kind import guarded
from grader.installed import error_of_import, installed_plugins
from grader.markers import PROJECT

if TYPE_CHECKING:
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

_UNKNOWN_ARGUMENTS = re.compile(r"^Argument\(s\) \{(.*)\} are declared")
"""What pluggy says of a hook with further parameters."""
BUILTIN = (
    "grader.checks.builtin",
    "grader.reports.builtin",
    "grader.engines.builtin",
    "grader.sandbox.builtin",
    "grader.lms.builtin",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A loaded plugin."""

    name: str
    where: str
    hooks: tuple[str, ...]


class Plugins:
    """Built-ins, installed plugins and the course's own, behind typed questions."""

    def __init__(self, course: Path | None = None) -> None:
        """Load all of them; `course` is a course's folder.

        Raises:
            CourseError: a plugin cannot be imported, or names a hook that does not exist.
        """
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(hookspecs)
        self._folders: dict[str, Path] = {}
        self._telling = threading.RLock()  # whoever listens need not know that runs go on side by side
        for name in BUILTIN:
            self._register(import_module(name), name)
        for name, load in installed_plugins():
            self._load(name, load, f"plugin {name}")
        for file in sorted(course.glob("assignments/*/assignment.py")) if course else ():
            name = file.parent.name
            self._folders[name] = file.parent
            self._load(f"{PACKAGE}.{name}", partial(course_module, file), show_path(file))
        if problems := [
            problem for plugin in self._manager.get_plugins() for problem in hookspecs.uncalled(plugin)
        ]:
            raise CourseError(*problems)
        try:
            self._manager.check_pending()
        except pluggy.PluginValidationError as error:
            raise CourseError(f"plugin {error}") from None

    def _load(self, name: str, load: Callable[[], object], where: str) -> None:
        try:
            self._register(load(), name)
        except GraderError:
            raise
        except pluggy.PluginValidationError as error:
            why = str(error).splitlines()[-1].strip()
            if declared := _UNKNOWN_ARGUMENTS.search(why):
                why = f"a hook has the argument {declared[1]}, which nothing gives it; take it out"
            raise CourseError(f"{where}: {why}") from None
        except (Exception, SystemExit) as error:
            raise import_error(error, where, self._folders.get(name.partition(".")[2])) from None

    def _register(self, plugin: object, name: str) -> None:
        self._manager.register(plugin, name)

    def listen(self, plugin: object) -> None:
        """Register an object for the hooks that it implements."""
        self._register(plugin, f"{type(plugin).__module__}.{type(plugin).__qualname__}")

    @cached_property
    def assignments(self) -> Mapping[str, Assignment]:
        """All assignments, by name."""
        declared = self._registry("grader_assignments", _assignment)
        if problems := [*self._misnamed(declared)]:
            raise CourseError(*problems)
        return declared

    def _misnamed(self, declared: Mapping[str, Assignment]) -> Iterator[str]:
        """Yield the assignments that have another name than the folder that declares them."""
        for implementation in self._manager.hook.grader_assignments.get_hookimpls():
            package, _, folder = implementation.plugin_name.partition(".")
            if package != PACKAGE or folder in declared:
                continue
            answers: Any = implementation.function() or ()
            if names := [answer.name for answer in answers]:
                place = place_of(implementation.function)
                yield f'{place}: name: must be the folder\'s; write name="{folder}" in place of "{names[0]}"'

    @cached_property
    def assignment_folders(self) -> Mapping[str, Path]:
        """Where each assignment's `inputs.py`, `expected.py` and reference are."""
        return {name: self._folders[name] for name in self.assignments if name in self._folders}

    @cached_property
    def checks(self) -> Mapping[str, CheckKind]:
        """All kinds of checks, by the name that rubrics use; deferred ones are imported when asked for."""
        return Kinds(self._registry("grader_checks", _kind))

    @cached_property
    def reports(self) -> Mapping[str, Report]:
        """All report formats."""
        from grader.contracts.report import Report

        reports = self._instances("grader_reports", Report)
        writes: dict[str, str] = {}
        for name, report in reports.items():
            if (other := writes.setdefault(report.filename, name)) != name:
                raise CourseError(
                    f"report {name}: filename: {other} already writes {report.filename}; name another file"
                )
        return reports

    @cached_property
    def engines(self) -> Mapping[str, Engine]:
        """All engines, by the name that `--engine` takes."""
        from grader.contracts.engine import Engine

        return self._instances("grader_engines", Engine)

    @cached_property
    def sandboxes(self) -> tuple[Sandbox, ...]:
        """All sandboxes, the strongest first."""
        from grader.contracts.sandbox import Sandbox

        sandboxes = self._instances("grader_sandboxes", Sandbox).values()
        return tuple(sorted(sandboxes, key=lambda sandbox: -sandbox.strength))

    @cached_property
    def exporters(self) -> Mapping[str, Worksheet | ResultsFile]:
        """All exporters for learning platforms, by the name that `grader export` uses."""
        from grader.contracts.exporter import ResultsFile, Worksheet

        return self._instances("grader_lms", Worksheet, ResultsFile)

    @cached_property
    def platforms(self) -> Mapping[str, type[Platform]]:
        """All platforms to post to, by the name that `grader post` uses; `connect` makes instances."""
        from grader.contracts.platform import Platform

        return self._registry("grader_platforms", lambda answer: _brought(answer, Platform))

    def run_started(self, submission: Submission, total: int) -> None:
        """Tell that `total` items are going to be observed."""
        with self._telling:
            self._manager.hook.grader_run_started(submission=submission, total=total)

    def observed(self, observation: Observation, title: str) -> None:
        """Tell of one more observation."""
        with self._telling:
            self._manager.hook.grader_observed(observation=observation, title=title)

    def waits(self, submission: Submission, message: str) -> None:
        """Tell what the observation of a submission waits for."""
        with self._telling:
            self._manager.hook.grader_waits(submission=submission, message=message)

    def queue_status(self, message: str) -> None:
        """Tell how all orders stand."""
        with self._telling:
            self._manager.hook.grader_queue_status(message=message)

    def graded(self, submission: Submission, evidence: Evidence, scorecard: Scorecard) -> None:
        """Tell of a mark."""
        with self._telling:
            self._manager.hook.grader_graded(submission=submission, evidence=evidence, scorecard=scorecard)

    def loaded(self) -> tuple[Plugin, ...]:
        """Return all plugins, in the order of discovery."""
        return tuple(
            Plugin(
                name=name,
                where=getattr(plugin, "__file__", None) or type(plugin).__module__,
                hooks=tuple(sorted(caller.name for caller in self._manager.get_hookcallers(plugin) or ())),
            )
            for name, plugin in self._manager.list_name_plugin()
            if plugin is not None
        )

    def _instances(self, hook: str, *contracts: type) -> Mapping[str, Any]:
        """Make one of each class that plugins bring."""
        return self._registry(hook, lambda answer: _brought(answer, *contracts)())

    def _registry(self, hook: str, take: Callable[[object], Any]) -> Mapping[str, Any]:
        """Collect the answers of every plugin, as they are taken, by name.

        Raises:
            PackageError: a plugin of the course imports what is not installed here.
            CourseError: a plugin fails or its answer is not taken, or two answers have one name.
        """
        answers_by_name: dict[str, Any] = {}
        brought_by: dict[str, str] = {}
        caller: pluggy.HookCaller = getattr(self._manager.hook, hook)
        for implementation in caller.get_hookimpls():
            plugin = implementation.plugin_name
            try:
                answers: Any = implementation.function() or ()
                named = [(answer.name, answer) for answer in map(take, _listed(answers))]
            except CourseError as error:
                raise CourseError(f"{_hook_place(implementation)}: {error}") from None
            except (Exception, SystemExit) as error:
                raise self._failed(implementation, error) from None
            for name, answer in named:
                if name in answers_by_name:
                    other = brought_by[name]
                    problem = (
                        f"gives {name!r} twice; leave one out, or rename it"
                        if other == plugin
                        else f"{self._brings(other)} already brings {name!r}; rename one"
                    )
                    raise CourseError(f"{_hook_place(implementation)}: {problem}")
                answers_by_name[name], brought_by[name] = answer, plugin
        return answers_by_name

    def _brings(self, plugin: str) -> str:
        """Return the file of a course that is a plugin, or the plugin's name."""
        folder = self._folders.get(plugin.partition(".")[2]) if plugin.startswith(f"{PACKAGE}.") else None
        return show_path(folder / "assignment.py") if folder else plugin

    def _failed(self, implementation: pluggy.HookImpl, error: BaseException) -> GraderError:
        """Return the error of a hook: with file and line in a course, or the plugin and the hook."""
        from grader.model.assignment import SingleTextError

        name = implementation.plugin_name
        folder = self._folders.get(name.partition(".")[2]) if name.startswith(f"{PACKAGE}.") else None
        where = f"plugin {name}: {implementation.function.__name__}"
        if folder is None:
            return CourseError(f"{where}: {_problem(error)}")
        if isinstance(error, ImportError | SyntaxError):
            return import_error(error, where, folder)
        place = place_in_course(error)
        if isinstance(error, SingleTextError):
            joined = joined_texts(place[0]) if place else ()
            parts = next((parts for _, parts in joined if "".join(parts) == error.text), ())
            error = ValueError(error.with_parts(parts) if parts else str(error))
        return CourseError(f"{f'{show_path(place[0])}:{place[1]}' if place else where}: {_problem(error)}")


class Kinds(Mapping[str, CheckKind]):
    """Check kinds by name, each imported at the latest when it is asked for."""

    def __init__(self, answers: Mapping[str, CheckKind | DeferredKind]) -> None:
        self._answers = dict(answers)

    def __getitem__(self, name: str) -> CheckKind:
        """Return one kind.

        Raises:
            KeyError: there is none of this name.
            PackageError: its module imports what is not installed here.
            CourseError: its module cannot be imported, or its class is no kind of this name.
        """
        answer = self._answers[name]
        if isinstance(answer, DeferredKind):
            answer = self._answers[name] = _imported(answer)
        return answer

    def __contains__(self, name: object) -> bool:
        """Tell whether there is a kind of this name, and import nothing."""
        return name in self._answers

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)


def _kind(answer: object) -> CheckKind | DeferredKind:
    if isinstance(answer, DeferredKind):
        return answer
    kind: CheckKind = _brought(answer, CheckKind)()
    return guarded(kind)


def _brought(answer: object, *contracts: type) -> type:
    """Return the class that a plugin brings, if it fulfils one of these contracts and its keys can be read.

    Raises:
        CourseError: it does not.
    """
    brought: Any = fulfilling(answer, *contracts)
    if any("Options" in contract.__annotations__ for contract in contracts):
        from grader.config.rubric_keys import options_objection

        if message := options_objection(brought.Options):
            raise CourseError(f"{full_name(brought)}.Options{message}")
    return cast(type, brought)


def _imported(deferred: DeferredKind) -> CheckKind:
    module, _, name = deferred.place.partition(":")
    in_course = module.startswith(f"{PACKAGE}.")
    try:
        with writing_no_bytecode() if in_course else nullcontext():
            kind: CheckKind = _brought(getattr(import_module(module), name), CheckKind)()
    except CourseError as error:
        raise CourseError(f"check kind {deferred.name}: {error}") from None
    except (Exception, SystemExit) as error:
        problem = f"{type(error).__name__}: {error}"
        place = place_in_course(error)
        where = f"{show_path(place[0])}:{place[1]}" if place else deferred.place
        if place and (missing := error_of_import(error, where, place[0].parent, place[0])):
            raise missing from None
        raise CourseError(f"check kind {deferred.name}: {where}: {problem}") from None
    if kind.name != deferred.name:
        raise CourseError(f"check kind {deferred.name}: {deferred.place} is called {kind.name}; write that")
    return guarded(kind)


def _listed(answers: object) -> list[object]:
    """Return what a hook returns or yields as a list.

    Raises:
        CourseError: it is a single answer, as an Assignment or a class, or a list in a list.
    """
    if not isinstance(answers, Iterable) or isinstance(answers, type | str | bytes):
        answer = answers.__name__ if isinstance(answers, type) else f"{type(answers).__name__}(…)"
        raise CourseError(f"must return a list; write return [{answer}]")
    listed = [*answers]
    if any(isinstance(answer, list | tuple) for answer in listed):
        raise CourseError("gives a list in a list; return the list itself, or yield its entries one by one")
    return listed


def _hook_place(implementation: pluggy.HookImpl) -> str:
    """Return file and line of a course's hook, or the plugin, and the hook's name."""
    name, function = implementation.plugin_name, implementation.function
    where = place_of(function) if name.startswith(f"{PACKAGE}.") else f"plugin {name}"
    return f"{where}: {function.__name__}"


def _problem(error: BaseException) -> str:
    """Describe an exception of a plugin; one of our own classes' about an argument names the nearest one."""
    if unknown := re.fullmatch(r"(\w+)\.__init__\(\) got an unexpected keyword argument '(\w+)'", str(error)):
        name, argument = unknown.groups()
        declared = getattr(api, name, None)
        if declared is not None:
            names = [field.name for field in fields(declared)]
            return f"{name} has no {argument}; {suggestion(argument, names)}"
    return str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"


def _assignment(answer: object) -> Assignment:
    """Return the answer if it is an assignment.

    Raises:
        CourseError: it is none.
    """
    from grader.model.assignment import Assignment

    if not isinstance(answer, Assignment):
        answered = full_name(answer) if isinstance(answer, type) else f"an object of {type(answer).__name__}"
        raise CourseError(f"gives {answered}; give objects of grader.api.Assignment")
    return answer
