"""Whether output and time of a run are shown, and agree with each other and with the other device's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from grader.api.check import (
    Award,
    CheckKind,
    Drawing,
    MarkedText,
    Observation,
    Outcome,
    Requirement,
    ValueTable,
    award_given,
    award_requirements,
    from_plain,
    option,
    to_plain,
)
from grader.checks.questions import read_answers, tidy_questions, with_questions

from .printed_times import RunTime, accuracies, may_be_of_another_run, run_times

if TYPE_CHECKING:
    from grader.api.check import CheckContext

ROUGHLY = 0.02
"""A time in a sentence may be off by so much of it: 13.42 s are 13.5 s for many."""
SAME_ACCURACY = 0.005
"""A sentence may round the accuracy that the script printed."""
WHOLE_PERCENT, CLOCK_S = 1.0, 0.005
"""`time` cuts off the percentage, and prints times in hundredths of a second."""
MOST_SHOWN = 8000
"""Characters of an answer that are kept, for the person who reads it."""
DEVICES = {"cpu": "the CPU", "gpu": "the GPU"}


class PrintedRun(CheckKind):
    """Read the answer that shows the output of a run, or its time, and hold it against the others.

    An output has the program's accuracy, which must be that of the other run (`beside`). A time must be that
    which `time` printed, wherever in the answers (`printed_in`), and user and system time must make its
    percentage of the CPU. What is missing, an accuracy that is not the script's own, and a GPU that is not
    faster than the CPU wait for a person.
    """

    name: ClassVar[str] = "printed_run"
    by_hand: ClassVar[bool] = True
    tool: ClassVar[str] = "document"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        file: str = option("The report; `*` stands for anything, as in report.*.")
        question: int | str = option("The number or label of the question.")
        text: str = option("The question as the students read it; a copy of it is no part of an answer.")
        questions: Mapping[str, str] = option(
            "Texts of questions in this report that no item of this kind is about, by number.",
            default_factory=dict,
        )
        shows: Literal["output", "time"] = option("What the answer shows.")
        device: Literal["cpu", "gpu"] = option("Where the program ran.", judges=True)
        beside: str = option("The question about the same of the other device.", default="")
        printed_in: str = option("For a time, the question that shows the output of the run.", default="")
        accuracy: float = option("The accuracy that the script prints.", judges=True, default=0.0)
        least_s: float = option("A person looks at shorter times.", judges=True, default=0.0)
        most_s: float | None = option("A person looks at longer times.", judges=True, default=None)

        def __post_init__(self) -> None:
            """Put the question on one line."""
            tidy_questions(self)

        @property
        def label(self) -> str:
            """The number or label of the question as text."""
            return str(self.question).strip()

    def complete(self, options: Options, others: Sequence[Options], *, points: float) -> Options:
        """Return the options with the questions of all items about the same report."""
        del points
        return with_questions(options, others)

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Note accuracies and times of the answers that belong together."""
        labels = [label for label in (options.label, options.beside, options.printed_in) if label]
        answers = read_answers(context, options, labels)
        if isinstance(answers, Observation):
            return answers
        facts, _ = answers
        answer = facts[options.label]
        texts = {label: str(facts[label]["answer"]) for label in labels}
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            facts={
                **{key: answer[key] for key in ("file", "missing", "certain", "why")},
                "answer": texts[options.label][:MOST_SHOWN],
                "accuracies": {label: list(accuracies(text)) for label, text in texts.items()},
                "printed": {label: list(accuracies(text, printed=True)) for label, text in texts.items()},
                "times": {label: [to_plain(t) for t in run_times(text)] for label, text in texts.items()},
            },
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if the answer shows what it must, and contradicts nothing."""
        del related
        if by_hand := award_given(observation):
            return by_hand
        facts = observation.facts
        if facts["missing"] and facts["certain"]:
            return Award(fraction=0.0, reason=f"{facts['file']} has no answer to question {options.label}")
        requirements = [*(_output(options, facts) if options.shows == "output" else _time(options, facts))]
        if not facts["certain"]:
            requirements.append(Requirement(met=None, missed=str(facts["why"])))
        return award_requirements(requirements, credit="all")

    def show(self, options: Options, observation: Observation) -> Iterator[Drawing]:
        """Draw the answer, and what was read in it and in those beside it."""
        facts = observation.facts
        if facts.get("answer"):
            yield MarkedText(title=f"Answer in {facts['file']}", text=str(facts["answer"]), written=True)
        rows = []
        for label in facts.get("times", ()):
            accuracy = ", ".join(f"{one:g}" for one in facts["accuracies"][label])
            read = (from_plain(RunTime, one, where="times") for one in facts["times"][label])
            times = ", ".join(map(_in_words, read))
            if accuracy or times:
                rows.append((label, accuracy, times))
        if rows:
            head = ("question", "accuracy", "elapsed time")
            yield ValueTable(title="Read in the report", head=head, words=frozenset({1, 2}), rows=tuple(rows))


def _in_words(time: RunTime) -> str:
    return f"{time.seconds:g} s{' (printed by time)' if time.printed else ''}"


def _output(options: PrintedRun.Options, facts: Mapping[str, Any]) -> Iterator[Requirement]:
    printed = facts.get("printed", facts["accuracies"])  # older evidence does not tell lines of the script
    own = printed[options.label]
    if not own:
        yield Requirement(met=None, missed="no line “EvalMetric: {'accuracy': …}” is found as text")
        return
    several = _distinct(own, facts["accuracies"][options.label])
    if len(several) > 1:
        shown = ", ".join(f"{one:g}" for one in several[:4])
        yield Requirement(met=None, missed=f"several accuracies are shown ({shown})")
    stated = facts["accuracies"].get(options.beside, ())
    if others := printed.get(options.beside) or stated:
        missed = (
            f"the accuracy is {own[-1]:g} on {DEVICES[options.device]} and {others[-1]:g} on the other "
            "device; both scripts classify the same pictures with the same weights"
        )
        certain = len(several) == 1 and len(_distinct(others, stated)) == 1
        yield Requirement(met=own[-1] == others[-1] or (False if certain else None), missed=missed)
    if options.accuracy:
        missed = f"the accuracy is {own[-1]:g}, and the script prints {options.accuracy:g}"
        yield Requirement(met=own[-1] == options.accuracy or None, missed=missed)


def _distinct(printed: Sequence[float], stated: Iterable[float]) -> list[float]:
    """Return the printed accuracies, and those in sentences that do not round one of them."""
    others = (one for one in stated if all(abs(one - own) > SAME_ACCURACY for own in printed))
    return sorted({*printed, *others})


def _time(options: PrintedRun.Options, facts: Mapping[str, Any]) -> Iterator[Requirement]:
    times = {
        label: [from_plain(RunTime, plain, where="times") for plain in plains]
        for label, plains in facts["times"].items()
    }
    own = times[options.label]
    printed = [time for time in (*own, *times.get(options.printed_in, ())) if time.printed]
    written = [time for time in own if not time.printed]
    time = next(iter(written or own), None)
    if time is None:
        yield Requirement(met=None, missed="no time is found as text")
        return
    if printed and written and not any(_agree(w, p) for w in written for p in printed):
        missed = f"the time is given as {written[0].seconds:g} s, and `time` printed {printed[0].seconds:g} s"
        unsure = may_be_of_another_run(str(facts.get("answer", "")))
        yield Requirement(met=None if unsure else False, missed=missed)
    elif len(written) > 1 and not printed:
        seconds = ", ".join(f"{time.seconds:g} s" for time in written[:4])
        yield Requirement(met=None, missed=f"several times are given ({seconds})")
    else:
        yield Requirement(met=True, missed="")
    for one in printed:
        if one.busy_s is not None and one.cpu_percent is not None and one.seconds > 0:
            share = 100 * one.busy_s / one.seconds
            off = WHOLE_PERCENT + share * CLOCK_S / one.seconds + 100 * 2 * CLOCK_S / one.seconds
            missed = (
                f"{one.busy_s:.4g} s of user and system time in {one.seconds:g} s are {share:.0f}% of a CPU, "
                f"and {one.cpu_percent}% are printed"
            )
            yield Requirement(met=abs(share - one.cpu_percent) <= off, missed=missed)
    meant = (one for w in written for one in printed if _agree(w, one))
    elapsed_s = next(meant, (printed or [time])[0]).seconds
    if elapsed_s < options.least_s or (options.most_s and elapsed_s > options.most_s):
        yield Requirement(met=None, missed=f"no run of this script takes {elapsed_s:g} s")
    others = times.get(options.beside, ())
    if options.beside and others:
        own_s, other_s = elapsed_s, _first(others).seconds
        cpu_s, gpu_s = (own_s, other_s) if options.device == "cpu" else (other_s, own_s)
        missed = f"the run takes {gpu_s:g} s on the GPU and {cpu_s:g} s on the CPU"
        yield Requirement(met=gpu_s < cpu_s or None, missed=missed)


def _first(times: Sequence[RunTime]) -> RunTime:
    """Return the time that a program printed, if there is one."""
    return next((time for time in times if time.printed), times[0])


def _agree(written: RunTime, printed: RunTime) -> bool:
    return (
        abs(written.seconds - printed.seconds) <= max(written.half, ROUGHLY * printed.seconds) + printed.half
    )
