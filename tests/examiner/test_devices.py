from __future__ import annotations

import pytest

from grader.examiner import environment
from grader.examiner.environment import missing_devices


@pytest.fixture
def gpus(monkeypatch):
    """Let files that every machine has stand for GPUs."""
    monkeypatch.setattr(environment, "LENT", frozenset({"gpu"}))
    return lambda pattern: monkeypatch.setitem(environment.DEVICE_FILES, "gpu", pattern)


def test_a_machine_says_which_devices_it_lacks(gpus):
    gpus("no-such-device*")
    assert missing_devices({"gpu": 1}) == "needs 1 GPU; this machine has none"
    assert missing_devices({"gpu": 2}) == "needs 2 GPUs; this machine has none"
    gpus("null")
    assert missing_devices({"gpu": 2}) == "needs 2 GPUs; this machine has 1"


def test_a_device_that_no_sandbox_lends_is_lacking_however_many_the_machine_has(gpus, monkeypatch):
    gpus("null")
    monkeypatch.setattr(environment, "LENT", frozenset())
    assert missing_devices({"gpu": 1}) == "needs 1 GPU; no sandbox lends one to a hand-in yet"


def test_a_machine_with_enough_devices_lacks_nothing(gpus):
    gpus("[nz][ue][lr][lo]")  # /dev/null and /dev/zero
    assert missing_devices({"gpu": 2}) == ""
    assert missing_devices({}) == ""
