"""The filter refuses what it names, for good, and nothing else."""

import errno
import os
import re
import signal
import socket
import struct
import sys
import threading
from pathlib import Path

import pytest

from grader.subject import linux, seccomp

HEADERS = (
    ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", r"#define __NR_(\w+)\s+(\d+)"),
    ("/usr/include/asm-generic/unistd.h", r"#define __NR(?:3264)?_(\w+)\s+(\d+)"),
)
PR_SET_SECCOMP, PR_SCHED_CORE, PR_FUTEX_HASH, SO_ZEROCOPY = 22, 62, 78, 60
SECCOMP_GET_ACTION_AVAIL, SECCOMP_MODE_FILTER = 2, 2
ALLOW = struct.pack("=I", 0x7FFF0000)
BY_KERNEL = (14, 19, 32, 44)
"""Options of TCP that not every kernel has: MD5SIG, REPAIR, MD5SIG_EXT, RTO_MAX_MS."""
CLONE_VM, CLONE_SIGHAND, CLONE_THREAD = 0x100, 0x800, 0x10000
CLOSE_RANGE_UNSHARE = 2
DESCRIPTOR = 900  # no test of this process has so many files open
YES = struct.pack("=i", 1)


@pytest.mark.parametrize("column", [0, 1], ids=["x86_64", "aarch64"])
def test_the_numbers_are_those_of_the_kernels_own_headers(column):
    path, pattern = HEADERS[column]
    if not Path(path).is_file():
        pytest.skip("the kernel's headers are not installed")
    numbers = {name: int(number) for name, number in re.findall(pattern, Path(path).read_text())}
    ours = {name: pair[column] for name, pair in seccomp.CALLS.items()}
    assert {name: numbers.get(name, number) for name, number in ours.items()} == ours
    assert sum(name in numbers for name in ours) > 50


@pytest.mark.parametrize("network", [True, False])
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_jump_of_the_filter_lands_inside_it_and_its_end_allows(monkeypatch, machine, network):
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Linux", "here", "6.0", "#1", machine)))
    seccomp.program.cache_clear()
    code = [
        seccomp._INSTRUCTION.unpack_from(seccomp.program(network=network), at)
        for at in range(0, len(seccomp.program(network=network)), seccomp._INSTRUCTION.size)
    ]
    seccomp.program.cache_clear()
    assert all(at + 1 + max(yes, no) < len(code) for at, (_, yes, no, _) in enumerate(code[:-1]))
    assert code[-1] == (seccomp._RETURN, 0, 0, seccomp._ALLOW)
    assert len(code) < 4096


def test_a_machine_we_do_not_know_gets_no_filter(monkeypatch):
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Linux", "here", "6.0", "#1", "riscv64")))
    assert not seccomp.supported()
    seccomp.refuse_calls(network=False)


def test_namespaces_are_refused_and_processes_and_threads_are_not(alone):
    def attempt():
        seccomp.refuse_calls(network=True)
        ran = []
        worker = threading.Thread(target=lambda: ran.append("thread"))
        worker.start()
        worker.join()
        if (pid := os.fork()) == 0:
            os._exit(7)
        ran.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        try:
            linux.unshare(linux.CLONE_NEWUSER)
        except PermissionError:
            ran.append("refused")
        return ran

    assert alone(attempt) == "['thread', 7, 'refused']"
    assert alone(lambda: linux.unshare(linux.CLONE_NEWUTS)) in {"None", f"PermissionError {errno.EPERM}"}


@pytest.mark.parametrize(
    ("network", "family", "protocol", "refused"),
    [
        (True, socket.AF_INET, 0, False),
        (True, socket.AF_INET6, 0, False),
        (True, socket.AF_UNIX, 0, False),
        (True, socket.AF_INET, socket.IPPROTO_TCP, False),
        (True, socket.AF_INET, 262, True),  # MPTCP
        (True, socket.AF_INET6, 262, True),
        (True, socket.AF_NETLINK, 0, False),
        (True, socket.AF_NETLINK, 4, True),
        (True, socket.AF_VSOCK, 0, True),
        (False, socket.AF_INET, 0, True),
        (False, socket.AF_UNIX, 0, True),
    ],
)
def test_sockets_are_had_of_the_named_families_alone(alone, network, family, protocol, refused):
    def attempt():
        seccomp.refuse_calls(network=network)
        kind = socket.SOCK_RAW if family == socket.AF_NETLINK else socket.SOCK_STREAM
        socket.socket(family, kind, protocol).close()

    said = alone(attempt)
    assert (said in {f"OSError {errno.EAFNOSUPPORT}", f"OSError {errno.EPROTONOSUPPORT}"}) == refused, said


@pytest.mark.parametrize(
    ("call", "arguments", "error"),
    [
        ("vmsplice", (-1, None, 0, 0), errno.ENOSYS),
        ("splice", (-1, None, -1, None, 1, 0), errno.ENOSYS),
        ("tee", (-1, -1, 1, 0), errno.ENOSYS),
        ("sendfile", (-1, -1, None, 1), errno.ENOSYS),
        ("clone", (CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0), errno.EINVAL),
        ("close_range", (10000, 10001, CLOSE_RANGE_UNSHARE), errno.EINVAL),
        ("landlock_create_ruleset", (None, 0, 1), errno.ENOSYS),
        ("seccomp", (SECCOMP_GET_ACTION_AVAIL, 0, ALLOW), errno.ENOSYS),
        ("prctl", (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, None, 0, 0), errno.EINVAL),
        ("prctl", (PR_FUTEX_HASH, 1, 16, 0, 0), errno.EINVAL),
        ("setsockopt", (DESCRIPTOR, socket.SOL_SOCKET, SO_ZEROCOPY, YES, 4), errno.ENOPROTOOPT),
    ],
)
def test_calls_that_hide_memory_in_the_kernel_are_refused(alone, call, arguments, error):
    def attempt(before):
        os.dup2(socket.socket().detach(), DESCRIPTOR)
        before()
        number = seccomp.CALLS[call][0 if os.uname().machine == "x86_64" else 1]
        return linux.syscall(number, *arguments, name=call)

    assert alone(lambda: attempt(lambda: seccomp.refuse_calls(network=True))).endswith(f"Error {error}")
    new_in_linux_6_16 = arguments[0] == PR_FUTEX_HASH
    assert new_in_linux_6_16 or not alone(lambda: attempt(lambda: None)).endswith(f"Error {error}")


def test_a_program_cannot_keep_hardware_siblings_of_its_core_idle(alone):
    def attempt():
        seccomp.refuse_calls(network=True)
        linux.prctl(PR_SCHED_CORE, 1)

    assert alone(attempt) == f"PermissionError {errno.EPERM}"


@pytest.mark.parametrize(
    ("level", "option"),
    [
        *((socket.IPPROTO_TCP, option) for option in (14, 18, 19, 32, 44)),
        *((socket.SOL_SOCKET, option) for option in (26, 50, 51, 52)),
        *((socket.IPPROTO_IP, 21), (socket.IPPROTO_IPV6, 73)),
    ],
)
def test_options_by_which_the_kernel_goes_on_sending_to_nobody_are_refused(alone, level, option):
    def attempt(before):
        family = socket.AF_INET6 if level == socket.IPPROTO_IPV6 else socket.AF_INET
        with socket.socket(family) as one:
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            before()
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
            one.setsockopt(level, option, 1)

    said = f"Error {errno.ENOPROTOOPT}"
    assert alone(lambda: attempt(lambda: seccomp.refuse_calls(network=True))).endswith(said)
    if option not in BY_KERNEL:
        assert not alone(lambda: attempt(lambda: None)).endswith(said)


def test_a_closed_connection_does_not_linger(alone):
    def attempt(before):
        with socket.socket() as one:
            before()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 3600))
            return struct.unpack("ii", one.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8))

    assert alone(lambda: attempt(lambda: seccomp.refuse_calls(network=True))) == "(0, 0)"
    assert alone(lambda: attempt(lambda: None)) == "(1, 3600)"


def test_the_kernel_completes_nothing_in_threads_of_its_own(alone):
    def attempt(before):
        before()
        number = seccomp.CALLS["io_setup"][0 if os.uname().machine == "x86_64" else 1]
        linux.syscall(number, 1, struct.pack("=Q", 0), name="io_setup")

    said = f"OSError {errno.ENOSYS}"
    assert alone(lambda: attempt(lambda: seccomp.refuse_calls(network=True))) == said


def test_pairs_of_sockets_need_no_network(alone):
    def attempt():
        seccomp.refuse_calls(network=False)
        one, other = socket.socketpair()
        one.send(b"x")
        return other.recv(1)

    assert alone(attempt) == "b'x'"


def test_another_personality_is_refused_and_asking_for_ours_is_not(alone):
    number = seccomp.CALLS["personality"][0 if os.uname().machine == "x86_64" else 1]
    no_randomisation = 0x0040000

    def attempt(wanted):
        seccomp.refuse_calls(network=True)
        return linux.syscall(number, wanted, name="personality")

    assert alone(lambda: attempt(0xFFFFFFFF)) == "0"
    assert alone(lambda: attempt(no_randomisation)) == f"PermissionError {errno.EPERM}"


def test_a_program_cannot_close_itself_to_those_who_count_its_memory(alone):
    def attempt():
        seccomp.refuse_calls(network=True)
        linux.prctl(linux.PR_SET_PDEATHSIG, 9)
        linux.prctl(linux.PR_SET_DUMPABLE, 0)

    assert alone(attempt) == f"PermissionError {errno.EPERM}"


def test_nobody_but_pid_1_is_left_a_process_whose_parent_ended(alone):
    """Where its parent ignores SIGCHLD a process ends without a trace, and so could a chain of them."""

    def become_a_reaper():
        seccomp.refuse_calls(network=True)
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)

    def make_a_sibling():
        seccomp.refuse_calls(network=True)
        number = seccomp.CALLS["clone"][0 if os.uname().machine == "x86_64" else 1]
        if linux.syscall(number, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0, name="clone") == 0:
            os._exit(0)

    assert alone(become_a_reaper) == alone(make_a_sibling) == f"OSError {errno.EINVAL}"


CLONE_PARENT = 0x8000


def test_the_filter_outlives_a_change_of_program(alone):
    def attempt():
        seccomp.refuse_calls(network=True)
        os.execv(sys.executable, [sys.executable, "-c", "import os; os.chroot('/')"])

    assert alone(attempt) == "ended with 1"
