"""The student's program as a check sees it: a file is imported, functions are called, values come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from grader.bench.bench import Call, Foreign, InputCase
from grader.bench.child import ARGUMENTS_BYTES, Child, Ended, Exchange
from grader.errors import CourseError
from grader.model.assignment import Limits
from grader.model.observation import Outcome
from grader.subject.wire import Decoder, Encoder, Malformed, TooLarge


class ChildSubject:
    """One child with one file imported; `with` ends it and everything it started."""

    def __init__(self, child: Child, module: str, limits: Limits) -> None:
        self._child = child
        self._module = module
        self._limits = limits

    def __enter__(self) -> Self:
        """Import the file; `imported` says how that went."""
        encoder = Encoder(self._child.arena.arguments)
        try:
            exchange = self._child.exchange(*encoder.close({"import": self._module}), self._limits.import_wall_s)
            self.imported = self._read(exchange, f"importing {self._module}.py")
        except BaseException:
            self._child.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.close()

    @property
    def alive(self) -> bool:
        """Whether another call can be made."""
        return self._child.ended is None

    @property
    def output(self) -> str:
        """What the program printed so far, head and tail."""
        if self.alive:
            self._child.output.drain()
        return self._child.output.text()

    def call(self, function: str, case: InputCase) -> Call:
        """Call a function of the imported file; see `grader.bench.bench.Subject`."""
        arguments = {f"argument {i + 1}": a for i, a in enumerate(case.args)} | dict(case.kwargs)
        encoder = Encoder(self._child.arena.arguments)
        spans = {}
        encoded = []
        try:
            for name, value in arguments.items():
                begin = encoder.end
                encoded.append(encoder.encode(value))
                spans[name] = slice(begin, encoder.end)
            sent = bytes(self._child.arena.arguments[: encoder.end])
            positional = len(case.args)
            keywords = dict(zip(case.kwargs, encoded[positional:], strict=True))
            document = {"call": function, "args": encoded[:positional], "kwargs": keywords}
            start, length = encoder.close(document)
        except TooLarge:
            raise CourseError(f"inputs.py: case {case.name!r}: larger than {ARGUMENTS_BYTES} bytes") from None
        exchange = self._child.exchange(start, length, self._limits.call_wall_s)
        now = self._child.arena.arguments
        changed = [name for name, span in spans.items() if sent[span] != now[span]]
        return self._read(exchange, f"{function}()", tuple(arguments), changed)

    def _read(
        self, exchange: Exchange, doing: str, names: tuple[str, ...] = (), changed: Sequence[str] = ()
    ) -> Call:
        """What the child says came of a request; nothing of it is believed before it is checked."""
        answer = exchange.answer
        if isinstance(answer, Ended):
            note = f"{doing}: the program {answer.note}"
            return Call(outcome=answer.outcome, note=note, wall_s=exchange.wall_s)
        decoder = Decoder(self._child.arena.result, foreign=lambda name: Foreign(type_name=name))
        try:
            plain = decoder.open(answer.start, answer.length)
            if "raised" in plain:
                return _raised(plain["raised"], doing)
            if "refused" in plain:
                return self._refused(plain, doing)
            value = decoder.decode(plain["value"])
            told = [names[i] for i in plain.get("changed", ())]
        except (Malformed, LookupError, TypeError, AttributeError) as error:
            note = f"{doing}: the program gave an answer that cannot be read ({error})"
            return Call(outcome=Outcome.REFUSED, note=note)
        return Call(
            outcome=Outcome.OBSERVED,
            value=value,
            changed_inputs=tuple(name for name in names if name in {*told, *changed}),
            wall_s=exchange.wall_s,
            freeze_s=exchange.freeze_s,
            cpu_s=exchange.cpu_s,
        )

    def _refused(self, plain: Mapping[str, Any], doing: str) -> Call:
        if plain["refused"] == "no_function":
            note = f"{self._module}.py has no function {doing}" + _similar(doing, plain["names"])
        else:
            note = (
                f"{doing}: returned something too large (more than {self._limits.result_mb} MiB, or too deep)"
            )
        return Call(outcome=Outcome.REFUSED, note=note)


def _similar(doing: str, names: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(doing.removesuffix("()"), [n for n in names if type(n) is str], 1)
    return f"; did you mean {close[0][:80]}()?" if close else ""


_OUTCOMES = {"MemoryError": Outcome.OUT_OF_MEMORY}


def _raised(plain: Mapping[str, Any], doing: str) -> Call:
    name, text, trace = (str(plain[key])[:4000] for key in ("type", "text", "traceback"))
    if name == "SyntaxError":
        said = text.strip()
    elif name == "SystemExit":
        said = f"the program ended itself (sys.exit({text}))"
    else:
        said = f"{name}: {text}".rstrip(": ")
    return Call(outcome=_OUTCOMES.get(name, Outcome.CRASHED), note=f"{doing}: {said}", traceback=trace)
