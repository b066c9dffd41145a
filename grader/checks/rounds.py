"""Alternating rounds of timed calls: the submission's functions and the reference's, on fresh inputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from secrets import randbelow
from typing import TYPE_CHECKING, Any

from grader.checks.waiting import NOT_TIMED, TRIED_AGAIN, waited
from grader.contracts.call import Call, InputCase
from grader.contracts.context import KERNEL_RAN, OTHERS_RAN, CheckContext, Subject
from grader.errors import CourseError, ReferenceFailedError
from grader.harness.render import call_text, case_texts
from grader.model.observation import Case, Outcome, Quantity

if TYPE_CHECKING:
    from grader.checks.calls import Oracle
    from grader.checks.series import SeriesProof

REPEATS = 3
"""How often at most a quick function is called in one round, and counted."""
LEAD, LEAD_SPREAD = 3, 3
"""In front of these come so many calls, or up to two more, that are not counted."""
BRIEF_S = 0.05
"""What takes longer is not called in a row: after a rest a call takes 1.5 ms more."""
MOST_DRAWS = LEAD + LEAD_SPREAD - 1 + REPEATS
BURST_BYTES = 2**30
"""So much inputs and results of one round may take; less is counted if it would be more."""

LOOP_WAITED = "a loop had to wait for its core"
"""Words for a disturbed round where the watch over the cores saw nothing."""

CORRECT = "correct the reference, expected.py or the tolerance"
"""What a teacher does whose reference is wrong."""

LEAST_S = 1e-7
"""The shortest time that is believed: no clock here tells less, and nothing must be divided by zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """One function in a child of its own."""

    subject: Subject
    function: str
    ours: bool
    """Whether it is the reference's: then a failure is the course's."""
    quick: bool
    """Whether it should be the faster one."""
    proof: SeriesProof | None = None
    """Exchanges inputs among its calls, where it should compute on a GPU."""

    def before(self) -> None:
        """Calls that count begin."""
        if self.proof:
            self.proof.before()

    def after(self, calls: Sequence[Call], *, counted: int) -> None:
        """Calls have ended of which so many count, the last ones."""
        if self.proof:
            self.proof.after(calls, counted=counted)

    def finish(self) -> None:
        """No more calls will count."""
        if self.proof:
            self.proof.finish()


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When it is enough."""

    least: int
    """Rounds that are done in any case."""
    budget_s: float
    """Seconds after which no further round begins."""
    decided: Callable[[Rounds], bool]
    """Whether more samples could not change the verdict."""

    def enough(self, rounds: Rounds, begun: int, spent_s: float) -> bool:
        """Whether to stop after `begun` rounds and `spent_s` seconds, whatever a submission does."""
        late = spent_s > self.budget_s and not rounds.undecided
        if rounds.undisturbed >= self.least:
            return late or self.decided(rounds)
        return begun > self.least and late


Round = tuple[Mapping[str, Call], Call]
"""The calls of one round, and what handing over a result once more took."""


@dataclass(slots=True, kw_only=True)
class Rounds:
    """Samples of the undisturbed rounds; of others, in which the machine was busy, only the number."""

    samples: dict[str, list[float]]
    """Seconds by runner; the rounds stand at the same places."""
    cpu: dict[str, list[float]]
    """CPU seconds by runner, likewise."""
    first_call_s: dict[str, float] = field(default_factory=dict)
    identity_s: list[float] = field(default_factory=list)
    disturbed: int = 0
    disturbances: set[str] = field(default_factory=set)
    """What disturbed them, in a few words each."""
    failed: Call | None = None
    """A call of the submission that did not return."""
    wrong: Case | None = None
    """A timed call of the submission whose result is not the oracle's."""
    spoiled_by: str = ""
    """The runner of that call, or of the one that did not return."""

    _open: list[Round] = field(default_factory=list)
    """Rounds of which it is not clear yet whether they were undisturbed."""

    @property
    def undisturbed(self) -> int:
        """The number of rounds that count."""
        return min(map(len, self.samples.values()))

    @property
    def undecided(self) -> bool:
        """Whether it is not clear yet of some rounds whether they count."""
        return bool(self._open)

    def enough(self, least: int) -> bool:
        """Tell whether nobody needs to find the cause of a disturbance of the cores."""
        on_cores = self.disturbances and self.disturbances <= {OTHERS_RAN, KERNEL_RAN, LOOP_WAITED}
        return bool(self.undisturbed >= least or self.failed or self.wrong or not on_cores)

    @property
    def noise(self) -> str:
        """The note of an item of which too few rounds were undisturbed."""
        why = f" ({'; '.join(sorted(self.disturbances))})" if self.disturbances else ""
        busy = f"the machine was busy in {self.disturbed} of {self.disturbed + self.undisturbed} rounds"
        return f"{NOT_TIMED}: {busy}{why}; {TRIED_AGAIN}"

    def add(self, calls: Mapping[str, Call], again: Call, disturbance: str | None) -> None:
        """Record a round and its disturbance: None if that shows later, together with later rounds."""
        self._open.append((calls, again))
        if disturbance is None:
            return
        if disturbance:
            self.disturbed += len(self._open)
            self.disturbances.add(disturbance)
        else:
            for open_calls, open_again in self._open:
                self._count(open_calls, open_again)
        self._open.clear()

    def _count(self, calls: Mapping[str, Call], again: Call) -> None:
        self.identity_s.append(again.wall_s)
        for name, call in calls.items():
            # a smaller result is handed over faster: what the reference's takes would be too much for it
            share = min(1.0, _bytes(call.value) / max(1, _bytes(again.value)))
            self.samples[name].append(max(LEAST_S, call.wall_s - share * again.wall_s))
            self.cpu[name].append(max(LEAST_S, _cpu_s(call) - share * _cpu_s(again)))


def timed_rounds(
    context: CheckContext,
    runners: Mapping[str, Runner],
    family: str,
    oracle: Oracle,
    *,
    loop: str,
    schedule: Schedule,
) -> Rounds:
    """Time every runner once a round, until the schedule says that it is enough.

    `loop` names a runner of the reference's whose work is nothing but computing on one core: it tells whether
    the machine was quiet, and gives its result again, for a submission could be slow to do so. No later
    runner shares its child. The first round warms up, on data of its own, and is not counted.

    What is much quicker than the loop is called several times a round, each time on inputs of its own, and
    the median call counts: that costs little, and a few milliseconds are not the same twice. Where the item
    has a device, and a call of the reference's is brief, these calls are made in a row: all inputs are drawn,
    and the oracle is asked, before them, results are judged behind them, and some calls in front of those
    that count wake the device, its bus and the caches, as they are in a program that makes one call after the
    other.

    Raises:
        CourseError: the family does not give exactly one case, or the reference fails or is wrong.
    """
    rounds = Rounds(samples={name: [] for name in runners}, cpu={name: [] for name in runners})
    begun = time.monotonic()
    repeats = {name: 2 if runner.quick else 1 for name, runner in runners.items()}
    in_bursts = ""
    for number in count():
        lead = LEAD + randbelow(LEAD_SPREAD) if in_bursts else 0
        draws = _draws(context, family, number, oracle, lead=lead, most=max(repeats.values()))
        if number:
            context.quiet.begin(anew=number == 1)
        made = _Round(lead=lead, draws=draws, repeats=repeats)
        for name, runner in runners.items():
            runner.before()
            made.call(rounds, name, runner, REPEATS if name == in_bursts else 0)
            if rounds.failed or rounds.wrong:
                rounds.spoiled_by = name
                if rounds.wrong:
                    _require_right_reference(rounds, runners, runner.function, draws)
                return rounds
            runner.after(made.calls[name], counted=len(made.counted[name]))
        if not in_bursts:
            made.hand_over_again(rounds, runners[loop])
        if number == 0:
            rounds.first_call_s = {name: calls[0].wall_s for name, calls in made.calls.items()}
            seconds = {name: calls[-1].wall_s for name, calls in made.calls.items()}
            repeats = _repeats(seconds, loop)
            in_bursts = _brief_reference(runners, seconds) if context.devices else ""
        else:
            disturbance = context.quiet.end()
            middle = {name: _middle(calls) for name, calls in made.counted.items()}
            if disturbance != KERNEL_RAN:  # whose doing that is shows later
                disturbance = _waited(middle[loop]) or disturbance
            rounds.add(middle, _middle(made.again), disturbance)
        if schedule.enough(rounds, number + 1, time.monotonic() - begun):
            for runner in runners.values():
                runner.finish()
            return rounds
    raise AssertionError("counting does not end")


@dataclass(slots=True, kw_only=True)
class _Round:
    """The calls of one round."""

    lead: int
    """How many calls in a row are not counted; 0 where each stands for itself."""
    draws: Sequence[_Draw]
    repeats: Mapping[str, int]
    """How often each runner is called and counted, if there are as many draws."""
    calls: dict[str, list[Call]] = field(default_factory=dict)
    """By runner; the first ones may not count."""
    counted: dict[str, list[Call]] = field(default_factory=dict)
    again: list[Call] = field(default_factory=list)
    """What handing over a result once more took."""

    def call(self, rounds: Rounds, name: str, runner: Runner, again: int) -> None:
        """Call one runner, and judge what it gives, until something spoils the rounds."""
        lead = self.lead if runner.quick else 0
        draws = self.draws[: lead + self.repeats[name]]
        made = self.calls[name] = []
        if lead:
            burst = runner.subject.burst(runner.function, [draw.case for draw in draws], again=again)
            calls: Iterable[Call] = burst.calls
            self.again += burst.again
        else:
            calls = (runner.subject.call(runner.function, draw.case) for draw in draws)
        for draw, call in zip(draws, calls, strict=False):
            made.append(call)
            _judge(rounds, runner, draw, call)
            if rounds.failed or rounds.wrong:
                return
        for call in self.again if again else ():
            _judge(rounds, runner, draws[-1], call)
        self.counted[name] = made[lead:]

    def hand_over_again(self, rounds: Rounds, runner: Runner) -> None:
        """Have a runner of the reference's give its result again, once for each draw."""
        for draw in self.draws:
            self.again.append(runner.subject.again(draw.case))
            # looked at as well, for its own sake and for the pause before the next: a processor that
            # was idle for some milliseconds takes a tenth of one to come back
            _judge(rounds, runner, self.draws[0], self.again[-1])


def _brief_reference(runners: Mapping[str, Runner], seconds: Mapping[str, float]) -> str:
    """The reference's quick function, if it is so quick that a rest matters; empty if it is not."""
    quick = (name for name, runner in runners.items() if runner.quick and runner.ours)
    return next((name for name in quick if seconds[name] <= BRIEF_S), "")


def _draws(
    context: CheckContext, family: str, number: int, oracle: Oracle, *, lead: int, most: int
) -> list[_Draw]:
    """Draw the inputs of a round: enough for `lead` calls that are not counted and up to `most` that are.

    One is counted in any case, whatever it takes.
    """
    draws: list[_Draw] = []
    size = 0
    while len(draws) < lead + most and (len(draws) <= lead or size < BURST_BYTES):
        draws.append(_Draw(context, family, number * MOST_DRAWS + len(draws), oracle))
        size += draws[-1].size
    return draws


class _Draw:
    """One draw of the inputs, and what the oracle says of it."""

    def __init__(self, context: CheckContext, family: str, number: int, oracle: Oracle) -> None:
        self.case = _only_case(context, family, number)
        self.oracle = oracle
        self.expected = oracle(*self.case.args, **self.case.kwargs)
        # the inputs twice, what is expected, and what two programs give, twice as well
        self.size = 2 * _bytes([list(self.case.args), dict(self.case.kwargs)]) + 5 * _bytes(self.expected)


def _repeats(seconds: Mapping[str, float], loop: str) -> dict[str, int]:
    """How often to call each in one round: all repetitions together take a tenth of what the loop takes."""
    share_s = seconds[loop] / 10
    return {name: max(1, min(REPEATS, int(share_s / max(LEAST_S, s)))) for name, s in seconds.items()}


def _middle(calls: Sequence[Call]) -> Call:
    """The call with the median time."""
    return sorted(calls, key=lambda call: call.wall_s)[len(calls) // 2]


def _only_case(context: CheckContext, family: str, number: int) -> InputCase:
    cases = context.draw(family, number)
    if len(cases) != 1:
        raise CourseError(f"inputs.py: {family}: gives {len(cases)} cases; a timed family gives one")
    return cases[0]


def _judge(rounds: Rounds, runner: Runner, draw: _Draw, call: Call) -> None:
    """Note what spoils the rounds: a call that did not return, or one whose own output is wrong."""
    case, expected = draw.case, draw.expected
    if call.outcome is not Outcome.OBSERVED:
        if runner.ours:
            raise ReferenceFailedError(
                f"reference: {runner.function}: {call.note}", output=runner.subject.output
            )
        rounds.failed = call
        return
    compared = draw.oracle.compared(call.value, expected)
    if compared.agrees:
        return
    if runner.ours:
        raise CourseError(f"reference: {runner.function}: a timed call is wrong: {compared.note}; {CORRECT}")
    rounds.wrong = Case(
        name=case.name,
        outcome=Outcome.OBSERVED,
        agrees={"expected": False},
        called=call_text(runner.function, case),
        **case_texts(returned=call.value, expected=expected, at=compared.at),
        note=compared.note,
        symptom=compared.symptom,
        quantities={"wall_s": Quantity(value=call.wall_s, unit="s")},
    )


def _require_right_reference(
    rounds: Rounds, runners: Mapping[str, Runner], function: str, draws: Sequence[_Draw]
) -> None:
    """Have the reference called with what a program's function gave a wrong result for.

    Raises:
        CourseError: it is wrong as well, so that it or the oracle is.
    """
    for runner in runners.values():
        for draw in draws if runner.ours and runner.function == function else ():
            _judge(rounds, runner, draw, runner.subject.call(function, draw.case))


def _bytes(value: Any) -> int:
    """Return how much of a result is handed over, as far as its size matters."""
    if isinstance(value, Mapping):
        return sum(map(_bytes, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(_bytes, value))
    return int(getattr(value, "nbytes", 8))


def _cpu_s(call: Call) -> float:
    """Its CPU time; where the kernel does not tell, as if it had computed all the time."""
    return call.wall_s if call.cpu_s is None else call.cpu_s


def _waited(call: Call) -> str:
    """Return the words for a loop that waited for a core which it should have had alone; empty otherwise."""
    if call.cpu_s is not None and waited(call.wall_s, call.cpu_s):
        return LOOP_WAITED
    return ""
