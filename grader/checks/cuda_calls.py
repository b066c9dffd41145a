"""Whether a program goes on allocating device memory the longer it trains, and where it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from grader.checks.allocations import (
    Training,
    allocated,
    allocated_in,
    grown_places,
    growth,
    growth_in_words,
    hint_for,
    implausible,
    not_on_device,
    peak_growth,
    series,
    unseen,
)
from grader.checks.by_hand import award_given
from grader.checks.calls import cases_of, failed_observation, function_name
from grader.contracts.check import CheckKind
from grader.harness.tolerance import Tolerances
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.options import FunctionName, InputsName, OracleName, option, refuse
from grader.model.score import Award
from grader.model.trace import Trace, Traffic

if TYPE_CHECKING:
    from grader.contracts.call import Call, InputCase
    from grader.contracts.context import CheckContext

TIMES = (1, 2, 4)
"""How many times the drawn number of epochs is trained, each time in a child of its own."""
NEEDED = frozenset({"allocations", "peak_bytes"})
"""What of a record no verdict can do without."""

_DRAW = 1_000_003
"""A number of a draw that no family of inputs has."""
_TRAINED = "trained"


class CudaCalls(CheckKind):
    """Train for some epochs, for twice and for four times as many, and count what allocates memory.

    Each training is observed in a child of its own, on the same inputs. How many epochs the first one has is
    drawn from `epochs`. Every call counts that allocates memory of a device, or pinned memory of the host,
    through the CUDA runtime or the driver. What is allocated once is there whatever the number of epochs;
    what grows is allocated again and again. Where, is told by the C function that the program had called
    through ctypes, and by the library that asked for the memory.

    The records come from inside the program's process. Fewer bytes in use than the training must hold, fewer
    kernels than it must launch, or more calls than a driver answers in that time are not believed, but wait
    for a person.

    A training only counts if it was one: what it returns must be what the oracle says, or losses that fall,
    and more epochs must launch more kernels. On a record that is not complete nothing is decided.
    """

    name: ClassVar[str] = "cuda_calls"
    shares_gpu: ClassVar[bool] = True
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The function that trains, as module.function.")
        inputs: InputsName = option("The family of inputs; its last case is taken, without the epochs.")
        epochs: tuple[int, ...] = option(
            "The least and the most epochs that the shortest training may have, as in [2, 4].", above=0
        )
        epochs_as: str = option("The keyword by which the function gets its epochs.", default="epochs")
        trained: Literal["as_expected", "losses_fall"] = option(
            "How it shows that it trained: by what the oracle says, or by a list with a loss for each epoch.",
            default="as_expected",
        )
        expected: OracleName = option(
            "The oracle, which gets the epochs too; if not given, the one with the function's own name.",
            default=OracleName(""),
        )
        tolerance: Tolerances = option(
            "How far floats may be from the expected ones, by dtype; integers are exact.",
            default=Tolerances(),
        )
        fall_to: float = option(
            "With `losses_fall`, the most that the last loss may be, as a share of the first.",
            judges=True,
            default=0.9,
            above=0,
        )
        totals: Literal["flat", "any"] = option(
            "Whether all allocations together must be as many for any number of epochs.",
            judges=True,
            default="flat",
        )
        own: Literal["flat", "any"] = option(
            "Whether those of the program's own arrays must be.", judges=True, default="any"
        )
        own_through: tuple[str, ...] = option(
            "The C functions that allocate its own arrays, as in [DLArrayAlloc].", judges=True, default=()
        )
        slack: int = option("How many more allocations are still taken for as many.", judges=True, default=0)
        peak_growth_at_most: int = option(
            "How many bytes more may be in use at one time, or be allocated by as many calls.",
            judges=True,
            default=2**20,
        )
        peak_bytes_at_least: int = option(
            "How many bytes are in use at one time in any training of this kind; a record with fewer is not "
            "believed, and waits for a person.",
            judges=True,
            default=0,
        )
        launches_at_least: int = option(
            "Likewise, how many kernels every further epoch launches.", judges=True, default=0
        )
        credit: Literal["all", "per_case"] = option(
            "Where totals and own must be flat, whether both must, or each earns its share.",
            judges=True,
            default="all",
        )

        def __post_init__(self) -> None:
            """Refuse what cannot be asked for."""
            problems = []
            if len(self.epochs) != 2 or self.epochs[0] > self.epochs[1]:
                problems.append("epochs: must be two numbers, the least and the most, as in [2, 4]")
            elif self.trained == "losses_fall" and self.epochs[0] < 2:
                problems.append("epochs: no loss falls within one epoch; the least must be 2 or more")
            if "flat" not in (self.totals, self.own):
                problems.append("totals: nothing must be flat; make totals or own flat")
            if self.own == "flat" and not self.own_through:
                problems.append("own_through: names no C function that allocates, as in [DLArrayAlloc]")
            refuse(problems, self)

    def gpus_needed(self, options: Options) -> int:
        """Return 1, on which the program trains."""
        del options
        return 1

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Train three times under observation; one that does not return is what came of it."""
        from numpy.random import default_rng

        low, high = options.epochs
        first = int(default_rng([int(context.seed, 16), _DRAW]).integers(low, high, endpoint=True))
        last_case = cases_of(context, options.inputs)[-1]
        cases, trainings, output = [], [], ""
        for epochs in (times * first for times in TIMES):
            case = replace(last_case, kwargs={**last_case.kwargs, options.epochs_as: epochs})
            call, printed = _train(context, options.of, case)
            output += printed
            if call.outcome is not Outcome.OBSERVED:
                call = replace(call, note=f"training for {epochs} epochs: {call.note}")
                return failed_observation(context, call, options.of, output)
            trace = call.trace or Trace(source="none", complete=False, problem="no observer answered")
            trainings.append(
                Training(epochs=epochs, trace=replace(trace, launches=(), framework_launches=None))
            )
            cases.append(_case(options, context, case, call, trainings[-1]))
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            cases=tuple(cases),
            facts={"trainings": [asdict(training) for training in trainings]},
            output=output,
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if what must be flat is; nothing is decided on an incomplete record."""
        from grader.config.codec import from_plain

        del related
        if by_hand := award_given(observation):
            return by_hand
        trainings = [
            from_plain(Training, training, where="trainings") for training in observation.facts["trainings"]
        ]
        if missing := unseen(trainings, NEEDED | {"sites"} if options.own == "flat" else NEEDED):
            reason = f"the allocations could not be observed: {missing}"
            return Award(fraction=0.0, reason=reason, undecided=True, again=True)
        if idle := _untrained(options, observation.cases) or not_on_device(trainings):
            return Award(fraction=0.0, reason=idle)
        judged = _judged(options, trainings)
        limits = {"peak_bytes": options.peak_bytes_at_least, "launches": options.launches_at_least}
        if judged.fraction and (reason := implausible(trainings, observation.cases, **limits)):
            return replace(judged, fraction=0.0, reason=f"{reason}; a person must look", undecided=True)
        return judged


def _judged(options: CudaCalls.Options, trainings: Sequence[Training]) -> Award:
    """Whether what must be flat is, by records that are complete."""
    own_asked = options.own == "flat"
    counts_by_rule = _series_by_rule(options, trainings)
    if own_asked and not all(traffic.count for traffic in counts_by_rule["own"][1]):
        flag = f"own_unseen: no allocation was seen inside {' or '.join(options.own_through)}"
        reason = "a person looks at the allocations"
        return Award(fraction=0.0, reason=reason, flags=(flag,), undecided=True)
    limits = {"slack": options.slack, "slack_bytes": options.peak_growth_at_most}
    problems = {name: growth(what, of, trainings, **limits) for name, (what, of) in counts_by_rule.items()}
    # Memory that is never given back counts against the widest of what is asked for.
    widest = list(problems)[-1]
    problems[widest] = problems[widest] or peak_growth(trainings, options.peak_growth_at_most)
    grown = grown_places(trainings)
    stray = sum(count for (function, _), count in grown.items() if not function)
    flag = f"unbracketed: {stray:,} more allocations were made by no function that ctypes called"
    # What grows there might be own arrays that were allocated in a way that is not seen.
    flags = (flag,) if own_asked and not problems["own"] and stray > options.slack else ()
    if missed := [problem for problem in problems.values() if problem]:
        share = 1 - len(missed) / len(problems) if options.credit == "per_case" else 0.0
        reason = "; ".join(filter(None, (*missed, growth_in_words(grown))))
        return Award(fraction=share, reason=reason, hint=hint_for(grown), flags=flags)
    flat = [
        f"{what}: {series([traffic.count for traffic in of], trainings)}"
        for what, of in counts_by_rule.values()
    ]
    return Award(fraction=1.0, reason="; ".join(filter(None, (*flat, growth_in_words(grown)))), flags=flags)


def _series_by_rule(
    options: CudaCalls.Options, trainings: Sequence[Training]
) -> dict[str, tuple[str, list[Traffic]]]:
    """Return each series that must be flat: its name, and its sums by training; the widest last."""
    series_by_rule = {}
    if options.own == "flat":
        what = f"allocations inside {' or '.join(options.own_through)}"
        series_by_rule["own"] = (
            what,
            [allocated_in(training.trace, options.own_through) for training in trainings],
        )
    if options.totals == "flat":
        series_by_rule["totals"] = "allocations", [allocated(training.trace) for training in trainings]
    return series_by_rule


def _train(context: CheckContext, of: str, case: InputCase) -> tuple[Call, str]:
    """Train once; return the call, and the printed text."""
    module, _, function = of.rpartition(".")
    with context.subject(module, observed=True) as subject:
        usable = subject.imported.outcome is Outcome.OBSERVED
        call = subject.call(function, case) if usable else subject.imported
        return call, subject.output


def _case(
    options: CudaCalls.Options, context: CheckContext, case: InputCase, call: Call, training: Training
) -> Case:
    """One training as evidence keeps it."""
    from grader.harness.render import call_text, record, value_text

    quantities = {"wall_s": Quantity(value=call.wall_s, unit="s")}
    if not unseen((training,), NEEDED):
        total = allocated(training.trace)
        quantities |= {
            "launches": Quantity(value=training.trace.launch_count, unit="launches"),
            "allocations": Quantity(value=total.count, unit="calls"),
            "allocated_bytes": Quantity(value=total.bytes, unit="bytes"),
            "peak_bytes": Quantity(value=training.trace.peak_bytes, unit="bytes"),
        }
    called = Case(
        name=f"{training.epochs} epochs",
        outcome=call.outcome,
        called=call_text(function_name(options.of), case),
        returned=value_text(call.value),
        inputs={"args": record(list(case.args)), "kwargs": record(dict(case.kwargs))},
        quantities=quantities,
        changed_inputs=call.changed_inputs,
    )
    if options.trained == "losses_fall":
        return _with_losses(called, call.value, training.epochs)
    return _with_oracle(called, options, context, case, call.value)


def _with_oracle(
    called: Case, options: CudaCalls.Options, context: CheckContext, case: InputCase, value: Any
) -> Case:
    from grader.harness.compare import compare
    from grader.harness.render import case_texts

    oracle = context.expected(options.expected or function_name(options.of))
    right = oracle(*case.args, **case.kwargs)
    compared = compare(value, right, options.tolerance)
    agrees = {_TRAINED: compared.agrees}
    return replace(
        called,
        agrees=agrees,
        **case_texts(returned=value, expected=right, at=compared.at),
        note=compared.note,
        symptom=compared.symptom,
    )


def _with_losses(called: Case, value: Any, epochs: int) -> Case:
    from numpy import isfinite

    from grader.harness.structure import Mismatch, array_of

    try:
        losses = array_of(value, (epochs,)).real.astype(float)
    except (Mismatch, OverflowError) as mismatch:
        return replace(called, agrees={_TRAINED: False}, note=f"{mismatch} (a loss for each epoch)")
    if not isfinite(losses).all():
        return replace(called, agrees={_TRAINED: False}, note="a loss is not a finite number")
    ends = {"first_loss": Quantity(value=float(losses[0])), "last_loss": Quantity(value=float(losses[-1]))}
    return replace(called, agrees={_TRAINED: True}, quantities={**called.quantities, **ends})


def _untrained(options: CudaCalls.Options, cases: Sequence[Case]) -> str:
    """How it is known that one of them was no training; empty if all were."""
    for case in cases:
        if not case.agrees[_TRAINED]:
            return f"{case.name}: what comes back is not that of a training: {case.note}"
        if options.trained == "losses_fall":
            first, last = (_number(case, name) for name in ("first_loss", "last_loss"))
            if not last <= options.fall_to * first:
                most = options.fall_to * first
                return (
                    f"{case.name}: the loss goes from {first:.4g} to {last:.4g}, and must fall to {most:.4g}"
                )
    return ""


def _number(case: Case, name: str) -> float:
    value = case.quantities[name].value
    return float(value) if isinstance(value, int | float) else float("nan")
