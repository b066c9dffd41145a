"""The last line of the run of a class names its exit code and what led to it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from grader.cli.exit_reason import ExitReasons
from grader.errors import ExitCode


def graded(*causes, final=True):
    return SimpleNamespace(causes=causes, final=final)


def busy(rounds):
    return ExitCode.NOT_OBSERVED, f"q2.speed: busy in {rounds} of {rounds} rounds"


def not_timed(rounds, *causes):
    why = f" ({'; '.join(causes)})" if causes else ""
    busy = f"the machine was busy in {rounds} of {rounds} rounds{why}"
    return (
        ExitCode.NOT_OBSERVED,
        f"q2.speed: not timed: {busy}; nothing is lost, and the next run tries again",
    )


WAITED, OTHERS, SYSTEM = (
    "a loop had to wait for its core",
    "other programs ran on the cores",
    "the system itself worked on the cores",
)
NO_GPU = (ExitCode.NOT_OBSERVED, "gpu.speed: no GPU is here")


@pytest.mark.parametrize(
    ("results", "line"),
    [
        ([graded(), graded(final=False)], ""),
        (
            [graded(NO_GPU), graded(NO_GPU, NO_GPU), ExitCode.NOT_ACCEPTED],
            "exit code 5: 2 submissions incomplete: gpu.speed: no GPU is here (2)",
        ),
        (
            [graded(NO_GPU), graded((ExitCode.COURSE, "double: inputs.py:3: ValueError"))],
            "exit code 4: 1 submission with a mistake in files of the course: "
            "double: inputs.py:3: ValueError (1)",
        ),
        (
            ["older", graded(NO_GPU), "older"],
            "exit code 5: 2 submissions older than what is recorded; 1 submission incomplete: "
            "gpu.speed: no GPU is here (1)",
        ),
        (
            ["older", graded(), ExitCode.COURSE],
            "exit code 4: 1 submission with a mistake in files of the course",
        ),
        (
            [graded(*((ExitCode.BUG, f"{item}: broke") for item in "abcd"))],
            "exit code 3: 1 submission with a mistake of grader's own; please report it: "
            "a: broke (1); b: broke (1); c: broke (1); 1 more",
        ),
        (
            [graded(busy(12)), graded(busy(11), busy(9)), graded(NO_GPU), graded(NO_GPU)],
            "exit code 5: 4 submissions incomplete: "
            "q2.speed: busy in 12 of 12 rounds (2, numbers differ); gpu.speed: no GPU is here (2)",
        ),
        (
            [graded(*((ExitCode.COURSE, f"double: inputs.py:{line}: ValueError") for line in (3, 4)))],
            "exit code 4: 1 submission with a mistake in files of the course: "
            "double: inputs.py:3: ValueError (1); double: inputs.py:4: ValueError (1)",
        ),
        (
            [
                graded(not_timed(6)),
                *(graded(not_timed(6, *causes)) for causes in ([WAITED], [WAITED, OTHERS], [SYSTEM])),
            ],
            "exit code 5: 4 submissions incomplete: q2.speed: not timed: the machine was busy in 6 of 6 "
            f"rounds ({WAITED}; {OTHERS}; {SYSTEM}); nothing is lost, and the next run tries again (4)",
        ),
        (
            [graded(not_timed(6, WAITED)), graded(not_timed(17, OTHERS, WAITED))],
            "exit code 5: 2 submissions incomplete: q2.speed: not timed: the machine was busy in 6 of 6 "
            f"rounds ({WAITED}; {OTHERS}); nothing is lost, and the next run tries again "
            "(2, numbers differ)",
        ),
        (
            [graded((ExitCode.NOT_OBSERVED, f"q2.speed: {tool} is not here ({tool})")) for tool in "ab"],
            "exit code 5: 2 submissions incomplete: "
            "q2.speed: a is not here (a) (1); q2.speed: b is not here (b) (1)",
        ),
        (
            [graded((ExitCode.COURSE, f"double: {'many words ' * 40}"))],
            "exit code 4: 1 submission with a mistake in files of the course: "
            f"double: {'many words ' * 26}many … (1)",
        ),
        (
            [graded((ExitCode.COURSE, "x" * 999))],
            f"exit code 4: 1 submission with a mistake in files of the course: {'x' * 300} … (1)",
        ),
        ([ExitCode.NOT_ACCEPTED, ExitCode.NOT_ACCEPTED, graded()], "exit code 6: 2 submissions refused"),
    ],
)
def test_the_line_names_the_worst_code_and_what_led_to_it(results, line):
    reasons = ExitReasons(require_final=False)
    for result in results:
        if isinstance(result, ExitCode):
            reasons.refused(result)
        elif result == "older":
            reasons.older()
        else:
            reasons.graded(result)
    assert reasons.line() == line
    assert reasons.code == (int(line[10]) if line else 0)


def test_open_points_lead_to_5_where_they_must_not_be():
    reasons = ExitReasons(require_final=True)
    reasons.graded(graded(final=False))
    cause = "points are open, and --require-final is given"
    assert reasons.line() == f"exit code 5: 1 submission incomplete: {cause} (1)"
