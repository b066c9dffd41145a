"""Answers of a child as calls: nothing of them is believed before it is checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.contracts.call import Call, OpaqueValue
from grader.files import holds_file
from grader.harness.device_errors import explain
from grader.harness.endings import ProgramEnd
from grader.harness.exchange import RoundTrip
from grader.harness.student_process import StudentProcess
from grader.harness.trace import read_trace
from grader.harness.tracebacks import innermost_first
from grader.installed import MISSPELT_NAME, nearest
from grader.model.observation import Outcome
from grader.model.trace import Trace
from grader.subject.wire import DEPTH, JSON_BYTES, NODES, Decoder, Malformed


def read_answer(
    child: StudentProcess,
    exchange: RoundTrip,
    doing: str,
    names: Sequence[str] = (),
    changed: Sequence[str] = (),
    others: Callable[[], Collection[str]] = frozenset,
) -> Call:
    """Return the outcome of a request.

    `doing` is what a person reads of it, `names` are the arguments, and `changed` those arguments whose
    bytes are not what we wrote; the child tells which lists and dictionaries changed. What `others` returns
    is not suggested in place of a function that is missing.
    """
    answer = exchange.answer
    clock: dict[str, Any] = {
        "wall_s": exchange.wall_s,
        "freeze_s": exchange.freeze_s,
        "cpu_s": exchange.cpu_s,
    }
    if isinstance(answer, ProgramEnd):
        return Call(outcome=answer.outcome, note=f"{doing}: the program {answer.note}", **clock)
    decoder = Decoder(exchange.result, foreign=lambda name: OpaqueValue(type_name=name))
    try:
        plain = decoder.open(answer.start, answer.length)
        if "raised" in plain:
            return _raised(plain["raised"], doing, clock, child)
        if "refused" in plain:
            return _refused(plain, doing, len(child.shared_buffer.result) >> 20, clock, others)
        value = decoder.decode(plain["value"])
        trace = read_trace(plain["trace"]) if "trace" in plain else None
        changed_names = [names[i] for i in plain.get("changed", ())]
    except (Malformed, LookupError, TypeError, AttributeError) as error:
        note = f"{doing}: the program gave an answer that cannot be read ({error})"
        return Call(outcome=Outcome.REFUSED, note=note, **clock)
    changed_inputs = tuple(name for name in names if name in {*changed_names, *changed})
    return Call(outcome=Outcome.OBSERVED, value=value, changed_inputs=changed_inputs, trace=trace, **clock)


def read_records(child: StudentProcess, exchange: RoundTrip) -> tuple[Trace, ...]:
    """The observer's records; none of a program that ended, and one that says so if they cannot be read."""
    if isinstance(exchange.answer, ProgramEnd):
        return ()
    try:
        plain = Decoder(child.shared_buffer.result).open(exchange.answer.start, exchange.answer.length)
        return tuple(map(read_trace, plain["traces"]))
    except (Malformed, LookupError, TypeError, AttributeError) as error:
        return (Trace(source="none", complete=False, problem=f"the records cannot be read ({error})"[:200]),)


def _refused(
    plain: Mapping[str, Any],
    doing: str,
    result_mb: int,
    clock: Mapping[str, Any],
    others: Callable[[], Collection[str]],
) -> Call:
    if plain["refused"] == "no_function":
        kind = _text(plain["type"])[:80]
        note = f"there is no function {doing}"
        note += (
            f"; that is a value of type {kind}"
            if kind
            else _similar(doing, plain["names"], plain["within"], others)
        )
    else:
        limits = f"{result_mb} MiB, {NODES:,} single values, {JSON_BYTES >> 20} MiB of text"
        note = f"{doing}: returned something too large (more than {limits} or {DEPTH} levels of nesting)"
    return Call(outcome=Outcome.REFUSED, note=note, **clock)


def _similar(doing: str, names: list[str], classes: list[str], others: Callable[[], Collection[str]]) -> str:
    """Say where a missing function may be, in the program's words, of which no more than a few are read."""
    within = [name[:80] for name in classes[:1] if type(name) is str]
    if within:
        return f"; class {within[0]} has one: it must stand outside of it"
    listed = {name[:80] for name in names[:50] if type(name) is str}
    asked_for = others() if listed else ()
    near = nearest(doing.removesuffix("()"), listed.difference(asked_for), MISSPELT_NAME)
    return f"; did you mean {near}()?" if near else ""


_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
"""What numba and torch colour their messages with on a terminal."""
_LAST_FRAME = re.compile(
    r'  File "(?:[^"\n]*/)?([^"/\n]+)", line (\d+), in [^\n]*\n(?:    ([^\n]*)\n)?[^"]*\Z'
)
_OF_THE_COURSE = "AssertionError: a condition that the course's test asserts does not hold"
_SYNTAX_ERRORS = frozenset({"SyntaxError", "IndentationError", "TabError"})
"""Exceptions whose text says where: `file:line: message`."""
_IMPORTING = re.compile(r"importing ([^\s:]+)")
_PLACE = re.compile(r"([^\s:]{1,160}):(\d{1,7})")
_NO_MEMORY = re.compile(r"(?:can't|cannot|unable to) allocate memory|\bstd::bad_alloc\b", re.IGNORECASE)
"""What torch, the C library and C++ say where malloc gives nothing, in exceptions of many types."""
_NO_SYMBOL = re.compile(
    r"\A(AttributeError|OSError|ImportError): (?:/\S{0,200}/)?([\w.+-]{1,80}\.so[\w.]{0,20}): "
    r"undefined symbol: (\w{1,200})"
)
_LENGTH = re.compile(r"\d{1,3}")
EXACT_NAME = 'its name must be exact, and in C++ it needs extern "C" and the parameters that are asked for'
"""What is advised where a library has no function of a name."""
OF_OPENMP = re.compile(r"(?:omp|GOMP)_\w+")
"""A function of OpenMP; the second are those that a compiler calls for a pragma."""
WITHOUT_OPENMP = "it is OpenMP's, which is not linked here; do without it, or link with -fopenmp"
_OUTCOMES = {"MemoryError": Outcome.OUT_OF_MEMORY}


def _text(value: Any) -> str:
    """Return a text, shortened.

    Raises:
        Malformed: it is anything else. Not `str`: of lists nested deeply it raises RecursionError.
    """
    if type(value) is not str:
        raise Malformed("text was expected")
    return value[:4000]


def _raised(plain: Mapping[str, Any], doing: str, clock: Mapping[str, Any], child: StudentProcess) -> Call:
    name, text, trace = (_COLOURS.sub("", _text(plain[key])) for key in ("type", "text", "traceback"))
    text = " ".join(filter(None, map(str.strip, text.splitlines())))  # a note is one line
    if name in _SYNTAX_ERRORS:
        return Call(outcome=Outcome.CRASHED, note=_syntax_error(text) or name, traceback=trace, **clock)
    if name == "SystemExit":
        cause = f"the program ended itself (sys.exit({text}))"
    else:
        cause = _NO_SYMBOL.sub(_no_symbol, f"{name}: {text}").rstrip(": ")
        if not text.strip():
            cause = _without_words(name, trace, child.course_folder)
    outcome = _OUTCOMES.get(name, Outcome.CRASHED)
    symptom = None
    if device := explain(cause):
        outcome, symptom = device.outcome, device.symptom
        cause = f"{device.sentence}: {cause}"
    elif outcome is Outcome.OUT_OF_MEMORY or _NO_MEMORY.search(cause):
        outcome = Outcome.OUT_OF_MEMORY
        cause = f"{cause.removesuffix('.')}; {child.limits.memory_mb} MiB are allowed"
    if imported := _IMPORTING.fullmatch(doing):
        place = _PLACE.fullmatch(_text(plain.get("place", "")))
        if place and place[1] != imported[1]:  # a file that the imported one imports
            doing = f"importing {place[1]}"
    return Call(outcome=outcome, note=f"{doing}: {cause}", symptom=symptom, traceback=trace, **clock)


def _syntax_error(text: str) -> str:
    """Return `file:line: message` in one line, in the words of a check that reads the file."""
    from grader.subject.tools.source import of_python_2

    place, separator, message = " ".join(text.split()).partition(": ")
    return f"{place}{separator}{of_python_2(message)}"


def _no_symbol(match: re.Match[str]) -> str:
    """Say which function ctypes does not find in a library, or which one the library uses and lacks."""
    error, library, symbol = match.groups()
    if error == "AttributeError":  # asked for by name, after the library was loaded
        return f"{library} has no function {symbol}; {EXACT_NAME}"
    if OF_OPENMP.match(symbol):
        return f"{library} uses {symbol}(): {WITHOUT_OPENMP}"
    advice = 'name, parameters and extern "C" must agree where it is declared and where it is defined'
    return f"{library} uses {_demangled(symbol)}(), which is defined nowhere; {advice}"


def _demangled(symbol: str) -> str:
    """Return the name in a symbol of the Itanium C++ ABI, without parameters; other symbols as they are."""
    prefix = re.match(r"_Z(N?)K?", symbol)
    names: list[str] = []
    end = prefix.end() if prefix else 0
    while (length := _LENGTH.match(symbol, end)) and (not names or (prefix and prefix[1])):
        end = length.end() + int(length[0])
        names.append(symbol[length.end() : end])
    return "::".join(names) if prefix and names else symbol


def _without_words(name: str, trace: str, course_folder: Path | None) -> str:
    """Tell an exception that has no text by its line, unless a file of the course raised it.

    The source of such a line may hold what is expected.
    """
    innermost = next(innermost_first(trace), None)
    if course_folder and innermost and any(holds_file(course_folder, path) for path in innermost.paths):
        return _OF_THE_COURSE if name == "AssertionError" else f"{name} in a test of the course"
    place = _LAST_FRAME.search(trace)
    if not place:
        return name
    source = f" ({place[3]})" if place[3] else ""
    return f"{name} in {place[1]}:{place[2]}{source}"
