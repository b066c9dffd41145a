"""Exit statuses are told in the same words everywhere."""

from __future__ import annotations

import pytest

from grader.model.exit_status import ending

SEGMENTATION = "signal 11 (SIGSEGV: it accessed memory that is not its own)"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (3, "ended with status 3"),
        (255, "ended with status 255"),
        (-11, f"was ended by {SEGMENTATION}"),
        (139, f"ended with status 139, which a shell gives for {SEGMENTATION}"),
        (-12, "was ended by signal 12 (SIGUSR2: User defined signal 2)"),
        (-40, "was ended by signal 40"),
    ],
)
def test_a_signal_is_named_with_what_it_means(status, words):
    assert ending(status) == words
