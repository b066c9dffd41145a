"""Exit statuses are told in the same words everywhere."""

from __future__ import annotations

import pytest

from grader.model.exit_status import ending, sanitizer_summary

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


@pytest.mark.parametrize(
    ("output", "summary"),
    [
        (
            "==5==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x5\n"
            "SUMMARY: AddressSanitizer: heap-buffer-overflow /tmp/build/prims.cpp:7 in scan\nShadow bytes\n",
            "AddressSanitizer: heap-buffer-overflow prims.cpp:7 in scan",
        ),
        (
            "SUMMARY: ThreadSanitizer: data race /tmp/x/build/src/a.cpp:9 in f\n"
            "SUMMARY: ThreadSanitizer: data race /tmp/x/build/src/a.cpp:10 in f\n",
            "ThreadSanitizer: data race src/a.cpp:9 in f",
        ),
        (
            "a.cpp:3:4: runtime error: division by zero\n"
            "SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior a.cpp:3:4\n",
            "UndefinedBehaviorSanitizer: undefined-behavior a.cpp:3:4",
        ),
        ("begun\na.cpp:3:4: runtime error: division by zero\n", "a.cpp:3:4: runtime error: division by zero"),
        ("SUMMARY: 3 of 4 are right\n", ""),
    ],
)
def test_the_line_of_a_sanitizer_is_found_in_what_was_printed(output, summary):
    assert sanitizer_summary(output) == summary
