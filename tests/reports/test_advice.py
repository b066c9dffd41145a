"""What to look at follows from what was seen, and tells nothing that a reader may not know."""

from __future__ import annotations

import json

import pytest

from grader.checks.drawings import gpu, ratio
from grader.checks.kernel_launch import LAUNCHES, SHAPE
from grader.checks.scaling import ONE_CORE
from grader.model.observation import Case, Outcome, Symptom
from grader.reports.advice import advice_on
from grader.reports.html import Html
from grader.reports.score_json import ScoreJson
from grader.scoring.advice import OF_OUTCOMES, OF_SYMPTOMS

EXPECTED = {
    "launched_as_asked": "",
    "wrong_shape": "The two numbers in kernel[blocks, threads]",
    "no_kernel": "Whether the kernel is launched at all",
    "not_by_the_kernel": "Whether what is returned is what the kernel wrote",
    "not_to_be_seen": "",
    "in_a_simulator": "The two numbers in kernel[blocks, threads]",
    "many_kernels": "Which kernels are launched",
    "fast": "",
    "slow_by_its_copies": "The copies, which take most",
    "slow_by_the_rest": "What is neither kernel nor copy",
    "slow_by_its_kernel": "The kernel, which takes most",
    "near": "How close this is",
    "scales": "",
    "does_not_scale": "What only one core does",
    "not_enough_cores": "",
    "wrong_element": "The first element that differs",
    "untouched": "Whether the result is written at all",
    "nan": "Divisions by zero",
    "race": "Places that several threads write",
    "left_on_the_GPU": "What is returned: an array on the GPU",
    "illegal_address": "The index of every read and write",
    "no_GPU_memory": "What every call takes of the GPU",
    "no_memory": "Arrays that are larger",
    "endless": "Loops, and waiting",
}


def told(card, view=None):
    view = view or card.staff
    return {
        line.item: advice_on(line, view.drawings[line.item])
        for line in view.scorecard.lines
        if line.item in view.evidence.observations
    }


@pytest.mark.parametrize("name", EXPECTED)
def test_each_verdict_says_what_to_look_at(stored, name):
    found = told(stored("gpu"))
    assert set(found) == set(EXPECTED)
    start = EXPECTED[name]
    assert found[name].startswith(start)
    assert bool(found[name]) == bool(start)


def test_every_rule_is_reached_by_some_verdict(stored, make):
    plain = make.graded(
        [make.item("a", "A", check="speedup", options=make.fast_options)],
        [make.seen("a", 0.0, **make.timed(10.0, traced_as={}))],
    )
    texts = {*told(stored("gpu")).values(), *told(plain).values()}
    of_kinds = {gpu.NOT_LAUNCHED, gpu.MADE_ON_CPU, ratio.OF_PYTHON, ratio.NEAR, LAUNCHES, SHAPE, ONE_CORE}
    of_all = {*OF_SYMPTOMS.values(), *OF_OUTCOMES.values()}
    assert texts - {""} == of_all | of_kinds | {*ratio.OF_LARGEST.values()}


@pytest.mark.parametrize(
    ("symptom", "start"),
    [(Symptom.UNWRITTEN, "Whether the result is written"), (Symptom.NAN, "Divisions by zero"), (None, "")],
)
def test_words_on_a_wrong_result_fit_how_it_differs(make, symptom, start):
    note = "at [0]: got 0, expected 5"  # no sentence is searched: only the symptom counts
    wrong = Case(name="c", outcome=Outcome.OBSERVED, agrees={"f": False}, note=note, symptom=symptom)
    advice = told(make.graded([make.item("a", "A")], [make.seen("a", 0.0, cases=(wrong,))]))["a"]
    assert advice.startswith(start)
    assert bool(advice) == bool(start)
    assert "kernel" not in advice, "the item is no kernel's"


def test_it_stands_beside_the_hint_and_in_the_file_for_programs(make):
    late = make.seen("a", outcome=Outcome.TIMED_OUT, note="f() did not end within 10 s")
    card = make.graded([make.item("a", "A", hint="Which loop?")], [late])
    source = Html().render(card.staff)
    assert '<p class="hint">Which loop?</p>\n<p class="advice">Loops, and waiting' in source
    assert json.loads(ScoreJson().render(card.staff))["items"][0]["look_at"].startswith("Loops, and waiting")


def test_what_a_machine_could_not_decide_is_nobodys_mistake(make):
    keys = make.timed(10.0)
    keys["facts"]["samples"]["reference_of"] = [0.02] * 7
    card = make.graded(
        [make.item("a", "A", check="speedup", options=make.fast_options)], [make.seen("a", **keys)]
    )
    assert card.scorecard.lines[0].reason.startswith("this machine cannot decide")
    assert told(card) == {"a": ""}


def test_nothing_is_told_of_what_a_student_does_not_see(make):
    """Beside a hidden item of its group, an item keeps its outcome and nothing else."""
    wrong = make.case("c", agrees={"f": False}, note="got nan, expected 1", symptom=Symptom.NAN)
    items = [
        make.item("a", "A", group="g", check="kernel_launch", options=make.launch_options),
        make.item("b", "B", group="g"),
        make.item("crashed", "C", group="g"),
        make.item("hidden", "H", group="g", visible="never"),
    ]
    crash = {"outcome": Outcome.CRASHED, "note": "illegal address", "symptom": Symptom.OUT_OF_BOUNDS}
    card = make.graded(
        items,
        [
            make.seen("a", facts=make.traced(make.ran, proof="host")),
            make.seen("b", 0.0, cases=(wrong,)),
            make.seen("crashed", **crash),
            make.seen("hidden", 0.0, cases=(wrong,)),
        ],
    )
    assert all(told(card).values())
    assert told(card, card.student()) == {"a": "", "b": "", "crashed": ""}
    source = Html().render(card.student())
    assert "max_kernel" not in source
    assert 'class="advice"' not in source
