"""Whether a program of several processes does together what it should, and who waits where if it does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from grader.checks.calls import cases_of
from grader.checks.printed import CLAIM, beyond, impossible_bounds, last_number, spelled_numbers, unread
from grader.checks.rank_words import verdict
from grader.checks.tools import refusal
from grader.contracts.check import CheckKind
from grader.errors import CourseError
from grader.harness.tolerance import Tolerances
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.options import InputsName, OracleName, ProgramFile, option, refuse
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.contracts.call import InputCase
    from grader.contracts.context import CheckContext
    from grader.contracts.ranks import LaunchedRanks, Rank

BACKEND = "{backend}"
PRINTING = "printing_ranks"
STACK = 8000
"""Characters of the stacks of one process that are shown with what it printed."""


class Ranks(CheckKind):
    """Run a file as a program of several processes, and hold what each of them reports against `expected.py`.

    The file may be the course's own and call functions of the submission. `torchrun` starts it as often as
    there are processes, with `RANK`, `WORLD_SIZE` and the like; `spawn` starts it once, and it starts its
    processes itself, as with `torch.multiprocessing.spawn`. They talk over a loopback of their own; the
    variable
    `BACKEND` says through what. `from grader_ranks import inputs, report` gives them the inputs of a case,
    and takes what each rank has found. There is a launch for each case, and none after one that failed.

    A program that takes too long, or in which nobody computes any more, is stopped, and every rank is asked
    where it stands. Everything here is told by the program's own processes: claims, as with `script`; but
    `expected.py` holds the answers, and the inputs are drawn anew.
    """

    name: ClassVar[str] = "ranks"
    asks_reference: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        file: ProgramFile = option("The file to run.")
        arguments: tuple[str, ...] = option(
            "The command line of each process; {backend} is replaced.", default=()
        )
        processes: int = option("How many there are.", above=0, default=2)
        launcher: Literal["torchrun", "spawn"] = option(
            "Who starts them: torchrun, or the program itself.", default="torchrun"
        )
        backend: Literal["auto", "gloo", "nccl"] = option(
            "What they talk through; auto is nccl where the item has a GPU for each, and gloo elsewhere.",
            default="auto",
        )
        within_s: float = option("How many seconds one launch may take.", default=60.0, above=0)
        blocked_s: float = option(
            "Seconds in which no process computes, and none sleeps, after which it is taken to be blocked.",
            default=10.0,
            above=0,
        )
        inputs: InputsName = option(
            "The family of inputs; its cases give arrays and numbers by name.", default=InputsName("")
        )
        expected: OracleName = option(
            "The oracle: a mapping of what every rank must report, or a list of them, by rank.",
            default=OracleName(""),
        )
        tolerance: Tolerances = option(
            "How far floats may be from the expected ones, by dtype; integers are exact.",
            default=Tolerances(),
        )
        numbers: Mapping[str, str] = option(
            "Numbers to read, by name: printed text with {} where the number stands; the first rank that "
            "prints it counts, and of it the last one.",
            default_factory=dict,
        )
        at_least: Mapping[str, float] = option(
            "What numbers must reach, by name.", judges=True, default_factory=dict
        )
        at_most: Mapping[str, float] = option(
            "What numbers must not exceed, by name.", judges=True, default_factory=dict
        )
        prints: Literal["any", "rank_0"] = option(
            "Who may print; what goes to the error output does not count.", judges=True, default="any"
        )

        def __post_init__(self) -> None:
            """Refuse bounds of numbers that are not read."""
            refuse(unread(self.numbers, self.at_least, self.at_most), self)

    def gpus_needed(self, options: Options) -> int:
        """Return one for each process where all of them use NCCL."""
        return options.processes if options.backend == "nccl" else 0

    def objections(self, options: Options, assignment: str) -> Iterator[tuple[str, str]]:
        """Yield bounds that no number keeps."""
        del assignment
        yield from impossible_bounds(options.at_least, options.at_most)

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Launch it for each case, until one of them fails."""
        backend = _backend(options, context)
        cases = cases_of(context, options.inputs) if options.inputs else (None,)
        observed: list[Case] = []
        outcome, note = Outcome.OBSERVED, ""
        for case in cases:
            launched = _launch(options, context, case, backend)
            if launched.call.outcome is not Outcome.OBSERVED:
                return refusal(context, launched.call.note, launched.call)
            outcome, wrong = verdict(launched, options.within_s)
            if wrong:
                note = f"{options.file}: {wrong}"
                break
            observed += _compared(options, context, case, launched)
        return Observation(
            item=context.item,
            outcome=outcome,
            note=note,
            cases=tuple(observed) if outcome is Outcome.OBSERVED else (),
            quantities=dict(_quantities(options, launched)),
            facts={
                "backend": backend,
                PRINTING: [rank.rank for rank in launched.ranks if rank.output.strip()],
                "ranks": [_fact(rank) for rank in _processes(launched)],
            },
            output=_output(launched),
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if what every rank reported is right, and numbers lie within their bounds."""
        del related
        wrong = list(_wrong(options, observation))
        if wrong:
            return Award(fraction=0.0, reason="; ".join(wrong[:3]))
        numbers = spelled_numbers(options.numbers, observation.quantities)
        agree = (f"{len(observation.cases)} of {len(observation.cases)} reports agree",) * bool(
            observation.cases
        )
        summary = ", ".join((*agree, *numbers))
        return Award(
            fraction=1.0,
            reason=f"{options.processes} processes ran to their end: {summary}".removesuffix(": "),
        )


def _backend(options: Ranks.Options, context: CheckContext) -> str:
    if options.backend != "auto":
        return options.backend
    return "nccl" if context.devices >= options.processes else "gloo"


def _launch(
    options: Ranks.Options, context: CheckContext, case: InputCase | None, backend: str
) -> LaunchedRanks:
    from grader.contracts.ranks import RanksOrder

    if case is not None and case.args:
        raise CourseError(f"inputs.py: {options.inputs}: case {case.name!r}: give its arguments by name")
    return context.ranks(
        RanksOrder(
            file=options.file,
            arguments=tuple(argument.replace(BACKEND, backend) for argument in options.arguments),
            processes=options.processes,
            launcher=options.launcher,
            within_s=options.within_s,
            blocked_s=options.blocked_s,
            output_kb=context.limits.output_kb,
            environment={"BACKEND": backend},
            inputs={} if case is None else case.kwargs,
        )
    )


def _compared(
    options: Ranks.Options, context: CheckContext, case: InputCase | None, launched: LaunchedRanks
) -> Iterator[Case]:
    """Compare the values that each rank reported with the oracle's."""
    if not options.expected:
        return
    from grader.harness.compare import compare
    from grader.harness.render import case_texts

    kwargs = {} if case is None else dict(case.kwargs)
    expected = context.expected(options.expected)(**kwargs)
    by_rank = expected if isinstance(expected, list | tuple) else [expected] * options.processes
    if len(by_rank) != options.processes or not all(isinstance(values, dict) for values in by_rank):
        raise CourseError(
            f"expected.py: {options.expected}: must give a mapping of what is reported, "
            f"or a list of {options.processes} of them"
        )
    for rank, right in zip(launched.ranks, by_rank, strict=True):
        reported = {name: value for name, value in rank.values.items() if name in right}
        missing = [name for name in right if name not in reported]
        compared = compare(reported, right, options.tolerance) if not missing else None
        at = compared.at if compared else ()
        yield Case(
            name=f"rank {rank.rank}" if case is None else f"{case.name}, rank {rank.rank}",
            outcome=Outcome.OBSERVED,
            agrees={options.expected: compared is not None and compared.agrees},
            **case_texts(returned=reported, expected=right, at=at),
            note=f"did not report {', '.join(missing)}" if compared is None else compared.note,
        )


def _quantities(options: Ranks.Options, launched: LaunchedRanks) -> Iterator[tuple[str, Quantity]]:
    yield "wall_s", Quantity(value=launched.call.wall_s, unit="s")
    for name, text in options.numbers.items():
        numbers = (last_number(text, rank.output) for rank in _processes(launched))
        yield name, Quantity(value=next((n for n in numbers if n is not None), None), taken_by=CLAIM)


def _wrong(options: Ranks.Options, observation: Observation) -> Iterator[str]:
    for case in observation.cases:
        if not all(case.agrees.values()):
            yield f"{case.name}: {case.note}"
    seen = {name: quantity.value for name, quantity in observation.quantities.items()}
    yield from beyond(options.numbers, seen, options.at_least, options.at_most)
    others = [str(rank) for rank in observation.facts[PRINTING] if rank]
    if options.prints == "rank_0" and others:
        yield f"rank {', '.join(others)} prints as well; only rank 0 should"


def _processes(launched: LaunchedRanks) -> list[Rank]:
    """The ranks, and behind them whoever started them, if that is the program's own."""
    return [*launched.ranks, *((launched.main,) if launched.main else ())]


def _fact(rank: Rank) -> dict[str, Any]:
    """Return the stored facts of a rank; its reported values are in its case."""
    return {
        name: value for name, value in asdict(rank).items() if name not in {"values", "output", "complaints"}
    }


def _output(launched: LaunchedRanks) -> str:
    """Join the printed texts of the processes, with the errors that stopped them."""
    parts = []
    for rank in _processes(launched):
        texts = "\n".join(filter(None, (rank.output.rstrip("\n"), rank.complaints.rstrip("\n"))))
        name = "the program" if rank.rank is None else f"rank {rank.rank}"
        if texts:
            parts.append(f"{name}:\n{texts}")
        if rank.stack:
            parts.append(f"{name} stood here:\n{rank.stack[:STACK].rstrip()}")
    if launched.launcher.strip():
        parts.append(f"the launcher:\n{launched.launcher.rstrip()}")
    return "\n\n".join(parts)
