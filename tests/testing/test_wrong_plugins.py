"""Every promise of the kits for kinds, reports, engines and sandboxes can be broken, and is caught there."""

from __future__ import annotations

import inspect
import itertools
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest

from grader.api.check import (
    Award,
    CheckKind,
    Observation,
    Outcome,
    Paragraph,
    cases_of,
    function_name,
    option,
)
from grader.contracts.engine import Ended, Records
from grader.contracts.sandbox import EVERY_PROMISE, Promise
from grader.engines.local import LocalEngine
from grader.errors import CourseError
from grader.reports.score_json import ScoreJson
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.process import ProcessSandbox
from grader.testing.checks import BROKEN, CheckConformance, CheckExample
from grader.testing.contexts import Contexts
from grader.testing.engines import EngineConformance, Orders
from grader.testing.reports import ReportConformance
from grader.testing.sandboxes import ATTACKS, SandboxConformance

FAILS = (AssertionError, pytest.fail.Exception, OSError, LookupError, UnicodeError, CourseError)
COUNT = itertools.count()


def promises_of(kit):
    return {name for name, _ in inspect.getmembers(kit, inspect.isfunction) if name.startswith("test_")}


class Plain(ScoreJson):
    name, filename = "plain", "plain.txt"

    def render(self, view):
        return f"{view.audience} {view.scorecard.standing}\n"


def report(**attributes):
    return type("Wrong", (Plain,), attributes)


def raw(_, view):
    """Show what a program said as it is."""
    return f"{view.scorecard.standing}: {view.evidence.observations['b'].note}\n"


WRONG_REPORTS = {
    "it_has_a_name_and_one_for_its_file": [report(name="My report"), report(filename="../report")],
    "every_audience_and_standing_has_a_file_of_whole_lines": [
        report(render=lambda *_: "no end"),
        report(render=lambda *_: "\ud800\n"),
    ],
    "the_same_view_gives_the_same_file": [report(render=lambda *_: f"{next(COUNT)}\n")],
    "another_grade_gives_another_file": [report(render=lambda *_: "a grade\n")],
    "nothing_that_a_program_says_acts_on_whoever_reads_it": [report(render=raw)],
    "nothing_that_a_program_says_changes_what_the_file_is_made_of": [report(render=raw)],
    "the_host_imports_nothing_heavy_for_it": [report(__module__="numpy.linalg")],
}


@pytest.mark.parametrize(
    ("promise", "wrong"), [(promise, wrong) for promise, all_ in WRONG_REPORTS.items() for wrong in all_]
)
def test_a_report_that_breaks_a_promise_fails_there(promise, wrong):
    class Kit(ReportConformance):
        report = wrong

        def structure(self, text):
            return len(text.splitlines())

    with pytest.raises(FAILS):
        getattr(Kit(), f"test_{promise}")()


def test_every_promise_of_a_report_is_broken_by_one():
    assert promises_of(ReportConformance) == {f"test_{promise}" for promise in WRONG_REPORTS}


class Doubles(CheckKind):
    """Whether a function doubles: right, but for what a test makes wrong."""

    name = "doubles"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        of: str = option("The function.")

    def observe(self, options, context):
        with context.subject("work") as subject:
            if subject.imported.outcome is not Outcome.OBSERVED:
                return self.refused(context, subject.imported)
            (case,) = cases_of(context, "numbers")
            call = subject.call(function_name(options.of), case)
        right = call.outcome is Outcome.OBSERVED and call.value == 2 * case.args[0]
        return Observation(
            item=context.item, outcome=Outcome.OBSERVED, facts={"right": (right,)}, seed=context.seed
        )

    def refused(self, context, imported):
        return Observation(item=context.item, outcome=imported.outcome, note=imported.note, seed=context.seed)

    def award(self, options, observation, related):
        (right,) = observation.facts["right"]
        return Award(fraction=float(right), reason="it doubles" if right else "it does not double")


def kind(**attributes):
    return type("Wrong", (Doubles,), attributes)


def raising(error):
    def refused(*_):
        raise error

    return refused


def by_the_type(_, options, observation, related):
    """Judge by a type that JSON does not have."""
    shown = type(observation.facts["right"]).__name__
    return Award(fraction=float(observation.facts["right"][0]), reason=shown)


def changing(kind, options, observation, related):
    observation.facts["judged"] = observation.facts.get("judged", 0) + 1
    return Doubles.award(kind, options, observation, related)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undocumented:
    of: str = option("")


@dataclass(slots=True, kw_only=True)
class Thawed:
    of: str = option("The function.")


WRONG_KINDS = {
    "it_has_a_name_for_a_rubric": [kind(name="My kind")],
    "its_keys_are_documented_fields_of_a_frozen_dataclass": [
        kind(Options=Undocumented),
        kind(Options=Thawed),
        kind(Options=dict),
    ],
    "the_host_imports_nothing_heavy_for_it": [kind(__module__="numpy.linalg")],
    "a_right_submission_earns_everything": [
        kind(award=lambda *_: Award(fraction=0.5, reason="half")),
        kind(award=lambda *_: Award(fraction=1.0, reason="who knows", undecided=True)),
    ],
    "a_wrong_submission_is_told_why_it_earns_less": [
        kind(award=lambda *_: Award(fraction=1.0, reason="it is there")),
        kind(award=lambda *_: Award(fraction=0.0, reason="")),
    ],
    "stored_evidence_earns_the_same_at_any_time": [
        kind(award=by_the_type),
        kind(award=changing),
        kind(award=lambda *_: Award(fraction=1.0, reason=f"judged {next(COUNT)} times")),
    ],
    "it_draws_the_same_values_of_stored_evidence": [
        kind(show=lambda *_: ["a text"]),
        kind(show=lambda *_: [Paragraph(text=f"drawn {next(COUNT)} times")]),
        kind(show=lambda kind, options, observation: [Paragraph(text=str(observation.facts["right"][0]))]),
    ],
    "a_submission_that_cannot_run_ends_in_an_outcome": [kind(refused=raising(KeyError("a slip")))],
    "a_submission_without_files_ends_in_an_outcome": [kind(refused=raising(CourseError("no work.py")))],
}
SURE = {"test_an_unknown_key_is_refused"}
"""What no kind can break: grader reads the keys."""


@pytest.fixture(scope="module")
def contexts(tmp_path_factory):
    if missing := BubblewrapSandbox().available():
        pytest.skip(missing)
    made = Contexts(tmp_path_factory.mktemp("contexts"), [BubblewrapSandbox()])
    yield made
    made.close()


def kit_of(wrong):
    class Kit(CheckConformance):
        kind = wrong
        example = CheckExample(
            keys={"of": "work.double"},
            course={
                "inputs.py": "from grader.api import case\ndef numbers(rng):\n    yield case('seven', 7)\n"
            },
            right={"work.py": "def double(x):\n    return 2 * x\n"},
            wrong={"work.py": "def double(x):\n    return x\n"},
        )

    return Kit()


def call(kit, promise, **values):
    """Call a test of a kit with as many of these values as it takes."""
    test = getattr(kit, f"test_{promise}")
    test(**{name: values[name] for name in inspect.signature(test).parameters})


@pytest.mark.parametrize(
    ("promise", "wrong"), [(promise, wrong) for promise, all_ in WRONG_KINDS.items() for wrong in all_]
)
def test_a_kind_that_breaks_a_promise_fails_there(promise, wrong, contexts, tmp_path):
    with pytest.raises(FAILS):
        call(kit_of(wrong), promise, contexts=contexts, tmp_path=tmp_path, fault="that raises")


@pytest.mark.parametrize("promise", sorted({*WRONG_KINDS} - {"the_host_imports_nothing_heavy_for_it"}))
def test_a_kind_that_keeps_all_passes(promise, contexts, tmp_path):
    for fault in BROKEN if "cannot_run" in promise else ("",):
        (folder := tmp_path / (fault or "once")).mkdir()
        call(kit_of(Doubles), promise, contexts=contexts, tmp_path=folder, fault=fault)


def test_every_promise_of_a_kind_is_broken_by_one():
    assert promises_of(CheckConformance) - SURE == {f"test_{promise}" for promise in WRONG_KINDS}


class Session:
    """The local engine's session, with its events changed."""

    def __init__(self, session, change):
        self._session, self._change, self._events = session, change, []

    def wants(self):
        return self._session.wants()

    def submit(self, order):
        self._session.submit(order)

    def event(self):
        while not self._events and (event := self._session.event()):
            self._events += self._change(event)
        return self._events.pop(0) if self._events else None


def engine(change):
    class Wrong(LocalEngine):
        @contextmanager
        def open(self, settings):
            with super().open(settings) as session:
                yield Session(session, change)

    return Wrong


def keeps_quiet(event):
    return [replace(event, problem="") if isinstance(event, Ended) else event]


WRONG_ENGINES = {
    "an order that ends twice": engine(lambda e: [e, e] if isinstance(e, Ended) else [e]),
    "records that are lost": engine(lambda event: [] if isinstance(event, Records) else [event]),
    "orders that never end": engine(lambda event: [] if isinstance(event, Ended) else [event]),
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG_ENGINES)
def test_an_engine_with_wrong_events_fails(wrong, tmp_path):
    class Kit(EngineConformance):
        engine = WRONG_ENGINES[wrong]

    with pytest.raises(FAILS):
        Kit().test_each_order_ends_once_behind_its_records(Orders(tmp_path), 1)


@pytest.mark.slow
def test_an_engine_that_says_nothing_of_a_killed_worker_fails(tmp_path):
    class Kit(EngineConformance):
        engine = engine(keeps_quiet)

    with pytest.raises(FAILS):
        Kit().test_a_worker_that_is_killed_ends_its_order_and_no_other(Orders(tmp_path))
    (again := tmp_path / "again").mkdir()
    with pytest.raises(FAILS):
        Kit().test_an_outbox_that_cannot_be_written_is_the_problem_of_its_order(Orders(again))


@pytest.mark.parametrize("promise", sorted(EVERY_PROMISE - ProcessSandbox.promises - {Promise.HIDES_FILES}))
def test_a_sandbox_that_promises_what_it_does_not_keep_fails_there(promise, tmp_path):
    class Kit(SandboxConformance):
        class sandbox(ProcessSandbox):
            promises = EVERY_PROMISE

    assert promise in ATTACKS
    with pytest.raises(FAILS):
        Kit().test_a_promise_is_kept(Kit.sandbox(), tmp_path, promise)
