"""Calls into a program: the arguments, and the outcome with its value and its times."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.model.observation import Outcome, Symptom
from grader.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class InputCase:
    """One set of arguments, made by `grader.api.case`.

    A function among them stays outside: the student's process gets a proxy that asks for its values over the
    pipes. Its arguments and values are plain JSON of at most 4 kB. It answers from a fork of the worker that
    lasts for one call: what it notes is there in the next question, and not in the next call.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)


Request = tuple[str, InputCase]
"""A call of a function of the imported file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaqueValue:
    """A value of a type that does not cross the wire; only its type's name did."""

    type_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The outcome of one call into the student's program."""

    outcome: Outcome
    """`observed` if it returned; then `value` is its result."""
    value: Any = None
    """None, bool, int, float, complex, str, list, tuple, dict with str keys, numpy.ndarray or numpy scalar,
    all of exactly these types, or `OpaqueValue`."""
    note: str = ""
    """How it ended if not by returning: one sentence with the exception's text."""
    symptom: Symptom | None = None
    """The form of that end, as a device's error names it."""
    traceback: str = ""
    """The student's own frames, shortened."""
    changed_inputs: tuple[str, ...] = ()
    """Arguments that were changed in place: `argument 1`, or a keyword's name."""
    wall_s: float = 0.0
    """By the worker's clock: from *continue and call* until everything in the sandbox stood still and, with
    devices, the result was copied."""
    freeze_s: float = 0.0
    """The part of `wall_s` after *done*: the most that a late thread, or a late kernel, could use."""
    cpu_s: float | None = None
    """CPU time of all of the program's processes in the call, read by pid 1; None where the kernel does not
    tell, or where it ended."""
    trace: Trace | None = None
    """Its work on its devices, if the subject is observed or the call has a proof."""
    launches_asked: int = 0
    """Times the program asked the worker what to do at a launch; student code can ask that, too."""
    missing_file: str = ""
    """The file that the course's code asked for, that the assignment accepts, and that nobody handed in."""
    missing_name: str = ""
    """The name, as `norm.LayerNorm`, that the course's code asked a file of the submission for in vain."""
    requests: tuple[Request, ...] = field(default=(), compare=False, repr=False)
    """All calls of its process up to this one, by which the reference is asked for a wrong result; this one
    alone where they take too much memory to keep, and none after too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """The outcome of several calls in a row."""

    calls: tuple[Call, ...]
    """One for each case, in their order, up to the first that did not return."""
    again: tuple[Call, ...] = ()
    """Transfers of the last result, timed right behind the calls; empty if a call did not return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The outcome of running a program."""

    call: Call
    """Its value is the exit status, if the program ended by itself without an exception."""
    output: str
    """Its printed text, head and tail."""


Replayed = Generator[tuple[Call, Call], None, None]
"""Calls of the submission, each with that of the reference in its place."""
