"""Programs of several processes talk over a loopback of their own, and over nothing else."""

import socket
from textwrap import dedent

import pytest

from grader.contracts.call import InputCase
from grader.contracts.sandbox import Promise
from grader.harness.server import SubjectServer
from grader.harness.server_spec import ServerSpec
from grader.harness.student_process import StudentProcess
from grader.harness.subject import ChildSubject
from grader.model.assignment import Limits
from grader.sandbox.interpreter import interpreter
from grader.sandbox.view import HOSTS

LIMITS = Limits(call_wall_s=30.0, import_wall_s=20.0)


def case(*args) -> InputCase:
    return InputCase(name="a case", args=args)


def test_a_room_has_a_loopback_that_is_up_and_goes_by_its_usual_names(any_classroom):
    code = """
        import socket
        def talk():
            try:
                with socket.create_server(("localhost", 0)) as server:
                    port = server.getsockname()[1]
                    with socket.create_connection(("localhost", port)) as here:
                        there, _ = server.accept()
                        here.sendall(b"hello")
                        said = there.recv(5).decode()
                        there.close()
                return [said, server.family.name, socket.gethostbyname(socket.gethostname())]
            except OSError as error:
                return error.strerror
    """
    with any_classroom.submit(code) as subject:
        said = subject.call("talk", case()).value
    if any_classroom.sandbox.namespaced:
        assert said == ["hello", "AF_INET", "127.0.0.1"]
    else:
        assert said == "Address family not supported by protocol"


def test_two_rooms_have_two_loopbacks(any_classroom):
    code = """
        import socket
        held = []
        def take(port):
            held.append(socket.create_server(("127.0.0.1", port)))
            return held[0].getsockname()[1]
        def reach(port):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=2).close()
                return "reached"
            except OSError as error:
                return error.strerror
    """
    if not any_classroom.sandbox.namespaced:
        pytest.skip("has no sockets at all")
    with any_classroom.submit(code) as one:
        port = one.call("take", case(0)).value
        assert one.call("reach", case(port)).value == "reached"
        with socket.create_server(("127.0.0.1", 0)) as outside:
            here = outside.getsockname()[1]
            assert one.call("reach", case(here)).value == "Connection refused"
        server = any_classroom.server()  # another room
        with ChildSubject(StudentProcess(server, "submission", LIMITS), "work", LIMITS) as other:
            assert other.call("reach", case(port)).value == "Connection refused"


def test_the_names_of_a_room_cannot_be_changed(any_classroom):
    code = """
        import os
        def change():
            try: open("/etc/hosts", "a").close(); return "written"
            except OSError as error: return error.strerror
        def read():
            return open("/etc/hosts").read()
    """
    if not any_classroom.sandbox.namespaced:
        pytest.skip("shows the machine's own")
    with any_classroom.submit(code) as subject:
        assert subject.call("change", case()).value in {"Read-only file system", "Permission denied"}
        assert subject.call("read", case()).value == HOSTS


@pytest.mark.torch
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_process_group_of_gloo_is_formed_in_a_room(any_classroom, host):
    pytest.importorskip("torch")
    if not any_classroom.sandbox.namespaced:
        pytest.skip("has no sockets at all")
    (any_classroom.workspace / "work.py").write_text(GLOO)
    server = SubjectServer(
        any_classroom.sandbox,
        python=interpreter().executable,
        site=interpreter().site,
        setup=ServerSpec(preloads=("torch",)),
        workspaces={"submission": any_classroom.workspace},
        limits=LIMITS,
    )
    try:
        server.ready()
        with ChildSubject(StudentProcess(server, "submission", LIMITS), "work", LIMITS) as subject:
            assert subject.call("both", case(host)).value == [0, 0]
            # and no warnings of names that cannot be found
            assert sorted(subject.output.splitlines()) == ["rank 0: 3.0", "rank 1: 3.0"]
    finally:
        server.close()


GLOO = """
import os
import torch
import torch.distributed as dist

def work(rank, host):
    os.environ.update(MASTER_ADDR=host, MASTER_PORT="29501", RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group("gloo")
    total = torch.tensor([float(rank + 1)])
    dist.all_reduce(total)
    os.write(1, f"rank {rank}: {total.item()}\\n".encode())
    dist.destroy_process_group()

def both(host):
    started = []
    for rank in range(2):
        started.append(os.fork())
        if started[-1] == 0:
            try:
                work(rank, host)
                os._exit(0)
            finally:
                os._exit(1)
    return [os.waitpid(pid, 0)[1] for pid in started]
"""


@pytest.mark.promise(Promise.FRESH_FOLDERS)
def test_a_port_that_a_submission_left_waiting_does_not_reach_the_next(any_classroom):
    """A server serves one submission after another; a port waits for a minute in a network."""
    leaves = """
        import socket
        def leave():
            server = socket.create_server(("127.0.0.1", 50007))
            client = socket.create_connection(("127.0.0.1", 50007))
            accepted, _ = server.accept()
            accepted.close()
            client.close()
            server.close()
            return binds()
        def binds():
            try:
                with socket.socket() as server:
                    server.bind(("127.0.0.1", 50007))
            except OSError as error:
                return error.strerror
    """
    server = any_classroom.server()
    said = []
    for student, function in (("ann", "leave"), ("ben", "binds")):
        folder = any_classroom.workspace / student
        folder.mkdir()
        (folder / "work.py").write_text(dedent(leaves))
        server.within = {"submission": student}
        with ChildSubject(StudentProcess(server, "submission", LIMITS), "work", LIMITS) as subject:
            said.append(subject.call(function, case()).value)
    assert said == ["Address already in use", None]
