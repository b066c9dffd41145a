"""What handing over a result takes is subtracted by its size."""

import numpy as np
import pytest

from grader.checks.rounds import LEAST_S, Rounds
from grader.contracts.call import Call
from grader.model.observation import Outcome

OBSERVED = Outcome.OBSERVED


@pytest.mark.parametrize(
    ("result", "seconds"),
    [
        (np.zeros(1000), 0.002),
        (np.zeros(2000), 0.002),
        (np.zeros(1000, np.uint8), 0.003 - 0.001 / 8),
        ([np.zeros(250), np.zeros(250)], 0.0025),
        (None, 0.003 - 0.001 / 1000),
    ],
    ids=["the reference's size", "larger", "smaller", "a list of arrays", "no array"],
)
def test_a_smaller_result_is_charged_for_its_own_size(result, seconds):
    """A result of bytes where the reference gives eight of them would look as if it took no time."""
    rounds = Rounds(samples={"of": []}, cpu={"of": []})
    call = Call(outcome=OBSERVED, value=result, wall_s=0.003, cpu_s=0.003)
    again = Call(outcome=OBSERVED, value=np.zeros(1000), wall_s=0.001, cpu_s=0.001)
    rounds.add({"of": call}, again, "")
    assert rounds.samples["of"] == [pytest.approx(seconds)]
    assert rounds.cpu["of"] == [pytest.approx(seconds)]


def test_no_time_is_shorter_than_what_a_clock_tells():
    rounds = Rounds(samples={"of": []}, cpu={"of": []})
    call = Call(outcome=OBSERVED, value=np.zeros(10), wall_s=0.001, cpu_s=0.001)
    rounds.add({"of": call}, Call(outcome=OBSERVED, value=np.zeros(10), wall_s=0.002), "")
    assert rounds.samples["of"] == [LEAST_S]
