"""Rules on the source of a file or function: what it may use, how it is decorated, how deep it loops."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, ClassVar

from grader.checks.tools import refusal
from grader.contracts.check import CheckKind
from grader.model.observation import NOT_IMPORTED, Observation, Outcome
from grader.model.options import SubmittedFile, option, refuse
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.contracts.context import CheckContext

SHOWN_AT_MOST = 10
_NO_NAME = re.compile(r"[()\s]")
HIDING = frozenset({"__import__", "eval", "exec", "getattr", "globals", "importlib.import_module", "vars"})
"""Whoever uses one of these can use anything under a name that no rule sees."""


class Source(CheckKind):
    """Read the source without running it, and hold it against rules.

    Names are resolved as Python does: after `import numpy as xp`, `from numpy import maximum as m` or
    `m = numpy.maximum`, a use of `m` is a use of `numpy.maximum`; a parameter called `max` is no use of
    `max`. Functions and methods of the same file that a function uses are looked at with it. What is put
    together at run time (`getattr`, `exec`, `eval`) is out of reach, so what is found is a hint: all points
    are earned and a person is told what to look at.

    With `decides: true` the points are lost where there is no doubt: a forbidden function of a library is
    called in code that always runs, by a name that stands for nothing else, or a decorator is missing for
    which none of the program's own can stand. What always runs is the body of `function`, with the functions
    that it calls; without that key it is what the file runs when it is imported. Bodies of `for` loops and
    comprehensions are taken to run. Everything else is still shown to a person: other functions, a use under
    a condition, a method of some value, an operator, loops that are missing, and a decorator that another
    one or a later definition may undo. Whether loops compute the result is found out by `loops_over` of
    `matches_reference`.
    """

    name: ClassVar[str] = "source"
    asks_reference: ClassVar[bool] = True
    tool: ClassVar[str] = "source"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        file: SubmittedFile = option("The file to look at.")
        function: str = option(
            "A function of it, or Class.method, with what it uses of the file; otherwise the whole file.",
            default="",
        )
        forbid: tuple[str, ...] = option(
            "Full names that may not be used, such as numpy.*, math.fsum or max; .dot is that method of "
            "anything, @ the operator. What belongs to one (numpy.maximum.reduce) is shown to a person.",
            judges=True,
            default=(),
        )
        allow: tuple[str, ...] = option(
            "Exceptions to `forbid`, such as numpy.zeros.", judges=True, default=()
        )
        require_decorator: tuple[str, ...] = option(
            "Decorators that the function must have, such as numba.njit(parallel=True); a|b is either.",
            judges=True,
            default=(),
        )
        require_loops: int = option(
            "How deep loops must be nested at least; each `for` of a comprehension counts as one.",
            judges=True,
            default=0,
        )
        decides: bool = option(
            "Whether a rule that is certainly broken costs the points, or is only shown to a person.",
            judges=True,
            default=False,
        )

        def __post_init__(self) -> None:
            """Refuse files of other languages, decorators that cannot be read, rules on no function."""
            problems = []
            if not self.file.endswith(".py"):
                problems.append(f"file: source reads Python, and {self.file} is not called *.py")
            for text in self.require_decorator:
                try:
                    list(decorators(text))
                except ValueError as error:
                    problems.append(str(error))
            if self.require_decorator and not self.function:
                problems.append("require_decorator needs a function")
            refuse(problems, self)

    def objections(self, options: Options, assignment: str) -> Iterator[tuple[str, str]]:
        """Yield rules that nothing can break, and those that everything breaks."""
        del assignment
        if "*" in options.forbid and not options.allow:
            yield "forbid", "* forbids every name; name modules, as in numpy.*, or say what to allow"
        if "*" in options.allow:
            yield "allow", "* allows every name, so nothing is forbidden; take it out"
        if options.allow and not options.forbid:
            yield "allow", "has no effect without forbid; give that too, or take it out"
        for key, names in (("forbid", options.forbid), ("allow", options.allow)):
            for name in names:
                if not name or _NO_NAME.search(name):
                    yield (
                        key,
                        f"no name is like {name!r}; write it without brackets, as numpy.zeros or .dot",
                    )
        if options.require_loops < 0:
            yield "require_loops", f"must be 0 or more, got {options.require_loops}"

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Note every name that is used, every decorator and how deep loops are; rules are not looked at."""
        file, function = options.file, options.function
        if file not in context.files:
            return context.missing(file)
        call = context.tool(self.tool, file, function)
        if call.outcome is not Outcome.OBSERVED:
            return refusal(context, f"{file} cannot be looked at: it takes too much time or memory", call)
        facts: dict[str, Any] = call.value
        if "too_deep" in facts:  # which tells nothing of whether it can be imported
            return refusal(context, f"{file} cannot be looked at: it is nested too deeply, or too large")
        if "problem" in facts:
            place = f"{file}:{facts['line']}" if facts["line"] else file
            unread = refusal(context, f"{place}: {facts['problem']}")
            # whatever imports it fails in the same words, so that reports show the cause once
            return replace(unread, facts={NOT_IMPORTED: ""})
        if "names" in facts:
            # a driver of the course that asks for it fails in the same words
            return replace(
                refusal(context, _undefined(file, function, facts["names"])), facts={NOT_IMPORTED: ""}
            )
        return Observation(item=context.item, outcome=Outcome.OBSERVED, facts=facts, seed=context.seed)

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points unless the rubric lets the source decide, and a rule is broken without a doubt."""
        del related
        broken = list(_broken(options, observation.facts))
        hidden = list(_hidden(options, observation.facts["uses"]))
        if not broken:
            doubt = "no broken rule is seen, and something may hide one"
            reason = doubt if hidden else "the source keeps the rules"
            return Award(fraction=1.0, reason=reason, flags=tuple(hidden))
        certain = [text for text, is_certain in broken if is_certain]
        if options.decides and certain:
            unsure = _shortened([text for text, is_certain in broken if not is_certain])
            return Award(fraction=0.0, reason="; ".join(_shortened(certain)), flags=(*unsure, *hidden))
        return Award(
            fraction=1.0,
            reason="something in the source is for a person to look at; it costs nothing by itself",
            flags=(*_shortened([text for text, _ in broken]), *hidden),
        )


def _broken(options: Source.Options, facts: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """A sentence for each rule that is broken, and each place where one is; and whether that is certain."""
    what = f"{options.file}: {options.function or 'the file'}"
    below = [f"{name}.*" for name in options.forbid]
    for use in facts["uses"]:
        is_named = _fits(use["name"], options.forbid)
        if (is_named or _fits(use["name"], below)) and not _fits(use["name"], options.allow):
            place = f"{options.file}:{use['line']}"
            is_certain = is_named and use.get("certain", False)
            yield f"{place}: uses {use['name'].lstrip('.')}: {use['text']}", is_certain
    for text in options.require_decorator:
        rule = list(decorators(text))
        kept = [entry for entry in facts["decorators"] if any(_has([entry], *each) for each in rule)]
        doubtful = list(_doubtful(facts["decorators"], kept, [name for name, _ in rule]))
        in_words = text.replace("|", " or ")
        if not kept:
            doubt = f"; that of line {doubtful[0]} may stand for it" if doubtful else ""
            yield f"{what} is not decorated with {in_words}{doubt}", not doubtful
        elif doubtful:
            yield f"{what}: the decorator of line {doubtful[0]} may undo {in_words}, or not be it", False
        elif facts.get("replaced", False):
            yield f"{what} is defined again, and may not have {in_words} then", False
    if facts["loops"] < options.require_loops:
        yield f"{what} has loops nested {facts['loops']} deep, not {options.require_loops}", False


def _doubtful(
    entries: Sequence[Mapping[str, Any]], kept: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> Iterator[int]:
    """Yield lines of decorators that may be a required one of these names, or undo those that are `kept`."""
    for entry in entries:
        may_be = entry.get("open", False) and entry["name"] in names
        may_be |= bool({*names, "*"}.intersection(entry.get("uses", ()))) and not entry.get("certain", True)
        if (not entry["name"] or not entry.get("certain", True)) if kept else may_be:
            yield entry["line"]


def _hidden(options: Source.Options, uses: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for use in uses:
        if options.forbid and use["name"] in HIDING and not _fits(use["name"], options.allow):
            yield f"{options.file}:{use['line']}: {use['name']} may hide what is used: {use['text']}"
            return


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _has(decorators: Sequence[Mapping[str, Any]], name: str, keywords: Mapping[str, str]) -> bool:
    return any(
        entry["name"] == name and keywords.items() <= entry["keywords"].items() for entry in decorators
    )


def decorators(text: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Names and keywords of `name`, `name(key=value)` and alternatives.

    Raises:
        ValueError: it is none of these.
    """
    import ast

    for alternative in text.split("|"):
        try:
            node = ast.parse(alternative.strip(), mode="eval").body
        except SyntaxError:
            raise _unreadable(text) from None
        keywords = {}
        if isinstance(node, ast.Call) and not node.args:
            keywords = {key.arg: ast.unparse(key.value) for key in node.keywords if key.arg}
            node = node.func
        if not isinstance(node, ast.Name | ast.Attribute):
            raise _unreadable(text)
        yield ast.unparse(node), keywords


def _unreadable(text: str) -> ValueError:
    return ValueError(f"must be like numba.njit or numba.njit(parallel=True), got {text!r}")


def _undefined(file: str, function: str, names: Sequence[str]) -> str:
    """Say that a file does not define a function, or the class whose method it is."""
    from grader.harness.missing import undefined

    owner = function.rpartition(".")[0]
    if owner and owner not in names:
        return undefined(file, owner, [name for name in names if "." not in name])
    return undefined(file, function, names)


def _shortened(sentences: Sequence[str]) -> list[str]:
    more = len(sentences) - SHOWN_AT_MOST
    return [*sentences[:SHOWN_AT_MOST], *([f"and {more} more"] if more > 0 else [])]
