"""Leases between processes: who gets what, who waits, and what a death leaves behind."""

import os
import re
import signal
import socket
import subprocess
import sys

import pytest

from grader.errors import NotObservedError
from grader.machine.lease import Leases

LEAVES_CHILDREN = """
import os, subprocess, sys, time
from grader.machine.lease import Leases

folder, _, _, name = sys.argv[1:]
lease = Leases(folder).take([name], 1, 0, "alice")
started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], close_fds=False)
reading, writing = os.pipe()
forked = os.fork()
if not forked:
    os.write(writing, b"forked")
    time.sleep(600)
os.read(reading, 6)
print(started.pid, forked, flush=True)
time.sleep(600)
"""


@pytest.fixture
def leases(tmp_path):
    return Leases(tmp_path / "leases")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "leases"


def free(leases, *names):
    """Whether each of these can be leased."""
    with leases.take(names, len(names), 0, "a look"):
        return True


def said(program):
    return program.stdout.readline().strip()


def test_a_second_program_is_refused_and_hears_who_holds_it(leases, folder, another):
    holder = another(folder, 1, 0, "gpu-a")
    assert said(holder) == "got gpu-a"
    with pytest.raises(
        NotObservedError,
        match=rf"^leases: gpu-a is held by \w+ \(process {holder.pid}\) since 2\S+Z for alice; waited 0 s",
    ):
        leases.take(["gpu-a"], 1, 0, "bob")


def test_one_who_waits_says_so_and_gets_it_when_the_holder_ends(leases, folder, another):
    with leases.take(["gpu-a"], 1, 0, "us"):
        waiter = another(folder, 1, 60, "gpu-a")
        assert re.fullmatch(rf"waiting: gpu-a is held by .*{os.getpid()}.* for us", said(waiter))
    assert said(waiter) == "got gpu-a"


def test_while_one_waits_one_is_told_once(leases):
    told = []
    with leases.take(["gpu-a"], 1, 0, "us"), pytest.raises(NotObservedError, match=r"waited 0\.2 s"):
        leases.take(["gpu-a"], 1, 0.2, "again", waiting=told.append)
    assert len(told) == 1


def test_while_only_those_to_ignore_have_it_nothing_is_said_and_no_time_counts(leases, folder, another):
    ours, asked = another(folder, 1, 0, "gpu-a"), []
    assert said(ours) == "got gpu-a"

    def ignore(holder):
        asked.append(holder.pid)
        if len(asked) == 2:
            ours.kill()
        return holder.pid == ours.pid

    told = []
    with leases.take(["gpu-a"], 1, 0, "us", waiting=told.append, ignore=ignore):
        assert set(asked) == {ours.pid}
    assert told == []


def test_a_lease_that_is_let_go_of_while_we_look_who_has_it_is_ours(leases, folder, another):
    other = another(folder, 1, 0, "gpu-a")
    assert said(other) == "got gpu-a"

    def ignore(_holder):
        other.kill()
        other.wait()
        return False

    with leases.take(["gpu-a"], 1, 0, "us", ignore=ignore):
        assert list(leases.active()) == ["gpu-a"]


SHARES = """
import os, socket, sys
from grader.machine.lease import Lease

with socket.socket(fileno=int(sys.argv[1])) as other:
    _, descriptors, _, _ = socket.recv_fds(other, 1, 4, socket.MSG_CMSG_CLOEXEC)
    with Lease.received(descriptors):
        other.send(b"has it")
        other.recv(1)
"""


def test_a_lease_that_is_shared_lasts_until_both_have_closed_it(leases):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-c", SHARES, str(theirs.fileno())]
        with subprocess.Popen(command, pass_fds=[theirs.fileno()]) as other:
            with leases.take(["gpu-a"], 1, 0, "us") as lease:
                socket.send_fds(ours, [b"x"], lease.share())
                assert ours.recv(16) == b"has it"
            assert list(leases.active()) == ["gpu-a"]
            with pytest.raises(NotObservedError):
                free(leases, "gpu-a")
            ours.send(b"x")
            assert other.wait(60) == 0
    assert free(leases, "gpu-a")


def test_a_forked_child_can_close_what_it_inherits_and_the_lease_stays(leases):
    with leases.take(["gpu-a"], 1, 0, "us") as lease:
        child = os.fork()
        if child == 0:
            try:
                lease.close()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert leases.active()["gpu-a"].pid == os.getpid()


def test_the_lease_of_a_killed_program_is_free_though_children_of_it_live_on(leases, folder, another):
    holder = another(folder, 0, 0, "gpu-a", code=LEAVES_CHILDREN)
    children = [int(pid) for pid in said(holder).split()]
    try:
        with pytest.raises(NotObservedError):
            leases.take(["gpu-a"], 1, 0, "us")
        holder.kill()
        holder.wait()
        for child in children:
            os.kill(child, 0)  # it lives
        assert free(leases, "gpu-a")
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)


def test_who_cannot_have_all_has_none(leases, folder, another):
    assert said(another(folder, 1, 0, "gpu-b")) == "got gpu-b"
    with pytest.raises(NotObservedError, match="gpu-b is held by"):
        leases.take(["gpu-a", "gpu-b"], 2, 0.1, "us")
    assert set(leases.active()) == {"gpu-b"}
    assert free(leases, "gpu-a")


def test_the_next_in_line_keeps_what_it_has_so_that_small_wishes_do_not_starve_it(leases, folder, another):
    with leases.take(["gpu-b"], 1, 0, "us"):
        waiter = another(folder, 2, 60, "gpu-a", "gpu-b")
        assert said(waiter).startswith("waiting: gpu-b is held by")
        with pytest.raises(NotObservedError, match=f"gpu-a is held by .*{waiter.pid}"):
            leases.take(["gpu-a"], 1, 0, "us")
    assert said(waiter) == "got gpu-a gpu-b"


def test_whoever_is_not_next_in_line_keeps_nothing_while_waiting(leases, folder, another):
    with leases.take(["gpu-b"], 1, 0, "us"):
        assert said(another(folder, 2, 60, "gpu-a", "gpu-b")).startswith("waiting")
        assert said(another(folder, 2, 60, "gpu-b", "gpu-c")).startswith("waiting")
        assert free(leases, "gpu-c")


def test_many_programs_that_want_two_of_three_all_get_them(folder, another):
    programs = [another(folder, 2, 60, "gpu-a", "gpu-b", "gpu-c") for _ in range(5)]
    for program in programs:
        program.stdin.close()  # lets go as soon as it has got them
    for program in programs:
        assert program.stdout.read().splitlines()[-1].startswith("got gpu-")


def test_what_is_named_first_is_taken_first_and_what_is_taken_is_passed_over(leases):
    with leases.take(["core-3", "core-1", "core-2"], 1, 0, "one") as one:
        assert one.names == ("core-3",)
        with leases.take(["core-3", "core-1", "core-2"], 2, 0, "two") as two:
            assert two.names == ("core-1", "core-2")


def test_within_one_program_a_lease_is_exclusive_as_well(leases):
    with leases.take(["gpu-a"], 1, 0, "one"), pytest.raises(NotObservedError):
        leases.take(["gpu-a"], 1, 0, "two")
    assert free(leases, "gpu-a")


def test_a_lease_may_be_closed_twice(leases):
    lease = leases.take(["gpu-a"], 1, 0, "us")
    lease.close()
    with leases.take(["gpu-a"], 1, 0, "another"):
        lease.close()
        assert leases.active()["gpu-a"].what == "another"


def test_too_few_candidates_are_refused_at_once(leases):
    with pytest.raises(NotObservedError, match=r"^leases: 2 needed, 1 there$"):
        leases.take(["gpu-a"], 2, 600, "us")


def test_holders_are_known_by_what_they_wrote_and_nobody_holds_what_is_free(leases):
    assert dict(leases.active()) == {}
    with leases.take(["gpu-a"], 1, 0, "item triangle"):
        holder = leases.active()["gpu-a"]
        assert (holder.pid, holder.what) == (os.getpid(), "item triangle")
    assert dict(leases.active()) == {}


def test_what_a_stranger_wrote_into_a_lease_is_one_plain_line(leases, folder):
    with leases.take(["gpu-a"], 1, 0, "us"):
        (folder / "gpu-a").write_text('{"pid": "x", "user": "ada\\u001b[31m\\nroot", "what": ["x"]}')
        assert str(leases.active()["gpu-a"]) == r"ada\x1b[31m\nroot"
        (folder / "gpu-a").write_text("[1")
        assert str(leases.active()["gpu-a"]) == "somebody"


def test_what_is_in_quarantine_is_not_leased_until_it_is_released(leases):
    leases.quarantine("gpu-a", "the probe hung")
    assert leases.quarantined("gpu-a") == "the probe hung"
    with leases.take(["gpu-a", "gpu-b"], 1, 0, "us") as lease:
        assert lease.names == ("gpu-b",)
    with pytest.raises(NotObservedError, match="gpu-a is in quarantine: the probe hung; grader doctor"):
        leases.take(["gpu-a"], 1, 600, "us")
    with leases.take(["gpu-a"], 1, 0, "a probe", quarantined=True) as lease:
        assert lease.names == ("gpu-a",)
    leases.release("gpu-a")
    assert leases.quarantined("gpu-a") == ""
    assert free(leases, "gpu-a")


def test_who_waits_for_what_its_holder_finds_broken_does_not_get_it(leases, folder, another):
    with leases.take(["gpu-a"], 1, 0, "us"):
        waiter = another(folder, 1, 60, "gpu-a")
        assert said(waiter).startswith("waiting")
        leases.quarantine("gpu-a", "the probe hung")
    assert said(waiter).startswith("leases: 1 needed, 1 there; gpu-a is in quarantine: the probe hung")


def test_a_quarantine_of_an_earlier_start_of_the_machine_is_over(leases, folder):
    leases.quarantine("gpu-a", "the probe hung")
    mark = folder / "gpu-a.quarantined"
    mark.write_text(re.sub(r'"boot": "[^"]*"', '"boot": "another"', mark.read_text()))
    assert leases.quarantined("gpu-a") == ""
    assert free(leases, "gpu-a")


def test_a_mark_that_cannot_be_read_keeps_the_device_back(leases, folder):
    leases.quarantine("gpu-a", "the probe hung")
    (folder / "gpu-a.quarantined").write_text("{")
    assert leases.quarantined("gpu-a") == "its mark cannot be read"


def test_asking_makes_no_folder(leases, folder):
    assert leases.quarantined("gpu-a") == ""
    leases.release("gpu-a")
    assert dict(leases.active()) == {}
    assert not folder.exists()
