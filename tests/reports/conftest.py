"""Stored evidence that every report must be able to write."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from grader.model.evidence import Evidence, Exam
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.rubric import Item, LatePolicy, Rubric
from grader.model.score import Award, Scorecard, Standing
from grader.model.submission import Submission
from grader.scoring.redact import staff_view, student_view
from grader.scoring.score import score

NOW = datetime(2024, 12, 24, 12, 0, tzinfo=UTC)
DUE = datetime(2024, 12, 19, 8, 0, tzinfo=UTC)
HOSTILE = (
    "<script>alert('x')</script>\" onload='x' "
    "\x00\x07\x1b[31m\x9b2J\ud800\ufffe\u202eevil\r]]> &amp; [bold]שלום"
)


@dataclass(frozen=True, kw_only=True)
class Graded:
    """What a report gets."""

    rubric: Rubric
    evidence: Evidence
    scorecard: Scorecard

    @property
    def staff(self):
        return staff_view(self.rubric, self.evidence, self.scorecard)

    def student(self, **when):
        return student_view(self.rubric, self.evidence, self.scorecard, **{"now": NOW, **when})


class Share:
    """A kind whose observations say which share they earn."""

    name = "share"
    Options = object

    def award(self, options, observation, related):
        share = observation.facts["share"]
        return Award(
            fraction=share,
            reason=observation.facts.get("reason")
            or ("all cases agree" if share == 1 else "1 of 2 cases agrees"),
            flags=tuple(observation.facts.get("flags", ())),
        )


def item(name, title, points=3.0, **keys):
    return Item(**{"id": name, "title": title, "points": points, "check": "share", "options": None, **keys})


def case(name="3 x 4", **keys):
    told = {"called": "zeros_weights([3, 2])", "returned": "[array((2, 3))]", "expected": "[array((3, 2))]"}
    return Case(**{"name": name, "outcome": Outcome.OBSERVED, "agrees": {"expected": True}, **told, **keys})


WRONG = {"agrees": {"expected": False}, "note": "layer 0 has shape (2, 3), expected (3, 2)"}


def seen(name, share=1.0, outcome=Outcome.OBSERVED, **keys):
    facts = {"share": share, **keys.pop("facts", {})}
    return Observation(item=name, outcome=outcome, facts=facts, seed="00ff" * 8, wall_s=0.0123, **keys)


def graded(
    items, observations, *, student="alice", exams=True, of_rubric=None, extensions=None, **of_submission
):
    rubric = Rubric(
        name="cdp_hw1",
        assignment="cdp_hw1",
        points=sum(i.points for i in items if i.counts == "earns"),
        items=tuple(items),
        digest="sha256:" + "ab" * 32,
        **(of_rubric or {}),
    )
    exam = Exam(
        id="e1",
        started_at="2024-12-20T10:11:12+00:00",
        isolation="bubblewrap",
        environment={
            "python": "CPython 3.11.9",
            "processor": "AMD EPYC 9654",
            "packages": {"numpy": "2.1.0", "numba": "0.60.0"},
            "load": [0.25, 0.5, 1.0],
        },
    )
    evidence = Evidence(
        submission=Submission(
            **{
                "student": student,
                "assignment": "cdp_hw1",
                "archive": "alice.tar.gz",
                "digest": "sha256:" + "cd" * 32,
                "files": ("max_functions.py", "utils.py"),
                "dropped": ("__pycache__/utils.pyc",),
                "submitted_at": datetime(2024, 12, 19, 8, 0, tzinfo=UTC),
                **of_submission,
            }
        ),
        exams=(exam,) if exams else (),
        observations={o.item: o for o in observations},
    )
    return Graded(
        rubric=rubric,
        evidence=evidence,
        scorecard=score(rubric, evidence, {"share": Share()}, extensions=extensions),
    )


def normal():
    items = [
        item("utils.add", "add_elementwise adds element by element"),
        item("utils.weights", "zeros_weights has the right shapes", hint="Which side is the input's?"),
        item("utils.xavier", "xavier_init stays within its bounds"),
        item("max.cpu", "max_cpu finds the larger element", 4.0),
        item("max.fast", "max_gpu is at least 40 times faster than max_cpu", 5.0, needs=("max.cpu",)),
        item("gpu", "max_gpu launches a kernel", 3.0),
    ]
    return graded(
        items,
        [
            seen("utils.add", cases=(case(), case("empty", changed_inputs=("argument 1",)))),
            seen(
                "utils.weights",
                1 / 3,
                cases=(
                    case(),
                    case("one layer", **WRONG),
                    case("changed", changed_inputs=("sizes",), **WRONG),
                ),
                output="debug: (2, 3)\ndebug: (3, 2)\n",
            ),
            seen(
                "utils.xavier",
                0.5,
                cases=(
                    case(
                        "wide",
                        agrees={"bounds": True, "variance": False},
                        note="variance is 0.2, expected 0.05",
                        quantities={
                            "variance": Quantity(value=0.2),
                            "cpu": Quantity(value=0.01, unit="s", taken_by="subject"),
                        },
                    ),
                ),
            ),
            seen(
                "max.cpu",
                outcome=Outcome.CRASHED,
                note="ended in ZeroDivisionError: division by zero",
                output="Traceback (most recent call last):\n  File 'm.py', line 7\nZeroDivisionError\n",
            ),
            seen("max.fast", outcome=Outcome.SKIPPED),
            seen("gpu", outcome=Outcome.NOT_OBSERVED, note="no GPU on this machine: pending, not lost"),
        ],
    )


def perfect():
    items = [item(f"a.{i}", f"function {i} is right", 3.0) for i in range(7)]
    return graded(items, [seen(i.id, cases=(case(), case("odd"))) for i in items])


def empty():
    return graded([item("a", "first"), item("b", "second")], [], exams=False, submitted_at=None)


def nothing():
    return graded([], [])


def pending():
    return graded(
        [item("a", "first", 1.0), item("b", "second", needs=("a",))],
        [seen("a", outcome=Outcome.NOT_OBSERVED), seen("b")],
    )


def held():
    card = normal()
    lines = tuple(replace(line, standing=Standing.HELD) for line in card.scorecard.lines)
    return replace(card, scorecard=replace(card.scorecard, lines=lines, standing=Standing.HELD))


LATE = {"due": DUE, "late": LatePolicy(per_day=0.1)}


def late():
    return graded(
        [item("a", "first", 10.0)], [seen("a")], of_rubric=LATE, submitted_at=DUE + timedelta(hours=27)
    )


def team():
    """Two with one hand-in, one with an extension; a bonus, a penalty, and more than the rubric gives."""
    items = [
        item("a", "first", 10.0),
        item("b", "second", 2.0, counts="bonus"),
        item("c", "only what was asked for", 1.0, counts="penalty"),
    ]
    return graded(
        items,
        [seen("a"), seen("b"), seen("c", 0.5)],
        of_rubric={**LATE, "at_most": 11.0},
        student="red",
        members=("alice", "bob"),
        extensions={"bob": 172_800.0},
        submitted_at=DUE + timedelta(hours=27),
    )


def unknown_time():
    return graded([item("a", "first", 10.0)], [seen("a")], of_rubric=LATE, submitted_at=None)


def marked_late():
    return graded(
        [item("a", "first", 10.0)],
        [seen("a")],
        of_rubric=LATE,
        submitted_at=None,
        marked_late=True,
        lms_id="12345",
        attempt=2,
    )


def fast(ratio=56.0, half=2.0, threshold=40.0, **keys):
    """A speedup, as it is measured."""
    slow, quick = 0.231, 0.231 / ratio
    times = {
        name: [middle * (1 + 0.01 * k) for k in range(-3, 4)]
        for name, middle in (("of", quick), ("over", slow), ("reference_over", 0.22))
    }
    numbers = {"ratio": ratio, "ratio_low": ratio - half, "ratio_high": ratio + half, "threshold": threshold}
    return {
        "quantities": {
            **{name: Quantity(value=value) for name, value in numbers.items()},
            **{f"{name}_s": Quantity(value=middle[3], unit="s") for name, middle in times.items()},
            "rounds": Quantity(value=7, unit="rounds"),
        },
        "facts": {"samples": times},
        **keys,
    }


def speedups():
    options = SimpleNamespace(of="max_functions.max_gpu", over="max_functions.max_cpu", at_least=40.0)
    items = [
        item("fast", "max_gpu is at least 40 times faster than max_cpu", 5.0, options=options),
        item("slow", "max_numba is fast enough", 5.0, options=options, hint="Which loop runs in parallel?"),
        item("near", "nearly", 5.0),
    ]
    return graded(
        items,
        [seen("fast", **fast()), seen("slow", 0.0, **fast(12.5)), seen("near", **fast(40.5))],
    )


def hidden():
    """Something to see now, something later, something never; and a flag."""
    items = [
        item("a", "first"),
        item("b", "second", visible="after_due"),
        item("c", "third", visible="never", on_flag="holds"),
    ]
    flagged = {"facts": {"flags": ["near_threshold: a person may look"]}}
    return graded(items, [seen("a", 0.5, **flagged), seen("b"), seen("c", **flagged)])


def hostile():
    told = dict.fromkeys(("name", "called", "returned", "expected", "note"), HOSTILE)
    wrong = Case(
        outcome=Outcome.CRASHED,
        agrees={HOSTILE: False, HOSTILE + "2": True},
        changed_inputs=(HOSTILE,),
        quantities={HOSTILE: Quantity(value=HOSTILE, unit=HOSTILE)},
        **told,
    )
    keys = {
        "cases": (wrong,),
        "output": HOSTILE,
        "quantities": {HOSTILE: Quantity(value=HOSTILE, unit=HOSTILE)},
    }
    items = [
        item(HOSTILE, HOSTILE, hint=HOSTILE),
        item("b" + HOSTILE, HOSTILE, hint=HOSTILE),
        item("c", HOSTILE, needs=("b" + HOSTILE,)),
        item("d", HOSTILE, options=SimpleNamespace(of=HOSTILE, over=HOSTILE)),
        item("e", HOSTILE),
    ]
    card = graded(
        items,
        [
            replace(seen(HOSTILE, 0.5, facts={"reason": HOSTILE}, **keys), seed=HOSTILE),
            seen("b" + HOSTILE, outcome=Outcome.CRASHED, note=HOSTILE, **keys),
            seen("d", **(fast() | keys | {"quantities": fast()["quantities"] | keys["quantities"]})),
            seen("e", outcome=Outcome.NOT_OBSERVED, note=HOSTILE),
        ],
        student=HOSTILE,
        members=(HOSTILE, HOSTILE + "2"),
        archive=HOSTILE,
        digest=HOSTILE,
        files=(HOSTILE,),
        dropped=(HOSTILE,),
    )
    exam = Exam(
        id=HOSTILE, started_at=HOSTILE, isolation=HOSTILE, environment={HOSTILE: [HOSTILE, {HOSTILE: 1}]}
    )
    lines = tuple(replace(line, flags=(HOSTILE,)) for line in card.scorecard.lines)
    return replace(
        card,
        rubric=replace(card.rubric, name=HOSTILE, assignment=HOSTILE, digest=HOSTILE),
        evidence=replace(card.evidence, exams=(exam,)),
        scorecard=replace(
            card.scorecard, assignment=HOSTILE, rubric=HOSTILE, rubric_digest=HOSTILE, lines=lines
        ),
    )


def many():
    items = [item(f"group{i // 10}.i{i}", f"item {i}", 0.5) for i in range(200)]
    return graded(
        items,
        [
            seen(
                i.id,
                (n % 3) / 2,
                cases=tuple(case(f"c{k}", **(WRONG if n % 3 < 2 else {})) for k in range(30)),
            )
            for n, i in enumerate(items)
        ],
    )


def long():
    text = "a" * 30_000 + "\n" + "word " * 20_000
    told = dict.fromkeys(("name", "called", "returned", "expected", "note"), text)
    return graded(
        [item("a", text, hint=text)],
        [
            seen(
                "a", 0.5, facts={"reason": text}, cases=(Case(outcome=Outcome.OBSERVED, **told),), output=text
            )
        ],
    )


SCENARIOS = {
    f.__name__: f
    for f in (
        *(normal, perfect, empty, nothing, pending, held, hidden, late, team, unknown_time, speedups),
        *(marked_late, hostile, many, long),
    )
}


@pytest.fixture(params=SCENARIOS)
def each(request) -> Graded:
    """Every kind of card, one after the other."""
    return SCENARIOS[request.param]()


@pytest.fixture
def stored():
    """A card by the name of its scenario."""
    return lambda name: SCENARIOS[name]()


@pytest.fixture
def make():
    """The builders, for a card that only one test needs."""
    return Builders


class Builders:
    graded, item, seen, case, fast = map(staticmethod, (graded, item, seen, case, fast))
    late = LATE
    due = DUE
