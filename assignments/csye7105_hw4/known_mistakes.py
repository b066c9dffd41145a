"""Whether a function returns what it should, and otherwise which known mistake explains what it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from grader.api.check import (
    Award,
    Case,
    CheckKind,
    FunctionName,
    InputsName,
    Observation,
    OracleName,
    Tolerances,
    award_given,
    cases_of,
    function_name,
    observe_calls,
    option,
)

from .values import HINTS, MISTAKES

if TYPE_CHECKING:
    from grader.api.check import Call, CheckContext


class KnownMistakes(CheckKind):
    """Call a function as `matches_reference` does, and name the mistake that explains all wrong results."""

    name: ClassVar[str] = "known_mistakes"
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The function to call, as module.function.")
        inputs: InputsName = option("The family of inputs it is called with.")
        simulated_inputs: InputsName = option(
            "The family in its place where a simulator stands in for the GPUs.", default=InputsName("")
        )
        expected: OracleName = option(
            "The oracle; if it is not given, the one with the function's own name.",
            like="of",
            default=OracleName(""),
        )
        mistakes: tuple[OracleName, ...] = option(
            "Oracles of known mistakes, the likeliest first.", default=()
        )
        tolerance: Tolerances = option("How far floats may be off, by dtype.", default=Tolerances())

        def __post_init__(self) -> None:
            """A mistake is one that there is a sentence for."""
            for name in self.mistakes:
                if name not in MISTAKES:
                    raise ValueError(f"mistakes: {name}: there is no sentence for it; see values.py")

    def simulates(self, options: Options) -> bool:
        """Tell whether the options name inputs for the stand-in."""
        return bool(options.simulated_inputs)

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Call each case, and hold the result against the oracle and every known mistake."""
        from grader.api.values import compare, value_text

        right = options.expected or function_name(options.of)
        oracles = {name: context.expected(name) for name in (right, *options.mistakes)}

        def look(case: Any, calls: tuple[Call, ...]) -> Case:
            wanted = {name: oracle(*case.args, **case.kwargs) for name, oracle in oracles.items()}
            compared = {n: compare(calls[-1].value, w, options.tolerance) for n, w in wanted.items()}
            return Case(
                name=case.name,
                outcome=calls[-1].outcome,
                agrees={name: one.agrees for name, one in compared.items()},
                returned=value_text(calls[-1].value),
                expected=value_text(wanted[right]),
                note=compared[right].note,
                symptom=compared[right].symptom,
            )

        family = options.simulated_inputs if context.simulated else options.inputs
        return observe_calls(context, options.of, cases_of(context, family), look)

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if all cases agree with the oracle; otherwise the mistake, if one explains them all."""
        del related
        if given := award_given(observation):
            return given
        cases = observation.cases
        right = options.expected or function_name(options.of)
        wrong = [case for case in cases if not case.agrees.get(right)]
        if not wrong:
            return Award(fraction=1.0, reason=f"{len(cases)} of {len(cases)} cases agree")
        for name in options.mistakes:
            if all(case.agrees.get(name) for case in cases):
                return Award(fraction=0.0, reason=MISTAKES[name], hint=HINTS[name])
        return Award(fraction=0.0, reason=f"{wrong[0].name}: {wrong[0].note or wrong[0].outcome.value}")
