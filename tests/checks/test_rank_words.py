"""One sentence says what became of all processes: whose failure came first, and who waits where."""

import pytest

from grader.checks.rank_words import verdict
from grader.contracts.call import Call
from grader.contracts.ranks import LaunchedRanks, Place, Rank
from grader.model.observation import Outcome

CALLED = Place(file="train.py", line=17, source="dist.all_reduce(x)", called="all_reduce")
AT = Place(file="train.py", line=9, source="handle.wait()")
LOST = "RuntimeError: Connection closed by peer [127.0.0.1]:42884"


def rank(number, **said) -> Rank:
    known = {
        "began": True,
        "alive": False,
        "status": 0,
        "ended_s": 1.0,
        "error": "",
        "place": Place(),
        "still_s": 0.0,
        "stack": "",
        "output": "",
        "complaints": "",
        "values": {},
    }
    return Rank(rank=number, **{**known, **said})


def alive(number, place=CALLED, still_s=12.0) -> Rank:
    return rank(number, alive=True, status=None, ended_s=None, place=place, still_s=still_s)


def say(*ranks, how="ended", main=None, status=0):
    call = Call(outcome=Outcome.OBSERVED)
    return verdict(LaunchedRanks(call=call, how=how, status=status, main=main, ranks=ranks), 60.0)


def test_nothing_is_said_of_what_ended_well():
    assert say(rank(0), rank(1)) == (Outcome.OBSERVED, "")
    assert say(rank(0), rank(1), main=rank(None)) == (Outcome.OBSERVED, "")


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        (
            (
                rank(0, status=1, error=LOST, place=CALLED),
                rank(1, status=1, error="ValueError: oh", place=AT),
            ),
            "rank 1 failed at train.py:9: handle.wait(): ValueError: oh",
        ),
        (
            (rank(0), rank(1, status=1, error=LOST, place=CALLED, ended_s=2.0)),
            f"rank 1 failed in all_reduce (train.py:17): {LOST}; rank 0 had ended before",
        ),
        (
            (rank(0, status=1, error=LOST, place=CALLED), rank(1, status=-11, ended_s=None)),
            "rank 1 was ended by signal 11 (SIGSEGV: it accessed memory that is not its own)",
        ),
        (
            (rank(0, status=-15, ended_s=None), rank(1, status=3, ended_s=None)),
            "rank 1 ended with status 3",
        ),
        (
            (rank(0, status=-15, error=LOST), rank(1, status=1, error="KeyError: 1")),
            "rank 1 failed: KeyError: 1",
        ),
        (
            (rank(0), rank(1, began=False, status=None), rank(2, began=False, status=None)),
            "ranks 1 and 2 were never started",
        ),
        (
            (rank(0), rank(1, status=None, ended_s=None)),
            "rank 1 did not come to an end before the program did",
        ),
    ],
    ids=["lost", "left", "signal", "terminated", "both", "never", "left behind"],
)
def test_whose_failure_came_first_is_said(ranks, said):
    assert say(*ranks) == (Outcome.CRASHED, said)


def test_a_failure_of_whoever_starts_them_is_the_programs():
    ranks = [rank(n, began=False, status=None, ended_s=None) for n in range(2)]
    main = rank(None, status=1, error="SyntaxError: '(' was never closed")
    assert say(*ranks, main=main)[1] == "the program failed: SyntaxError: '(' was never closed"
    assert say(rank(0), rank(1), status=2)[1] == "the launcher ended with status 2"


def test_ranks_that_wait_in_one_place_are_said_together():
    outcome, said = say(alive(0), alive(1), alive(2, AT), how="blocked")
    assert outcome is Outcome.TIMED_OUT
    assert said == (
        "is blocked: none of its processes goes on; ranks 0 and 1 wait in all_reduce (train.py:17), "
        "for 12 s; rank 2 waits at train.py:9: handle.wait(), for 12 s"
    )


def test_different_operations_are_named_as_the_reason():
    other = Place(file="train.py", line=20, source="dist.broadcast(x, 0)", called="broadcast")
    said = say(alive(0), alive(1, other), how="late")[1]
    assert said == (
        "did not end within 60 s of its own time; rank 0 waits in all_reduce (train.py:17), for 12 s; "
        "rank 1 waits in broadcast (train.py:20), for 12 s. They wait in different operations"
    )


def test_who_has_left_is_named_as_the_reason():
    said = say(rank(0), alive(1), how="blocked")[1]
    assert said == (
        "is blocked: none of its processes goes on; rank 0 has ended; "
        "rank 1 waits in all_reduce (train.py:17), for 12 s. Who has ended takes part no more"
    )


def test_who_computes_does_not_wait():
    said = say(alive(0, AT, still_s=0.1), how="late")[1]
    assert said == "did not end within 60 s of its own time; rank 0 is busy at train.py:9: handle.wait()"


def test_where_ranks_were_not_started_it_is_said_where_the_program_stands():
    nobody = rank(0, began=False, status=None, ended_s=None)
    main = alive(None, Place(file="main.py", line=3, source="lock.acquire()"))
    said = say(nobody, how="blocked", main=main)[1]
    assert said == (
        "is blocked: none of its processes goes on; rank 0 has not started; "
        "the program waits at main.py:3: lock.acquire(), for 12 s"
    )


def test_a_failure_counts_more_than_those_who_wait_because_of_it():
    failed = rank(1, status=1, error="ValueError: oh")
    assert say(alive(0), failed, how="blocked") == (
        Outcome.CRASHED,
        "rank 1 failed: ValueError: oh; rank 0 waits in all_reduce (train.py:17), for 12 s",
    )


def test_a_stack_without_a_line_of_the_program_is_said_as_that():
    loading = Place(called="_find_and_load")
    assert say(alive(0, loading, 0.0), how="late")[1].endswith(
        "rank 0 is busy in _find_and_load, before or after all lines of the program"
    )
