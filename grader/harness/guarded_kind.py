"""Check kinds of a course or a plugin, whose methods get a limit of time and whose mistakes get a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from math import inf
from pathlib import Path
from typing import Any

import msgspec

from grader.contracts.check import CheckKind
from grader.coursecode import PACKAGE, deepest_place
from grader.errors import CourseError, GraderError
from grader.files import show_path
from grader.machine.time_limit import FUNCTION_CPU_S, TimeIsUpError, time_limit
from grader.model.drawing import Drawing
from grader.model.observation import Observation
from grader.model.score import Award, award_objection
from grader.text import one_line

OBSERVE_CPU_S = 600.0
"""CPU seconds of one `observe`, the time of programs not included."""
_OURS = "grader"


def guarded(kind: CheckKind) -> CheckKind:
    """Return a kind whose `observe`, `award` and `show` end in time; one of our own is returned as it is.

    Their `CourseError` names file and line, also where `award` returns no award. Exceptions of `observe` and
    `award` pass, those of what draws are errors of that kind.
    """
    if _package(kind) == _OURS:
        return kind
    for name, limit_s in {"observe": OBSERVE_CPU_S, "award": FUNCTION_CPU_S}.items():
        _replace(kind, name, _limited(kind, name, getattr(kind, name), limit_s))
    _replace(kind, "award", _awarding(kind, kind.award))
    for name in ("show", "show_beside"):
        drawn = _limited(kind, name, _listed(getattr(kind, name)), FUNCTION_CPU_S)
        _replace(kind, name, _drawing(kind, name, drawn))
    return kind


def _package(kind: CheckKind) -> str:
    return type(kind).__module__.partition(".")[0]


def _limited(kind: CheckKind, name: str, method: Callable[..., Any], cpu_s: float) -> Callable[..., Any]:
    packages = {_package(kind)}
    observes = name == "observe"  # it waits for programs, which have limits of their own

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            with time_limit(cpu_s, wall_s=inf if observes else None, packages=packages, tells=not observes):
                return method(*args, **kwargs)
        except TimeIsUpError as error:
            message = f"has not ended after {cpu_s:g} s of CPU time; make it shorter, or end its loop"
            raise CourseError(f"{_place(kind, name, error.place)}: {message}") from None

    return call


def _listed(method: Callable[..., Iterable[Any]]) -> Callable[..., tuple[Drawing, ...]]:
    """Return a method that draws at once what another one yields, and refuses what no report can render."""

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> tuple[Drawing, ...]:
        drawn = method(*args, **kwargs)
        if isinstance(drawn, str | Drawing) or not isinstance(drawn, Iterable):
            raise TypeError(f"must give a list of drawings, got {_brief(drawn)}")
        return tuple(map(_checked, tuple(drawn)))  # an endless generator is at one of its lines

    return call


def _checked(drawing: Any) -> Drawing:
    if not isinstance(drawing, Drawing):
        raise TypeError(f"must give drawings, such as a Paragraph, got {_brief(drawing)}")
    try:
        msgspec.convert(msgspec.to_builtins(drawing), type(drawing))
    except msgspec.ValidationError as error:
        raise TypeError(str(error).replace("$", type(drawing).__name__)) from None
    return drawing


def _brief(value: Any) -> str:
    return one_line(repr(value), 60)


def _awarding(kind: CheckKind, method: Callable[..., Award]) -> Callable[..., Award]:
    @wraps(method)
    def call(options: Any, observation: Observation, related: Mapping[str, Observation]) -> Award:
        award = method(options, observation, related)
        if wrong := award_objection(award):
            problem = f"{wrong} for item {observation.item}; {_remedy(kind)}"
            raise CourseError(f"{_place(kind, 'award', None)}: {problem}")
        return award

    return call


def _drawing(kind: CheckKind, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except GraderError:
            raise
        except Exception as error:
            place = deepest_place(error, {_package(kind)})
            problem = f"cannot draw this: {type(error).__name__}: {error}; {_remedy(kind)}"
            raise CourseError(f"{_place(kind, name, place)}: {problem}") from None

    return call


def _place(kind: CheckKind, name: str, place: tuple[Any, int, str] | None) -> str:
    code = getattr(getattr(type(kind), name), "__code__", None)
    file, line = place[:2] if place else (code.co_filename, code.co_firstlineno) if code else ("", 0)
    return f"{show_path(Path(file))}:{line}: check kind {kind.name}: {name}"


def _remedy(kind: CheckKind) -> str:
    in_course = type(kind).__module__.startswith(f"{PACKAGE}.")
    return "correct the file" if in_course else "tell its author, or uninstall the plugin"


def _replace(kind: CheckKind, name: str, method: Callable[..., Any]) -> None:
    object.__setattr__(kind, name, method)  # a kind may be a frozen dataclass
