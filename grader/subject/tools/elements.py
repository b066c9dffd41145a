"""Follows a function of a Python file over arrays that give single elements only; runs none of its code."""

from __future__ import annotations

import ast
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from ..interpreter.elements import MachineNumbers, new_contents, plain, wrapped
from ..interpreter.frames import Function
from ..interpreter.program import Program
from ..interpreter.refusals import NotFollowed, NotWritten, Refused, Unknown
from ..interpreter.statements import EnoughError
from .source import of_python_2

DEPTH = 6000
SHOWN = 10
TEXT = 300
RESULT_NODES = 50_000
RESULT_BYTES = 2**24
RESULT_DEPTH = 16
BEGIN_S = 0.2
"""How long the beginning of a large call is followed: some thousand elements."""
_CORES = max(2, os.cpu_count() or 1)
_MACHINES = (
    MachineNumbers(cores=1, threads=1, unwritten=1),
    MachineNumbers(cores=_CORES, threads=1, unwritten=1),
    MachineNumbers(cores=_CORES, threads=_CORES, unwritten=0),
)
"""Where new memory is written as 1 it holds a number that is drawn."""
DRAWS = 16
"""So often that number is drawn again before it is taken for read: a byte may be stored that is the same."""
_NOT_WRITTEN = "not written"
_COMPUTES = (ast.BinOp, ast.BoolOp, ast.Compare, ast.Call, ast.AugAssign)


def main(
    file: str, function: str, cases: Sequence[Sequence[Any]], compiled: bool, large: Sequence[Any] = ()
) -> dict[str, Any]:
    """Return what the function gives for each case, with small arrays as arguments.

    `large` are the shapes and types of the arrays of a case that is followed for its first steps alone: what
    is refused there counts, and nothing else. With `compiled` elements may be touched only in functions that
    numba compiles. The answer has `problem` if the function is not there, or one of the calls does not
    end in a result; otherwise `values`, a result for each case; `unexecuted`, places in the functions that
    were called which never ran; and `notes`, what else a person may want to look at.
    """
    sys.setrecursionlimit(DEPTH)
    np.seterr(all="ignore")
    # what a program goes by that differs between machines may not decide how it computes
    first, *others = (
        _on_machine(machine, compiled, file, function, cases, large if machine is _MACHINES[-1] else ())
        for machine in _MACHINES
    )
    for answer in others:
        if "problem" in answer and "problem" not in first:
            return answer
        if "problem" not in answer and "problem" not in first:
            first["unexecuted"] = sorted({*first["unexecuted"]} & {*answer["unexecuted"]})
            first["notes"] += [note for note in answer["notes"] if note not in first["notes"]]
    return {name: part[:SHOWN] if name in ("unexecuted", "notes") else part for name, part in first.items()}


def _on_machine(machine: MachineNumbers, compiled: bool, *followed: Any) -> dict[str, Any]:
    for _ in range(DRAWS):
        contents = new_contents() if machine.unwritten else 0
        program = Program(compiled_only=compiled, machine=replace(machine, unwritten=contents))
        answer = _answer(program, *followed)
        if not answer.pop(_NOT_WRITTEN, False):
            break
    return answer


def _answer(
    program: Program, file: str, function: str, cases: Sequence[Sequence[Any]], large: Sequence[Any]
) -> dict[str, Any]:
    try:
        callee = program.module(file.removesuffix(".py")).bindings.get(function)
        if program.uncompiled:
            return {"problem": program.uncompiled}
        if isinstance(callee, Unknown):
            return _refused(callee.refusal(f"{file}: uses {callee.name}"), "")
        if not isinstance(callee, Function):
            return {"problem": f"{file} defines no function {function}"}
        return _follow(program, callee, cases, large)
    except SyntaxError as error:
        return {"problem": f"{error.filename or file}:{error.lineno or 0}: {of_python_2(error.msg)}"}
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return {"problem": f"{file}: cannot be read as Python ({error or type(error).__name__})"[:TEXT]}


def _follow(
    program: Program, function: Function, cases: Sequence[Sequence[Any]], large: Sequence[Any]
) -> dict[str, Any]:
    values = []
    for case in cases:
        try:
            values.append(_value(program, function, case))
        except Refused as refused:
            return _refused(refused, _place(program))
        except Exception as error:
            return {"problem": f"{_place(program)}{_described(error)}"}
    try:
        _begin(program, function, large)
    except Refused as refused:
        return _refused(refused, f"{_place(program)}for a large array, ")
    return {
        "values": values,
        "unexecuted": sorted(set(_unexecuted(program))),
        "notes": [*program.changes(), *program.notes],
    }


def _refused(refused: Refused, place: str) -> dict[str, Any]:
    problem = f"{place}{refused}"[:TEXT]
    notes = [problem] if isinstance(refused, NotFollowed) else []
    return {"problem": problem, "notes": notes, _NOT_WRITTEN: isinstance(refused, NotWritten)}


def _begin(program: Program, function: Function, large: Sequence[Any]) -> None:
    """Follow the first steps of a call with large arrays; a call that fails otherwise says nothing.

    Raises:
        Refused: one of them is not an element at a time.
    """
    if not large:
        return
    rng = np.random.default_rng()
    # as random as any: what is in it is not looked at
    case = [np.resize(rng.integers(0, 256, 997), shape).astype(dtype) for shape, dtype in large]
    program.region.shuffles = True
    executed, branches = set(program.statements.executed), set(program.statements.expressions.branches)
    signal.signal(signal.SIGPROF, _enough)
    with suppress(EnoughError):
        signal.setitimer(signal.ITIMER_PROF, BEGIN_S, BEGIN_S)
        try:
            program.call(function, [wrapped(argument, program.region) for argument in case])
        except Exception:  # noqa: S110 - the cases say what fails
            pass
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_PROF, 0)
    program.statements.executed, program.statements.expressions.branches = executed, branches


def _enough(*args: Any) -> NoReturn:
    del args
    raise EnoughError


def _value(program: Program, function: Function, case: Sequence[Any]) -> Any:
    """Return what one call gives, with numbers and NumPy's arrays for elements and theirs.

    Raises:
        Refused: it is far too large, or what computed it does not count.
    """
    value = plain(program.call(function, [wrapped(argument, program.region) for argument in case]))
    _must_be_a_result(value)
    shape = value.shape if isinstance(value, np.ndarray) else _shape(value)
    if program.region.entries > 2 * max(shape, default=1) + 2:
        raise Refused(
            f"calls compiled functions {program.region.entries} times for a result of "
            f"{' x '.join(map(str, shape))} elements: the loops must stand in the compiled function"
        )
    return value


def _must_be_a_result(value: Any) -> None:
    """Refuse what is no number, text, array or list of such, or is far too large."""
    taken = 0
    for count, taken_here in enumerate(_sizes(value, 0)):
        taken += taken_here
        if count > RESULT_NODES or taken > RESULT_BYTES:
            raise Refused("gives a result that is far too large")


def _sizes(value: Any, depth: int) -> Iterator[int]:
    """Yield about how many bytes each part of a result takes."""
    if depth > RESULT_DEPTH:
        raise Refused("gives a result that is nested too deeply")
    if type(value) in (list, tuple):
        for part in value:
            yield from _sizes(part, depth + 1)
    elif isinstance(value, np.ndarray):
        yield value.nbytes
    elif value is None or isinstance(value, bool | float | complex | np.generic):
        yield 1
    elif type(value) in (int, str):
        yield value.bit_length() ** 2 if type(value) is int else len(value)
    else:
        raise Refused(f"gives a value of type {type(value).__name__} for an array")


def _shape(value: Any) -> tuple[int, ...]:
    """Return the shape of nested lists, by their first rows."""
    shape: list[int] = []
    while type(value) in (list, tuple) and len(shape) < RESULT_DEPTH:
        shape.append(len(value))
        value = value[0] if value else None
    return (*shape, *(value.shape if isinstance(value, np.ndarray) else ()))


def _described(error: Exception) -> str:
    try:
        text = str(error)
    except Refused:  # its argument is an element
        text = ""
    return f"{type(error).__name__}: {text}"[:TEXT]


def _place(program: Program) -> str:
    """Return `file:line: ` where a call ended."""
    return "{}:{}: ".format(*program.statements.place) if program.statements.place else ""


def _unexecuted(program: Program) -> Iterator[tuple[str, int]]:
    """Yield lines that ran in no case of the functions called, where they could have computed anything."""
    for function in program.reached.values():
        file = function.frame.module.file
        for node in ast.walk(function.node):
            if isinstance(node, ast.stmt) and node is not function.node:
                if (file, node.lineno) not in program.statements.executed and _computes(node):
                    yield file, node.lineno
            elif isinstance(node, ast.IfExp | ast.BoolOp):
                for branch in node.values if isinstance(node, ast.BoolOp) else (node.body, node.orelse):
                    if id(branch) not in program.statements.expressions.branches and _computes(branch):
                        yield file, branch.lineno


def _computes(node: ast.AST) -> bool:
    return not isinstance(node, ast.Raise) and any(isinstance(part, _COMPUTES) for part in ast.walk(node))
