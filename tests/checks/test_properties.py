from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from grader.checks.properties import Properties
from grader.harness.distributions import Array, Uniform
from grader.model.observation import Outcome
from grader.model.options import measuring

KIND = Properties()
CASES = {"small": ([2, 3, 1],), "large": ([300, 200, 200, 50],)}


def options(**keys):
    return Properties.Options(of="utils.f", inputs="family", **keys)


def xavier(sizes):
    return [Uniform(-(m**-0.5), m**-0.5, (m, n)) for m, n in pairwise(sizes)]


def layers(draw):
    """A program that draws each layer with `draw(rng, m, n)`, anew in every call."""
    rng = np.random.default_rng(7)
    return lambda sizes: [draw(rng, m, n) for m, n in pairwise(sizes)]


def right(rng, m, n):
    return rng.uniform(-(m**-0.5), m**-0.5, (m, n))


def raises(*_):
    raise ValueError("no")


def seeded(sizes):
    return layers(right)(sizes)


def with_a_hole(rng, m, n):
    # E x^2 = 1/3 of the bound's square, as for the uniform distribution: (b^3 - a^3) / 3(b - a).
    low, high = 0.3, 0.815661
    return m**-0.5 * rng.choice([-1, 1], (m, n)) * rng.uniform(low, high, (m, n))


HONEST = layers(right)


def as_tuple(sizes):
    return tuple(HONEST(sizes))


def without_the_first(sizes):
    return HONEST(sizes)[1:]


def first_layer_twice(sizes):
    first, *_ = HONEST(sizes)
    return [first, first]


def award(observation, **keys):
    found = KIND.award(options(**keys), observation, {})
    return found.fraction, found.reason


def observe(context, **keys):
    return KIND.observe(options(**keys), context)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(HONEST, id="right"),
        pytest.param(as_tuple, id="a tuple"),
        pytest.param(layers(lambda *a: right(*a).astype(np.float32)), id="float32"),
        pytest.param(layers(lambda *a: right(*a).astype(np.float16)), id="float16"),
        pytest.param(layers(lambda *a: right(*a).tolist()), id="nested lists"),
        pytest.param(layers(lambda rng, m, n: (2 * rng.random((m, n)) - 1) / np.sqrt(m)), id="scaled"),
    ],
)
def test_honest_programs_earn_everything(make_context, program):
    assert award(observe(make_context(program, CASES, f=xavier))) == (1.0, "2 of 2 cases are right")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        pytest.param(
            layers(lambda rng, m, n: np.zeros((m, n))),
            "small: all 6 values of item 0 are the same",
            id="zeros",
        ),
        pytest.param(
            layers(lambda rng, m, n: rng.normal(0, 1 / m, (m, n))),
            "large: the standard deviation of item",
            id="normal with 1/m",
        ),
        pytest.param(
            layers(lambda rng, m, n: rng.normal(0, (3 * m) ** -0.5, (m, n))),
            "values of item 0 are out of range",
            id="normal with the right spread",
        ),
        pytest.param(
            layers(lambda rng, m, n: rng.uniform(-1 / m, 1 / m, (m, n))),
            "large: the standard deviation of item",
            id="1/m for 1/sqrt(m)",
        ),
        pytest.param(
            layers(lambda rng, m, n: np.abs(right(rng, m, n))), "large: the mean of item", id="positive only"
        ),
        pytest.param(
            layers(with_a_hole),
            "large: the values of item",
            id="the right mean and spread, another shape",
        ),
        pytest.param(
            layers(lambda rng, m, n: rng.uniform(-(n**-0.5), n**-0.5, (m, n))),
            "small: 3 of 3 values of item 1 are out of range (expected -0.57735 to 0.57735)",
            id="the other layer's size",
        ),
        pytest.param(
            layers(lambda rng, m, n: right(rng, m, n).T),
            "small: item 0 has shape (3, 2) instead",
            id="transposed",
        ),
        pytest.param(
            without_the_first,
            "small: returned 1 item, expected 2",
            id="one missing",
        ),
        pytest.param(
            layers(lambda rng, m, n: right(rng, m, n) * np.nan),
            "small: 6 of 6 values of item 0 are not finite",
            id="nan",
        ),
        pytest.param(
            layers(lambda rng, m, n: np.ones((m, n), int)),
            "small: item 0 has dtype int64; expected floats",
            id="integers",
        ),
        pytest.param(
            layers(lambda rng, m, n: np.tile(right(rng, m, 1), n)),
            "item 0 has only 2 different values among 6",
            id="equal columns",
        ),
        pytest.param(
            layers(lambda rng, m, n: np.full((m, n), 1e308)),
            "small: 6 of 6 values of item 0 are out of range (expected -0.707107 to 0.707107)",
            id="huge",
        ),
        pytest.param(lambda sizes: None, "small: returned None; expected a list of 2 items", id="None"),
        pytest.param(raises, "small: raised ValueError('no')", id="raises"),
        pytest.param(seeded, "small: item 0 repeats the one of an earlier call", id="seeded in the function"),
    ],
)
def test_wrong_programs_earn_nothing_and_are_told_why(make_context, program, reason):
    fraction, told = award(observe(make_context(program, CASES, f=xavier)))
    assert fraction == 0.0
    assert reason in told


def test_the_same_array_for_two_layers_is_not_random(make_context):
    observation = observe(make_context(first_layer_twice, {"square": ([9, 9, 9],)}, f=xavier))
    assert award(observation) == (0.0, "square: item 0 and item 1 hold the same values")


def test_one_call_leaves_a_seed_in_the_function_alone(make_context):
    observation = observe(make_context(seeded, CASES, f=xavier), calls=1)
    assert award(observation, calls=1)[0] == 1.0


def test_credit_per_case_earns_the_share_of_cases(make_context):
    program = layers(lambda rng, m, n: rng.uniform(-1 / m, 1 / m, (m, n)))
    fraction, reason = award(observe(make_context(program, CASES, f=xavier)), credit="per_case")
    assert fraction == 0.5
    assert reason.startswith("1 of 2 cases are right; large: the standard deviation of item")


def test_limits_judge_stored_evidence_without_measuring_again(make_context):
    program = layers(lambda rng, m, n: 0.99 * right(rng, m, n))
    observation = observe(make_context(program, {"large": CASES["large"]}, f=xavier))
    assert award(observation)[0] == 0.0
    assert award(observation, z_at_most=1000.0, ks_at_most=1000.0)[0] == 1.0
    assert award(observation, z_at_most=1000.0, ks_at_most=0.1)[1].startswith("large: the values of item")
    assert set(measuring(options())) == {"of", "inputs", "expected", "precision", "calls"}


def test_the_measured_figures_are_kept(make_context):
    observation = observe(make_context(layers(right), {"large": CASES["large"]}, f=xavier))
    (case,) = observation.cases
    assert case.agrees == dict.fromkeys(("structure", "finite", "range", "varied", "fresh"), True)
    kept = {name: quantity.value for name, quantity in case.quantities.items()}
    assert kept["values"] == 2 * (300 * 200 + 200 * 200 + 200 * 50)
    assert kept["wall_s"] == 0.5
    assert all(0 < abs(kept[name]) < 5 for name in ("z_mean", "z_variance", "ks"))
    assert kept["z_mean_of"].startswith("item ")
    assert case.expected.startswith("[Uniform(low=-0.0577")


def test_a_crash_in_the_second_call_is_that_cases_end(make_context):
    calls = []

    def crashes_later(sizes):
        calls.append(sizes)
        return layers(right)(sizes) if len(calls) == 1 else raises()

    observation = observe(make_context(crashes_later, CASES, f=xavier))
    assert [case.outcome for case in observation.cases] == [Outcome.CRASHED, Outcome.CRASHED]


def test_an_array_of_any_values_is_held_against_its_shape_alone(make_context):
    context = make_context(lambda n: np.zeros(n, int), {"five": (5,)}, f=lambda n: Array((n,), "integers"))
    assert award(observe(context)) == (1.0, "its one case is right")


def test_a_network_of_one_layer_has_nothing_to_draw(make_context):
    assert award(observe(make_context(layers(right), {"one": ([3],)}, f=xavier)))[0] == 1.0
