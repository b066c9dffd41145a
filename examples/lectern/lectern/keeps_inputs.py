"""A check kind: whether a function leaves its arguments as they were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.api.check import (
    Award,
    Call,
    Case,
    CheckContext,
    CheckKind,
    Drawing,
    FunctionName,
    InputCase,
    InputsName,
    Observation,
    ValueTable,
    cases_of,
    observe_calls,
    option,
)


class KeepsInputs(CheckKind):
    """Call a function and compare its arguments with those it was called with."""

    name = "keeps_inputs"
    shares_gpu = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The function to call, as module.function.")
        inputs: InputsName = option("The family of inputs it is called with.")
        share: float = option("The share of cases that must be kept.", judges=True, above=0, default=1.0)

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Call it with each case."""
        return observe_calls(context, options.of, cases_of(context, options.inputs), _look)

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """Give all points if enough cases kept their arguments."""
        del related
        kept = sum(case.agrees.get("kept", False) for case in observation.cases)
        reason = f"{kept} of {len(observation.cases)} calls left their arguments as they were"
        return Award(fraction=float(kept >= options.share * len(observation.cases)), reason=reason)

    def show(self, options: Options, observation: Observation) -> Iterable[Drawing]:
        """Draw a row for each case; reports render it without knowing this kind."""
        del options
        rows = tuple(
            (case.name, "kept" if case.agrees.get("kept") else "changed") for case in observation.cases
        )
        table = ValueTable(title="Arguments after the call", head=("case", "arguments"), rows=rows)
        return [table] if rows else []


def _look(case: InputCase, calls: tuple[Call, ...]) -> Case:
    return Case(name=case.name, outcome=calls[-1].outcome, agrees={"kept": not calls[-1].changed_inputs})
