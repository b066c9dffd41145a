"""A child ends while the next one is set up, and nothing of the next program runs before it has ended."""

import gc
import os
import select
import signal
from pathlib import Path

import pytest

from grader.contracts.call import InputCase
from grader.harness import student_process as harness_child
from grader.harness.process_pool import ProcessPool, ProcessSpec
from grader.harness.server import SubjectServer
from grader.harness.server_spec import OBSERVER, ServerSpec
from grader.harness.servers import Servers
from grader.harness.subject import ChildSubject
from grader.model.assignment import Limits
from grader.model.observation import Outcome
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter
from grader.sandbox.namespaces import NamespacesSandbox

SLOW_TO_END = """
import os, socket
listener = socket.create_server(("127.0.0.1", 4321))
for _ in range(4):
    if os.fork() == 0:
        pages = bytearray(60 * 2**20)  # for the kernel to free, before it closes the port
        while True: pass
"""
NEXT = """
import os, signal, socket
listener = socket.create_server(("127.0.0.1", 4321))
def kill():
    os.kill(os.getpid(), signal.SIGKILL)
def nothing():
    pass
"""
NOTHING = InputCase(name="nothing", args=())


def order(module: str, group: str = "") -> ProcessSpec:
    return ProcessSpec(whose="submission", module=module, setup=ServerSpec(), group=group)


@pytest.fixture(params=[BubblewrapSandbox, NamespacesSandbox], ids=lambda kind: kind.name)
def children(request, tmp_path):
    if missing := request.param().available():
        pytest.skip(missing)
    tmp_path.chmod(0o755)
    for name, code in (("slow", SLOW_TO_END), ("next", NEXT), ("quick", "def nothing(): pass\n")):
        (tmp_path / f"{name}.py").write_text(code)
    servers = Servers(
        (request.param(),),
        python=interpreter().executable,
        site=interpreter().site,
        workspaces={"submission": tmp_path},
        limits=Limits(),
        as_root=True,  # what runs here we wrote ourselves, and the interpreter may lie below a home
    )
    children = ProcessPool(servers, Limits())
    yield children
    children.close()
    servers.close()


@pytest.fixture
def inits(monkeypatch):
    """Handles of pid 1 of every child, in the order in which they were ready."""
    handles = []
    ready = harness_child.StudentProcess.ready

    def noted(self):
        ready(self)
        handles.append(os.dup(self._init_pidfd))

    monkeypatch.setattr(harness_child.StudentProcess, "ready", noted)
    yield handles
    for handle in handles:
        os.close(handle)


def open_files() -> int:
    gc.collect()  # a traceback has children, which have files
    return len([*Path("/proc/self/fd").iterdir()])


def ended(handle: int) -> bool:
    return bool(select.select([handle], [], [], 0)[0])


def stopped(handle: int) -> int:
    """Have pid 1 do nothing more, whatever closes."""
    signal.pidfd_send_signal(handle, signal.SIGSTOP)
    return handle


def test_the_next_program_finds_neither_ports_nor_processes_of_the_one_before(children):
    with children.subject(order("slow")) as subject:
        assert subject.imported.outcome is Outcome.OBSERVED
    with children.subject(order("next")) as subject:
        assert subject.imported.note == ""


def test_one_that_does_not_end_is_killed_before_the_next_program_begins(children, inits, monkeypatch):
    monkeypatch.setattr(harness_child, "END_WITHIN_S", 0.1)
    with children.subject(order("quick")):
        first = stopped(inits[0])
    assert not ended(first)  # it was not waited for
    with children.subject(order("quick")) as subject:
        assert ended(first)
        assert subject.call("nothing", NOTHING).outcome is Outcome.OBSERVED


def test_a_child_that_lives_on_waits_as_well(children, inits, monkeypatch):
    monkeypatch.setattr(harness_child, "END_WITHIN_S", 0.1)
    with children.subject(order("next", group="kept")):
        with children.subject(order("quick")):
            first = stopped(inits[1])
        with children.subject(order("next", group="kept")) as subject:
            assert not ended(first)
            assert subject.call("nothing", NOTHING).outcome is Outcome.OBSERVED
            assert ended(first)


@pytest.mark.parametrize("end", ["children", "servers"])
def test_the_last_one_has_ended_when_the_run_has(children, inits, monkeypatch, end):
    monkeypatch.setattr(harness_child, "END_WITHIN_S", 0.1)
    with children.subject(order("quick")):
        last = stopped(inits[0])
    if end == "children":
        children.close()
    else:
        children.servers.close()
    assert ended(last)


def test_whoever_interrupts_the_waiting_leaves_nothing_open(children, monkeypatch):
    with children.subject(order("quick")):
        pass
    children.close()
    before = open_files()
    end = harness_child.StudentProcess.end

    def interrupted(self):
        monkeypatch.setattr(harness_child.StudentProcess, "end", end)
        raise KeyboardInterrupt

    with children.subject(order("quick")):
        pass
    monkeypatch.setattr(harness_child.StudentProcess, "end", interrupted)
    with pytest.raises(KeyboardInterrupt), children.subject(order("quick")):
        pass
    children.close()
    assert open_files() == before


def test_what_the_kernel_kills_of_one_program_excuses_no_other(children, monkeypatch):
    kills = [0]
    monkeypatch.setattr(harness_child, "oom_kills", lambda: kills[0])
    monkeypatch.setattr("grader.harness.endings.oom_kills", lambda: kills[0])
    end = harness_child.StudentProcess.end

    def killed(self):
        kills[0] += 1
        end(self)

    with children.subject(order("quick")):
        pass
    monkeypatch.setattr(harness_child.StudentProcess, "end", killed)
    with children.subject(order("next")) as subject:
        assert kills == [1]
        monkeypatch.setattr(harness_child.StudentProcess, "end", end)
        assert "SIGKILL" in subject.call("kill", NOTHING).note


def test_one_with_devices_is_waited_for_at_once(children, inits, monkeypatch):
    monkeypatch.setattr(SubjectServer, "has_devices", True)
    with children.servers.serving(ServerSpec(preloads=(OBSERVER,))) as server:
        with ChildSubject(
            harness_child.StudentProcess(server, "submission", Limits()), "quick", Limits()
        ) as subject:
            assert subject.imported.outcome is Outcome.OBSERVED
        assert ended(inits[0])
