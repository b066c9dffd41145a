"""Whether a function returns what an independent oracle says, over a family of inputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import unwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from grader.checks import elements
from grader.checks.by_hand import award_given
from grader.checks.calls import cases_of, function_name, observe_calls
from grader.checks.disputed import UNJUDGED, changed_by_task, require_right_reference
from grader.checks.exchanged import watch_operation
from grader.checks.watched import WATCHED, off_the_device, watch, watched_of
from grader.config.codec import to_plain
from grader.config.problem import place_of
from grader.contracts.check import CheckKind
from grader.errors import CourseError
from grader.harness.tolerance import PRECISION, Precision, Tolerances
from grader.model.observation import Case, Observation, Outcome, Quantity, Symptom
from grader.model.options import FunctionName, InputsName, OracleName, option, refuse
from grader.model.score import Award
from grader.model.trace import Watched

if TYPE_CHECKING:
    from grader.contracts.call import Call, InputCase
    from grader.contracts.context import CheckContext
    from grader.harness.compare import Comparison
    from grader.model.drawing import Drawing

_Answer = dict[str, "tuple[Comparison, dict[str, Any]]"]
"""What the calls of a case came to by oracle: the comparison, and the texts of the two values."""
ORDERS = 3
"""In how many orders a simulator runs threads: forward, reversed, shuffled."""
SLOW_S = 1.0
"""A simulated call that takes longer is made in one order only."""
RACE = "in other orders of the threads it is right: two of them write one place, or a barrier is missing"


class MatchesReference(CheckKind):
    """Call a function with every case of a family and compare what it returns with `expected.py`.

    Lists and tuples, Python numbers and arrays, and results of another precision are taken for what they
    say; see `grader.harness.compare.compare`. Where the task can be read in two ways, `accept` names further
    oracles; one of them has to agree in all cases, or with `credit: per_case` the one that agrees in most
    counts: a mixture is not added up.

    With `loops_over` the loops of the function must give the result: its source is followed, statement by
    statement and without running it, over arrays that give and take single elements only. NumPy may make,
    copy and rearrange arrays there; every other function of a library, every method and every operator of
    whole arrays is refused with its line, also where it stands in a branch that is not taken. Loops,
    comprehensions, generators, `map` and recursion are alike. Lines that compute something and that no
    input reaches are shown to a person.

    With `compiled` the loops must stand inside functions that numba compiles (`njit`, `jit`). A plain
    function may call such a function with whole arrays, but not one of `vectorize`, whose loop would be
    numba's: that takes single elements, inside of a compiled loop. A plain loop is refused if it reads
    or writes elements, or calls a compiled function for each of them.

    With `made_on_gpu` the function is called under observation as well: it must launch a kernel, and where
    numba's kernels get the inputs of another call its result must be that call's. What is right for its own
    inputs then was made on the CPU; where it is not clear a person looks.

    Of an operation in CUDA C++, or a graph of such, a driver of the course exchanges the inputs
    (`exchanged_inputs`): what lies on the GPU is not what the host has. Its result must be that of the inputs
    on the GPU, at most 1/64 of these may be copied to the host, at most 1/64 of the result from it, and no
    memory of the host may be in reach of kernels. Calls of CUDA of which the records of copies tell nothing
    leave the item to a person.
    """

    name: ClassVar[str] = "matches_reference"
    shares_gpu: ClassVar[bool] = True
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The function to call, as module.function.")
        inputs: InputsName = option("The family of inputs it is called with.")
        simulated_inputs: InputsName = option(
            "The family in its place where a simulator stands in for the GPUs; left out, none does.",
            default=InputsName(""),
        )
        expected: OracleName = option(
            "The oracle; if it is not given, the one with the function's own name.",
            like="of",
            default=OracleName(""),
        )
        accept: tuple[OracleName, ...] = option(
            "Further oracles, each of them a whole answer that is accepted as well.", default=()
        )
        tolerance: Tolerances = option(
            "How far floats may be from the expected ones, by dtype; integers are exact.",
            default=Tolerances(),
        )
        precision: Precision = option(PRECISION, default="any")
        dtype: Literal["any", "exact"] = option(
            "Whether the result must also have the dtype of the expected value.", default="any"
        )
        credit: Literal["all", "per_case"] = option(
            "Whether all cases must agree, or each earns its share.", judges=True, default="all"
        )
        changed_inputs: Literal["noted", "fails"] = option(
            "Whether a case in which the function changed its arguments in place is lost.",
            judges=True,
            default="noted",
        )
        loops_over: InputsName = option(
            "A family of small inputs on which the function's own loops must give the result as well; left "
            "out, the function may do its work in any way.",
            default=InputsName(""),
        )
        begins_on: InputsName = option(
            "With `loops_over`, a family of large arrays: the first steps of a call with its last case are "
            "followed as well, so that no other way is taken for these.",
            default=InputsName(""),
        )
        compiled: bool = option(
            "With `loops_over`, whether these loops must stand in functions that numba compiles.",
            default=False,
        )

        made_on_gpu: bool = option(
            "Whether kernels must have made the result; not asked of a simulator.", default=False
        )
        exchanged_inputs: InputsName = option(
            "A family of inputs, always of the same shapes, that the course's driver of operations in CUDA "
            "C++ exchanges on the GPU by its functions `place`, `load` and `run`.",
            default=InputsName(""),
        )

        def __post_init__(self) -> None:
            """Refuse `compiled` without inputs for the loops."""
            needing = () if self.loops_over else ("compiled", "begins_on")
            refuse(
                f"{name} needs loops_over: a family of small inputs"
                for name in needing
                if getattr(self, name)
            )

    def gpus_needed(self, options: Options) -> int:
        """Return 1 if a call must be made on a GPU."""
        return int(options.made_on_gpu or bool(options.exchanged_inputs))

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Call each case and hold the result against every oracle."""
        family = options.simulated_inputs if context.simulated else options.inputs
        cases = cases_of(context, family)
        oracles = {name: context.expected(name) for name in _oracles(options)}
        answers: list[_Answer] = []
        wrong: list[tuple[InputCase, Call]] = []
        unjudged: list[tuple[Call, CourseError]] = []
        changed: dict[str, Call] = {}
        statuses = _exit_statuses(options.of, oracles[_oracles(options)[0]])

        held = partial(_held, options, oracles, statuses)

        def difference(case: InputCase, call: Call) -> str:
            compared = [comparison for comparison, *_ in held(case, (call,)).values()]
            return "" if any(comparison.agrees for comparison in compared) else compared[0].note

        def look(case: InputCase, calls: tuple[Call, ...]) -> Case:
            if calls[-1].changed_inputs:
                changed[case.name] = replace(calls[-1], value=None)
            try:
                answer = held(case, calls)
            except CourseError as error:
                if not any(map(callable, (*case.args, *case.kwargs.values()))):
                    raise
                # an oracle that is marked with after_call gets what the program asked for
                wrong.append((case, replace(calls[-1], value=None)))
                unjudged.append((wrong[-1][1], error))
                return Case(name=case.name, outcome=Outcome.REFUSED, note=UNJUDGED)
            answers.append(answer)
            if not any(compared.agrees for compared, *_ in answer.values()):
                wrong.append((case, replace(calls[-1], value=None)))  # results may be large
            return Case(
                name=case.name,
                outcome=calls[-1].outcome,
                agrees={name: compared.agrees for name, (compared, *_) in answer.items()},
            )

        # a simulator of threads runs them in another order in each call; virtual GPUs have none
        times = ORDERS if context.simulated and not context.devices else 1
        each_counts = options.credit == "per_case"
        observation = observe_calls(
            context, options.of, cases, look, times=times, within_s=SLOW_S, each_counts=each_counts
        )
        require_right_reference(context, options.of.rpartition(".")[0], wrong, difference, unjudged)
        by_task = changed_by_task(context, options.of, changed, fails=options.changed_inputs == "fails")
        # where none agrees, the one that is nearest says more of what is wrong
        best = max(oracles, key=lambda name: (_agreeing(observation, name), -_wrong(answers, name)))
        facts = observation.facts
        right = _agreeing(observation, best) == len(cases)
        if right and options.loops_over:
            followed = elements.follow(
                context,
                options.of,
                options.loops_over,
                oracles[best],
                options.tolerance,
                compiled=options.compiled,
                begins_on=options.begins_on,
            )
            if isinstance(followed, Observation):
                return followed
            facts = {**facts, elements.FACT: followed}
        if right and (watched := _watched(options, context, family, oracles[best])):
            if not isinstance(watched, Watched):
                return replace(
                    observation, outcome=watched.outcome, note=watched.note, symptom=watched.symptom, cases=()
                )
            facts = {**facts, WATCHED: to_plain(watched)}
        remaining = iter(answers)
        return replace(
            observation,
            facts=facts,
            cases=tuple(
                _explained(_without(case, by_task), *next(remaining)[best], options.tolerance)
                if case.outcome is Outcome.OBSERVED
                else case
                for case in observation.cases
            ),
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if one oracle agrees in all cases; with `credit: per_case` the best oracle's share."""
        del related
        watched = watched_of(observation.facts)
        if award := award_given(observation) or (watched and off_the_device(watched)):
            return award
        total = len(observation.cases)
        strict = options.changed_inputs == "fails"
        good = {
            name: [
                case.agrees.get(name, False) and not (strict and case.changed_inputs)
                for case in observation.cases
            ]
            for name in _oracles(options)
        }
        best = max(good, key=lambda name: sum(good[name]))
        agreeing = sum(good[best])
        followed = observation.facts.get(elements.FACT, {})
        if problem := followed.get(elements.PROBLEM):
            return Award(fraction=0.0, reason=problem, flags=tuple(followed[elements.FLAGS]))
        if total and agreeing == total:
            flags = tuple(followed.get(elements.FLAGS, ()))
            agree = f"{agreeing} of {total} cases agree" if total > 1 else "its one case agrees"
            first_oracle = best == _oracles(options)[0]
            reason = agree if first_oracle else f"agrees with the accepted answer {best} ({agree})"
            return Award(fraction=1.0, reason=reason, flags=flags)
        if not total:
            return Award(fraction=0.0, reason="no case was looked at")
        first = observation.cases[good[best].index(False)]
        reason = f"{first.name}: {_what_is_wrong(first, best)}"
        if options.credit == "all" or total == 1:
            return Award(fraction=0.0, reason=reason)
        return Award(fraction=agreeing / total, reason=f"{agreeing} of {total} cases agree; {reason}")

    def show(self, options: Options, observation: Observation) -> Iterator[Drawing]:
        """Draw what the GPU did, if a call was watched."""
        del options
        from grader.checks.drawings.gpu import gpu_drawings

        return gpu_drawings(observation)


def _held(
    options: MatchesReference.Options,
    oracles: Mapping[str, Callable[..., Any]],
    statuses: Collection[tuple[int | str, ...]],
    case: InputCase,
    calls: tuple[Call, ...],
) -> _Answer:
    """Hold what the calls of a case returned against every oracle.

    Raises:
        CourseError: an oracle returns None, or what cannot be compared.
    """
    from grader.harness.compare import compare
    from grader.harness.exit_statuses import with_status
    from grader.harness.render import case_texts

    answer: _Answer = {}
    for name, oracle in oracles.items():
        right = oracle(*case.args, **case.kwargs)
        if right is None:
            place = f"{place_of(unwrap(oracle))}: {name}"
            raise CourseError(f"{place}: returns None for case {case.name!r}; is a return missing?")
        compared = [
            with_status(
                compare(
                    call.value,
                    right,
                    options.tolerance,
                    dtype=options.dtype,
                    precision=options.precision,
                ),
                call.value,
                right,
                statuses,
            )
            for call in calls
        ]
        worst = _worst(compared)
        returned = calls[compared.index(worst)].value
        texts = case_texts(returned=returned, expected=right, at=worst.at)
        answer[name] = _noted(worst, compared), texts
    return answer


def _without(case: Case, by_task: Mapping[str, tuple[str, ...]]) -> Case:
    """Return a case without the changed arguments that the reference changes as well."""
    changed = tuple(name for name in case.changed_inputs if name not in by_task.get(case.name, ()))
    return replace(case, changed_inputs=changed)


def _watched(
    options: MatchesReference.Options, context: CheckContext, family: str, oracle: Callable[..., Any]
) -> Watched | Call | None:
    """Watch a call to find where the work is done; None if the options do not require it."""
    if options.exchanged_inputs and not context.devices and context.simulated:
        return watch_operation(context, options.of, family, oracle, options.tolerance)
    if context.simulated:
        return None
    if options.exchanged_inputs:
        return watch_operation(context, options.of, options.exchanged_inputs, oracle, options.tolerance)
    return watch(context, options.of, family, oracle, options.tolerance) if options.made_on_gpu else None


def _exit_statuses(of: str, oracle: Callable[..., Any]) -> Collection[tuple[int | str, ...]]:
    """Return the places of exit statuses in the result of a course's function; none of a student's."""
    from grader.harness.exit_statuses import exit_statuses

    module, _, function = of.rpartition(".")
    code = getattr(unwrap(oracle), "__code__", None)  # a function of a library may have none
    folder = Path(code.co_filename).parent if code else Path()
    return exit_statuses(folder / "given", module, function)


def _worst(compared: Sequence[Comparison]) -> Comparison:
    """The first that does not agree; all of them are of the same call."""
    return next((comparison for comparison in compared if not comparison.agrees), compared[0])


def _noted(worst: Comparison, compared: Sequence[Comparison]) -> Comparison:
    """The worst with a note that others of the same call agree, if they do."""
    if worst.agrees or not any(comparison.agrees for comparison in compared):
        return worst
    return replace(worst, note=f"{worst.note}; {RACE}", symptom=Symptom.RACE)


def _agreeing(observation: Observation, oracle: str) -> int:
    return sum(case.agrees.get(oracle, False) for case in observation.cases)


def _wrong(answers: Sequence[_Answer], oracle: str) -> int:
    return sum(answer[oracle][0].wrong for answer in answers)


def _oracles(options: MatchesReference.Options) -> tuple[str, ...]:
    return (options.expected or function_name(options.of), *options.accept)


def _explained(case: Case, compared: Comparison, texts: Mapping[str, Any], tolerances: Tolerances) -> Case:
    measured: dict[str, Any] = {}
    if compared.max_abs_error is not None:  # otherwise no number was held against another
        measured = {
            "max_abs_error": compared.max_abs_error,
            "max_rel_error": compared.max_rel_error,
            "wrong": compared.wrong,
            "total": compared.total,
            "allowed_difference": tolerances.in_words(compared.tolerance),
        }
    quantities = {name: Quantity(value=value) for name, value in measured.items() if value is not None}
    return replace(
        case,
        returned=texts["returned"],
        expected=texts["expected"],
        longer={} if compared.agrees else {**case.longer, **texts["longer"]},
        note=compared.note,
        symptom=compared.symptom,
        quantities={**case.quantities, **quantities},
    )


def _what_is_wrong(case: Case, oracle: str) -> str:
    if case.agrees.get(oracle, False):
        return f"changed {' and '.join(case.changed_inputs)} in place"
    return case.note or case.outcome.value
