"""Which kernels a function launches, in what shape, and that its result depends on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import prod
from typing import TYPE_CHECKING, ClassVar, Literal

from grader.checks.by_hand import award_given
from grader.checks.calls import failed_observation, function_name
from grader.checks.drawings.gpu import gpu_drawings
from grader.checks.report_figures import MOST_THREADS
from grader.checks.watched import (
    WATCHED,
    idle_or_wrong,
    trace_quantities,
    unproven,
    unrecorded,
    watch,
    watched_of,
)
from grader.config.codec import to_plain
from grader.contracts.check import CheckKind
from grader.harness.tolerance import Tolerances
from grader.model.drawing import Advice
from grader.model.observation import Observation, Outcome
from grader.model.options import FunctionName, InputsName, OracleName, option, refuse
from grader.model.score import Award
from grader.model.trace import Launch, Trace, Watched

if TYPE_CHECKING:
    from grader.contracts.context import CheckContext
    from grader.model.drawing import Drawing

SIDES = 3
SHAPE = (
    "The two numbers in kernel[blocks, threads]: the first is how many blocks the grid has, the second how "
    "many threads each block has. Print them right before the launch."
)
LAUNCHES = "Which kernels are launched, and how often: their names and shapes are in the table."
TOLD = 4
"""How many kinds of launches a sentence names."""
Shape = int | tuple[int, ...]
"""A number of blocks or threads in whatever dimensions, or its three sides."""


class KernelLaunch(CheckKind):
    """Call a function under observation and hold every kernel that it launched against the rubric.

    The rule is over all launches of the call: what is asked for must be there as often as asked, in the shape
    asked for, and nothing else beside it. Two sources tell of them, an observer of the device and numba's own
    account; where they contradict each other nothing is decided and a person is told. The result must be
    right, and made on the device: in another call numba's kernels get other inputs than the program has, and
    the result must be that of theirs. Where that is not clear a person looks.

    On a machine without a GPU numba's simulator stands in, if `simulated_inputs` says with what.
    """

    name: ClassVar[str] = "kernel_launch"
    by_hand: ClassVar[bool] = True
    shares_gpu: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The function to call, as module.function.")
        inputs: InputsName = option("The family of inputs; its last case, drawn anew, is called.")
        simulated_inputs: InputsName = option(
            "The family in its place where numba's simulator stands in for a GPU; left out, none does.",
            default=InputsName(""),
        )
        expected: OracleName = option(
            "The oracle; if it is not given, the one with the function's own name.",
            like="of",
            default=OracleName(""),
        )
        kernel: str = option("The kernel's name; * and ? stand for anything.", judges=True)
        blocks: Shape | None = option(
            "How many blocks, in whatever dimensions; or [x, y, z] for exactly these.",
            judges=True,
            default=None,
            above=0,
        )
        threads: Shape | None = option(
            "How many threads per block, in whatever dimensions; or [x, y, z] for exactly these.",
            judges=True,
            default=None,
            above=0,
        )
        count: int = option("How often it must be launched.", judges=True, default=1, above=0)
        tolerance: Tolerances = option(
            "How far floats may be from the expected ones, by dtype; integers are exact.",
            default=Tolerances(),
        )
        others: Literal["refused", "allowed"] = option(
            "Whether other kernels may be launched beside it.", judges=True, default="refused"
        )

        def __post_init__(self) -> None:
            shapes = {"blocks": self.blocks, "threads": self.threads}
            wrong = [
                key
                for key, shape in shapes.items()
                if isinstance(shape, tuple) and (not 1 <= len(shape) <= SIDES or min(shape) < 1)
            ]
            messages = [f"{key}: must be a number, or one to three numbers from 1 on" for key in wrong]
            refuse(messages, None if "threads" in wrong else self)

    def gpus_needed(self, options: Options) -> int:
        """Return 1, that runs the kernels."""
        del options
        return 1

    def objections(self, options: Options, assignment: str) -> Iterator[tuple[str, str]]:
        """Yield blocks that no GPU runs."""
        del assignment
        threads = options.threads
        count = threads if isinstance(threads, int) else prod(threads or ())
        if threads is not None and count > MOST_THREADS:
            yield "threads", f"a block has {MOST_THREADS} threads at most, got {count}"

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Call under observation, also with the inputs of another call on the device."""
        family = options.simulated_inputs if context.simulated else options.inputs
        oracle = context.expected(options.expected or function_name(options.of))
        watched = watch(context, options.of, family, oracle, options.tolerance)
        if not isinstance(watched, Watched):
            return failed_observation(context, watched, options.of)
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            quantities=dict(trace_quantities(watched.trace)),
            facts={WATCHED: to_plain(watched)},
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if every launch is as asked; nothing is decided on an incomplete record."""
        del related
        if by_hand := award_given(observation):
            return by_hand
        watched = watched_of(observation.facts)
        if watched is None:
            return Award(fraction=0.0, reason="nothing was launched")
        right = Award(fraction=1.0, reason="; ".join(_launches_in_words(watched.trace.launches)))
        return _undecided(watched) or _lost(options, watched) or unproven(watched) or right

    def show(self, options: Options, observation: Observation) -> Iterator[Drawing]:
        """Draw what the GPU did."""
        yield from gpu_drawings(observation)
        watched = watched_of(observation.facts)
        if watched is None or not watched.trace.complete or idle_or_wrong(watched):
            return
        if _wrong_shape(options, watched.trace):
            yield Advice(text=SHAPE)
        if _wrong_launches(options, watched.trace):
            yield Advice(text=LAUNCHES)


def _undecided(watched: Watched) -> Award | None:
    """Open where the record has a hole, or two sources contradict each other."""
    if not watched.trace.complete:
        return unrecorded("the launches could not be observed", watched)
    if unlike := _contradiction(watched.trace):
        flag = f"sources_disagree: {unlike}"
        return Award(fraction=0.0, reason="a person looks at the launches", flags=(flag,), undecided=True)
    return None


def _lost(options: KernelLaunch.Options, watched: Watched) -> Award | None:
    problem = idle_or_wrong(watched) or _wrong_launches(options, watched.trace)
    return Award(fraction=0.0, reason=problem) if problem else None


def _contradiction(trace: Trace) -> str:
    """Where numba's account and the observer's differ; a program may launch kernels that are not numba's."""
    if trace.framework_launches is None or trace.source == "none":
        return ""
    missing = Counter(map(_shape, trace.framework_launches)) - Counter(map(_shape, trace.launches))
    if not missing or trace.launch_count > len(trace.launches):
        return ""
    launches = ", ".join(f"{name}[{blocks}, {threads}]" for name, blocks, threads in missing)
    return f"numba launched {launches}; the device did not run it"


def _shape(launch: Launch) -> tuple[str, int, int]:
    return launch.kernel, prod(launch.grid), prod(launch.block)


def _wrong_shape(options: KernelLaunch.Options, trace: Trace) -> str:
    """Return the first launch in another shape as a sentence; empty if there is none."""
    for launch in trace.launches:
        if not fnmatchcase(launch.kernel, options.kernel):
            continue
        for what, shape, required in (
            ("block", launch.grid, options.blocks),
            ("thread", launch.block, options.threads),
        ):
            if required is not None and not _fits(shape, required):
                per_block = " per block" if what == "thread" else ""
                ran, due = _sides(shape, what), _sides(required, what)
                return f"{launch.kernel} ran with {ran}{per_block}; asked for {due}"
    return ""


def _wrong_launches(options: KernelLaunch.Options, trace: Trace) -> str:
    if problem := _wrong_shape(options, trace):
        return problem
    named = [launch for launch in trace.launches if fnmatchcase(launch.kernel, options.kernel)]
    others = [launch for launch in trace.launches if not fnmatchcase(launch.kernel, options.kernel)]
    if len(named) != options.count:
        seen_others = f" (launched: {', '.join(_launches_in_words(others))})" if others else ""
        if not named:
            return f"{options.kernel} was not launched{seen_others}; its kernel must have this name"
        due = _times(options.count)
        return f"{options.kernel} was launched {_times(len(named))}, and must be {due}{seen_others}"
    if trace.launch_count > len(trace.launches):
        return (
            f"{trace.launch_count} kernels were launched; {options.kernel} must be, {_times(options.count)}"
        )
    if others and options.others == "refused":
        return f"beside it were launched {', '.join(_launches_in_words(others))}; nothing else is asked for"
    return ""


def _fits(shape: Sequence[int], required: Shape) -> bool:
    if isinstance(required, int):
        return prod(shape) == required
    return tuple(shape) == (*required, 1, 1)[:SIDES]


def _sides(shape: Shape | Sequence[int], what: str) -> str:
    """`1000 blocks`, or `1024 threads (32 x 32)`."""
    if isinstance(shape, int):
        return f"{shape:,} {what}{'' if shape == 1 else 's'}"
    sides = [side for side in shape if side != 1]
    total = prod(shape)
    drawn = f" ({' x '.join(map(str, sides))})" if len(sides) > 1 else ""
    return f"{total:,} {what}{'' if total == 1 else 's'}{drawn}"


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _launches_in_words(launches: Sequence[Launch]) -> list[str]:
    """`max_kernel with 1,000 blocks of 1,000 threads`, alike ones together."""
    counts = Counter(
        f"{launch.kernel} with {_sides(launch.grid, 'block')} of {_sides(launch.block, 'thread')}"
        for launch in launches
    )
    lines = [text if number == 1 else f"{number} times {text}" for text, number in counts.items()]
    return lines if len(lines) <= TOLD else [*lines[:TOLD], f"{len(lines) - TOLD} others"]
