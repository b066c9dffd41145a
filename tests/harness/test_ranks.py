"""What is told of a program of several processes is read with suspicion: itself could have written it."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.contracts.call import Call
from grader.contracts.ranks import RanksOrder
from grader.errors import NotObservedError
from grader.harness import ranks
from grader.harness.ranks import launch
from grader.harness.server_spec import RUN_RANKS, TORCHRUN, ServerSpec
from grader.model.observation import Outcome

ORDER = RanksOrder(file="main.py", processes=2, within_s=5.0, blocked_s=1.0, output_kb=64)
STANDS = {"file": "main.py", "line": 3, "function": "f", "source": "x.wait()", "called": "wait"}


def record(**said: Any) -> dict[str, Any]:
    return {
        "began": True,
        "alive": False,
        "status": 0,
        "own_status": None,
        "ended_s": 1.5,
        "error": None,
        "stands": None,
        "still_s": 0.0,
        "stack": "",
        "output": "hello",
        "complaints": "",
        "values": {"x": np.arange(3)},
        **said,
    }


def told(**said: Any) -> dict[str, Any]:
    whole = {"how": "ended", "wall_s": 2.0, "status": 0, "launcher": "", "main": None}
    return {**whole, "ranks": [record(), record()], **said}


@pytest.fixture
def answered(monkeypatch):
    """A launch of which the child tells this."""

    def launched(value: Any, outcome: Outcome = Outcome.OBSERVED, note: str = ""):
        answer = Call(outcome=outcome, value=value, note=note, wall_s=2.5)
        monkeypatch.setattr(ranks, "run_tool", lambda child, tool, args, within_s: answer)
        return launch(SimpleNamespace(), ORDER)

    return launched


def test_what_is_well_formed_is_taken(answered):
    error = {"type": "ValueError", "text": "oh", "stands": STANDS}
    waiting = record(alive=True, status=None, ended_s=None, stands=STANDS, still_s=3.5)
    found = answered(told(how="late", ranks=[record(status=None, own_status=1, error=error), waiting]))
    assert found.call.outcome is Outcome.OBSERVED
    first, second = found.ranks
    assert (first.rank, first.status, first.error, first.place.line) == (0, 1, "ValueError: oh", 3)
    assert (second.rank, second.alive, second.place.called, second.still_s) == (1, True, "wait", 3.5)
    assert second.values["x"].tolist() == [0, 1, 2]


def test_no_more_than_a_page_or_two_is_taken_of_what_was_printed(answered):
    found = answered(
        told(launcher="x" * 2**20, ranks=[record(output="y" * 2**20), record(stack="z" * 2**20)])
    )
    assert len(found.launcher) == len(found.ranks[0].output) == len(found.ranks[1].stack) == 2**17


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        {},
        told(how="well"),
        told(ranks=[record()]),
        told(ranks=[record()] * 3),
        told(ranks=(record(), record())),
        told(ranks=[record(), 7]),
        told(status="0"),
        told(status=True),
        told(main=1),
        told(ranks=[record(values=[1]), record()]),
        told(ranks=[record(error="oh"), record()]),
        told(ranks=[record(stands={"file": "x"}), record()]),
        told(ranks=[record(ended_s="soon"), record()]),
        told(ranks=[record(still_s=float("nan")), record()]),
        told(ranks=[record(still_s=10**400), record()]),
        told(ranks=[{**record(), "values": None}, record()]),
        {name: value for name, value in told().items() if name != "launcher"},
    ],
)
def test_what_is_not_is_refused_and_no_error_of_ours(answered, value):
    found = answered(value)
    assert found.call.outcome is Outcome.REFUSED
    assert found.call.note.startswith("main.py: the program gave a record that cannot be read (")


def test_how_the_watch_ended_is_told_of_the_program(answered):
    found = answered(None, Outcome.CRASHED, "run_ranks: the program ended itself (exit status 0)")
    assert found.call.note == "main.py: the program ended itself (exit status 0)"


def test_a_file_that_is_not_there_is_told(answered):
    assert answered({"how": "missing"}).how == "missing"


def test_only_torchrun_wants_torch(monkeypatch):
    plain = ServerSpec(preloads=("numpy",))
    monkeypatch.setattr(ranks, "find_spec", lambda name: name)
    assert ranks.server_spec(ORDER, plain).preloads == (RUN_RANKS, TORCHRUN, "numpy")
    monkeypatch.setattr(ranks, "find_spec", lambda name: None)
    with pytest.raises(NotObservedError, match="torch is not installed"):
        ranks.server_spec(ORDER, plain)
    spawning = RanksOrder(file="a.py", processes=2, launcher="spawn", within_s=1.0, blocked_s=1.0)
    assert ranks.server_spec(spawning, plain).preloads == (RUN_RANKS, "numpy")
