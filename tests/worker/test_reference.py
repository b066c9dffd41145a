"""An item that loses points with the reference as well is the course's mistake, and nobody loses any."""

from __future__ import annotations

import pytest

from grader.checks.files import Files
from grader.checks.properties import Properties
from grader.checks.pytest_kind import Pytest
from grader.checks.ranks import Ranks
from grader.checks.report import ReportKind
from grader.checks.script import Script
from grader.checks.source import Source
from grader.errors import CourseError, UnjudgedError
from grader.model.observation import Observation, Outcome
from grader.model.rubric import Item
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.scoring.judge import loss
from grader.testing.contexts import Contexts
from grader.worker.reference import controlled
from grader.worker.reference import observe as observed

RIGHT = {
    "work.py": "import sys\ndef f(): return [0.5] * 500\nprint('accuracy', 90)\n",
    "report.md": "# Report\n\nIt is fast.\n",
    "empty.txt": "",
}
WRONG = {
    "work.py": "import numpy\nnumpy.zeros(1)\ndef f(): return [7] * 500\nprint('accuracy', 10)\n",
    "report.md": "",
}
COURSE = {
    "inputs.py": "from grader.api import case\ndef none(rng): yield case('it')\n",
    "expected.py": """
        from grader.api.values import Uniform
        def f(): return Uniform(0, 1, (500,))
    """,
    "given/tests.py": "import work\ndef test_it(): assert work.f()[0] == 1\n",
    "given/fair.py": "import work\ndef test_it(): assert work.f()[0] == 0.5\n",
    "given/one.py": "from grader_ranks import report\nimport work\nreport(first=work.f()[0])\n",
    **{f"reference/{name}": text for name, text in RIGHT.items()},
}
UNFAIR = {
    "forbids what is needed": (
        Source(),
        {"file": "work.py", "require_decorator": ("numba.njit",), "function": "f", "decides": True},
    ),
    "a function that is nowhere": (Source(), {"file": "work.py", "function": "g"}),
    "a number that is not reached": (
        Script(),
        {"file": "work.py", "numbers": {"a": "accuracy {}"}, "at_least": {"a": 95.0}},
    ),
    "a status that it does not end with": (Script(), {"file": "work.py", "exit_status": 3}),
    "a distribution that is another": (Properties(), {"of": "work.f", "inputs": "none", "calls": 1}),
    "a report that is too short": (ReportKind(), {"file": "report.md", "min_words": 500}),
    "a file that is empty": (Files(), {"required": ("work.py", "empty.txt")}),
    "a size that is too small": (Files(), {"required": ("work.py",), "max_mb": 1e-6}),
    "a test that fails": (Pytest(), {"file": "tests.py"}),
    "a value that no rank reports": (
        Ranks(),
        {
            "file": "one.py",
            "processes": 1,
            "launcher": "spawn",
            "prints": "rank_0",
            "numbers": {"b": "b {}"},
            "at_least": {"b": 1.0},
        },
    ),
}
FAIR = {
    "a forbidden name": (Source(), {"file": "work.py", "forbid": ("numpy.*",), "decides": True}),
    "a number": (Script(), {"file": "work.py", "numbers": {"a": "accuracy {}"}, "at_least": {"a": 50.0}}),
    "an empty report": (ReportKind(), {"file": "report.md"}),
    "a test that the reference passes": (Pytest(), {"file": "fair.py"}),
    "a file that neither has": (Files(), {"required": ("work.py", "other.txt"), "max_mb": 1e-6}),
    "a report that neither has": (ReportKind(), {"file": "other.md"}),
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    contexts = Contexts(tmp_path_factory.mktemp("context"), [BubblewrapSandbox()])
    yield contexts
    contexts.close()


@pytest.fixture
def observe(shown, tmp_path):
    if missing := BubblewrapSandbox().available():
        pytest.skip(missing)

    def make(kind, options, files, course=COURSE):
        item = Item(id="it", title="It", points=1, check=kind.name, options=kind.Options(**options))
        context = shown.make(tmp_path, files, course)
        first = kind.observe(item.options, context)
        assert loss(item, first, {kind.name: kind}, {})
        return controlled(item, kind, first, context, context._job, {})

    yield make
    shown.end()


@pytest.mark.parametrize(("kind", "options"), UNFAIR.values(), ids=UNFAIR.keys())
def test_what_the_reference_loses_too_is_the_courses(observe, kind, options):
    assert kind.asks_reference
    with pytest.raises(CourseError, match=r"^rubric: it: the reference loses points as well: .*; correct"):
        observe(kind, options, RIGHT)


@pytest.mark.parametrize(("kind", "options"), FAIR.values(), ids=FAIR.keys())
def test_what_the_reference_does_not_lose_or_has_no_file_for_stays_lost(observe, kind, options):
    assert observe(kind, options, WRONG).outcome in {Outcome.OBSERVED, Outcome.REFUSED}


def test_what_the_reference_printed_is_kept_for_staff_with_its_last_line_in_the_reason(observe):
    ends = {"work.py": "print('begins')\nprint('race in fill()\\n')\nraise SystemExit(66)\n"}
    course = {**COURSE, "reference/work.py": ends["work.py"].replace("begins", "begins, as the reference")}
    with pytest.raises(CourseError) as caught:
        observe(Script(), {"file": "work.py"}, ends, course)
    assert str(caught.value).startswith(
        "rubric: it: the reference loses points as well: ended with status 66 instead of 0; it printed last: "
        "race in fill(); correct"
    )
    assert caught.value.output.startswith("begins, as the reference\nrace")


def test_what_was_not_handed_in_is_lost_whatever_the_reference_earns(observe):
    seen = observe(ReportKind(), {"file": "report.md", "min_words": 500}, {"work.py": ""})
    assert (seen.outcome, seen.note) == (Outcome.REFUSED, "report.md was not handed in")


def test_a_course_without_a_reference_takes_the_points(observe):
    without = {name: text for name, text in COURSE.items() if not name.startswith("reference/")}
    assert (
        observe(Script(), {"file": "work.py", "exit_status": 1}, WRONG, without).outcome is Outcome.OBSERVED
    )


class Waits(Script):
    """A kind for which this machine lacks what the reference needs."""

    def observe(self, options, context):
        is_reference = context.read("work.py") == RIGHT["work.py"].encode()
        outcome = Outcome.NOT_OBSERVED if is_reference else Outcome.CRASHED
        return Observation(item=context.item, outcome=outcome)


def test_what_cannot_be_observed_of_the_reference_leaves_the_item_open(observe):
    assert observe(Waits(), {"file": "work.py"}, WRONG).outcome is Outcome.NOT_OBSERVED


ASKED = {
    "inputs.py": """
        from grader.api import case
        class Notes:
            def __init__(self): self.asked = []
            def __call__(self, x):
                self.asked.append(x)
                return 0.5
        def notes(rng): yield case("it", Notes())
    """,
    "expected.py": """
        from grader.api import after_call
        from grader.api.values import Uniform
        @after_call
        def f(notes): return Uniform(0, 1, (sum(notes.asked),))
    """,
}
FAIR_QUESTION = "def f(notes): return [notes(500)] * 500\n"
ODD_QUESTION = "def f(notes): return [notes('odd')] * 500\n"


@pytest.mark.parametrize(
    ("reference", "refused"), [(FAIR_QUESTION, True), (ODD_QUESTION, False), (None, False), ("1 / 0", False)]
)
def test_an_oracle_that_fails_on_what_was_asked_costs_points_if_it_judges_the_reference(
    shown, tmp_path, reference, refused
):
    course = ASKED | ({} if reference is None else {"reference/work.py": reference})
    context = shown.make(tmp_path, {"work.py": ODD_QUESTION}, course)
    options = Properties.Options(of="work.f", inputs="notes", calls=1)
    if refused:
        seen = observed(Properties(), options, context, context._job)
        assert (seen.outcome, seen.cases) == (Outcome.REFUSED, ())
        assert "cannot be judged; that of the reference can" in seen.note
    else:
        with pytest.raises(UnjudgedError, match=r"expected.py:\d+: f: TypeError"):
            observed(Properties(), options, context, context._job)
    shown.end()
