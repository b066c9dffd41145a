"""A device sees the next call's arguments before the clock begins, but not all of them."""

import numpy as np
import pytest

from grader.harness.arguments import LATE_LINES, LINE_BYTES, Arguments


@pytest.mark.parametrize("length", [0, 1, 64, 1000, LATE_LINES * LINE_BYTES, 4 * LATE_LINES * LINE_BYTES + 5])
def test_all_arguments_are_there_when_the_clock_begins(length):
    content = np.random.default_rng(1).integers(0, 256, length + LINE_BYTES, np.uint8)
    arguments = Arguments(memoryview(content), length)
    target = np.full(length + LINE_BYTES, 7, np.uint8)
    arguments.place(memoryview(target))
    arguments.complete(memoryview(target))
    assert (target[:length] == content[:length]).all()


def test_before_it_begins_some_lines_are_wrong_and_nobody_can_foresee_which():
    lines = 4 * LATE_LINES
    content = np.arange(lines * LINE_BYTES // 8)
    wrong = []
    for _ in range(2):
        arguments = Arguments(memoryview(content).cast("B"), content.nbytes)
        early = np.zeros_like(content)
        arguments.place(memoryview(early).cast("B"))
        wrong.append(set(np.flatnonzero((early != content).reshape(lines, -1).any(axis=1))))
        assert set(early) <= set(content), "they can be told by what stands there"
    assert all(0.99 * LATE_LINES < len(places) <= LATE_LINES for places in wrong)
    assert len(wrong[0] & wrong[1]) < LATE_LINES // 2
