"""System calls that a student's process may not make: a filter in the kernel that it cannot take off."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import socket
import struct
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from typing import NamedTuple

from . import linux

_ARCHITECTURES = {"x86_64": (0xC000003E, 0, 317), "aarch64": (0xC00000B7, 1, 277)}
"""The kernel's name of the calling convention, the column of `CALLS`, and the number of seccomp(2)."""

CALLS: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "close_range": (436, 436),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fcntl": (72, 25),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_setup": (206, 0),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "landlock_create_ruleset": (444, 444),
    "lookup_dcookie": (212, 18),
    "memfd_secret": (447, 447),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mq_notify": (244, 184),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "msgctl": (71, 187),
    "msgget": (68, 186),
    "msgrcv": (70, 188),
    "msgsnd": (69, 189),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "seccomp": (317, 277),
    "semctl": (66, 191),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "sendfile": (40, 71),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "setpriority": (141, 140),
    "setsockopt": (54, 208),
    "settimeofday": (164, 170),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "splice": (275, 76),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "tee": (276, 77),
    "timer_create": (222, 107),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
    "vmsplice": (278, 75),
}
"""Their numbers on x86-64 and on aarch64; None where there is no such call."""

_PRIORITIES = ("sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")
_MISSING = frozenset(
    {
        *("clone3", "io_setup", "landlock_create_ruleset", "mq_notify", "mq_open", "mq_unlink"),
        *("seccomp", "sendfile", "splice", "tee", "timer_create", "vmsplice"),
    }
)
"""Refused as if this kernel had none: libraries and programs then do without.

The flags of clone3 lie in memory, where a filter cannot look: the C library falls back to clone.
"""
_CONDITIONAL = frozenset(
    {
        *("clone", "close_range", "fcntl", "ioctl", "personality", "prctl", "prlimit64", "setpriority"),
        *("setsockopt", "socket", "socketpair", *_PRIORITIES),
    }
)
_TERMINALS = {"TIOCSCTTY": 0x540E, "TIOCSTI": 0x5412, "TIOCLINUX": 0x541C, "TIOCSPTLCK": 0x40045431}
"""Take a terminal as one's own, type into it, paste into it, and open the lock of a new one."""
_EXIT_SIGNAL = 0xFF
"""CSIGNAL in the flags of clone: what the parent is sent when the child ends."""
_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEW… in the flags of clone: NS, CGROUP, UTS, IPC, USER, PID, NET."""
_CLONE_PARENT = 0x8000
_CLONE_FILES, _CLONE_THREAD = 0x400, 0x10000
_CLOSE_RANGE_UNSHARE = 2
_LINUX_PERSONALITY = (0, 0xFFFFFFFF)
"""The only one there should be, and the question which one it is."""
_PID_1 = 1
_OWN = 0
_NETLINK_ROUTE = 0
_SO_ZEROCOPY = 60
_TCP_OPTIONS = (
    *(int(socket.TCP_NODELAY), int(socket.TCP_CORK), int(socket.TCP_KEEPIDLE), int(socket.TCP_KEEPINTVL)),
    *(int(socket.TCP_KEEPCNT), int(socket.TCP_SYNCNT), int(socket.TCP_DEFER_ACCEPT)),
    *(int(socket.TCP_QUICKACK), int(socket.TCP_FASTOPEN), int(socket.TCP_NOTSENT_LOWAT)),
)
_DROPPING = {
    int(socket.SOL_SOCKET): (26, 50, 51, 52),  # SO_ATTACH_FILTER, _BPF, _REUSEPORT_CBPF, _REUSEPORT_EBPF
    int(socket.IPPROTO_IP): (21,),  # IP_MINTTL
    int(socket.IPPROTO_IPV6): (73,),  # IPV6_MINHOPCOUNT
}
_SOCKET_KIND = 0xF
"""The rest of the type of a socket are flags."""
_PR_SET_SECCOMP, _PR_SCHED_CORE, _PR_FUTEX_HASH = 22, 62, 78

_LOAD = 0x20
_AND = 0x54
_EQUAL = 0x15
_AT_LEAST = 0x35
_ANY_BIT = 0x45
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_KILL_PROCESS = 0x80000000
_X32 = 0x40000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Where these lie in what the kernel shows of a call."""
_INSTRUCTION = struct.Struct("=HBBI")

_SET_MODE_FILTER = 1
_FILTER_FLAG_SPEC_ALLOW = 4
"""Before Linux 5.16 a filter would otherwise slow down every branch of the program that is timed."""


class _Instruction(NamedTuple):
    code: int
    value: int
    if_true: int = 0
    if_false: int = 0


class Where(NamedTuple):
    """A condition on one argument: it has one of these bits, equals a value, or is none of these values."""

    argument: int
    bits: int = 0
    equals: int | None = None
    not_among: tuple[int, ...] = ()
    mask: int = 0xFFFFFFFF
    """Which bits of it are compared with values."""

    def instructions(self, skip: int) -> list[_Instruction]:
        """Go on if it holds, otherwise jump over `skip` instructions behind."""
        load = _Instruction(_LOAD, _ARGUMENTS + 8 * self.argument)
        if self.bits:
            return [load, _Instruction(_ANY_BIT, self.bits, 0, skip)]
        masked = [load, _Instruction(_AND, self.mask)]
        if self.equals is not None:
            return [*masked, _Instruction(_EQUAL, self.equals, 0, skip)]
        last = len(self.not_among) - 1
        return [*masked, *(_Instruction(_EQUAL, v, skip + last - i) for i, v in enumerate(self.not_among))]


class SyscallRule(NamedTuple):
    """A call that is refused with an error."""

    call: str
    error: int
    where: tuple[Where, ...] = ()
    """All of them must hold for the call to be refused."""

    def instructions(self) -> list[_Instruction]:
        """Refuse the call, or go on behind."""
        body = [_Instruction(_RETURN, _ERRNO | self.error)]
        for where in reversed(self.where):
            body = where.instructions(len(body)) + body
        return body


def _rules(network: bool, pinned: bool) -> Iterable[SyscallRule]:
    for call in CALLS.keys() - _CONDITIONAL:
        yield SyscallRule(call, errno.ENOSYS if call in _MISSING else errno.EPERM)
    yield SyscallRule("clone", errno.EPERM, (Where(0, bits=_NEW_NAMESPACES),))
    # pid 1 must inherit orphans and count them, and not a process of the program's that ignores SIGCHLD
    yield SyscallRule("clone", errno.EINVAL, (Where(0, bits=_CLONE_PARENT),))
    yield SyscallRule("prctl", errno.EINVAL, (Where(0, equals=linux.PR_SET_CHILD_SUBREAPER),))
    yield SyscallRule("personality", errno.EPERM, (Where(0, not_among=_LINUX_PERSONALITY),))
    # pid 1 reads the program's memory use in /proc, which a process that is not dumpable hides; and one that
    # shares its core with nobody keeps hardware siblings idle, those of other programs too
    for option in (linux.PR_SET_DUMPABLE, _PR_SCHED_CORE):
        yield SyscallRule("prctl", errno.EPERM, (Where(0, equals=option),))
    # pid 1 of a check has the same user where we are not root: it must not be starved or cut short
    yield SyscallRule("prlimit64", errno.EPERM, (Where(0, not_among=(_OWN,)),))
    if pinned:  # reported as done: libraries that place their threads do without
        yield SyscallRule("sched_setaffinity", 0)
    for call in _PRIORITIES:
        yield SyscallRule(call, errno.EPERM, (Where(0, equals=_PID_1),))
    yield SyscallRule("setpriority", errno.EPERM, (Where(0, not_among=(os.PRIO_PROCESS,)),))
    yield SyscallRule("setpriority", errno.EPERM, (Where(1, equals=_PID_1),))
    # reported as done: who lets all others go first looks as if they kept it from its time
    for call in ("setpriority", *_PRIORITIES[1:]):
        yield SyscallRule(call, 0)
    yield from _wake_ups()
    yield from _hidden_memory()
    yield from _kept_busy()
    yield from _sockets(network)


def _wake_ups() -> Iterable[SyscallRule]:
    """Refuse ways to have the kernel send SIGCONT to a stopped program when none of it runs any more.

    The others are `timer_create` and `mq_notify`, which are refused altogether.
    """
    sigcont = int(signal.SIGCONT)
    # sent when a pipe can be read or written: emptying the pipe for its output would wake the program
    yield SyscallRule("fcntl", errno.EINVAL, (Where(1, equals=fcntl.F_SETSIG),))
    at_the_parents_end = (Where(0, equals=linux.PR_SET_PDEATHSIG), Where(1, equals=sigcont))
    yield SyscallRule("prctl", errno.EINVAL, at_the_parents_end)
    yield SyscallRule("clone", errno.EINVAL, (Where(0, equals=sigcont, mask=_EXIT_SIGNAL),))
    # a terminal that hangs up continues the leader of its session; its other end may lie in our sockets
    for command in _TERMINALS.values():
        yield SyscallRule("ioctl", errno.EPERM, (Where(1, equals=command),))


def _hidden_memory() -> Iterable[SyscallRule]:
    """Refuse ways to have the kernel hold memory that it shows in no count.

    The others are refused altogether: `vmsplice`, whose pipe keeps 2 MiB for a byte of a huge page that is no
    longer mapped; `splice`, `tee` and `sendfile`, whose pipe or socket keeps a page for each byte of a file
    that was truncated since; rule sets of Landlock; and further filters like this one, of which each thread
    may have 600 KiB.
    """
    yield SyscallRule("prctl", errno.EINVAL, (Where(0, equals=_PR_SET_SECCOMP),))
    # files of a thread that has a table of its own are not among those of its process
    own_files = Where(0, equals=_CLONE_THREAD, mask=_CLONE_THREAD | _CLONE_FILES)
    yield SyscallRule("clone", errno.EINVAL, (own_files,))
    yield SyscallRule("close_range", errno.EINVAL, (Where(2, bits=_CLOSE_RANGE_UNSHARE),))
    # the same by a queue of a socket
    zero_copy = (Where(1, equals=socket.SOL_SOCKET), Where(2, equals=_SO_ZEROCOPY))
    yield SyscallRule("setsockopt", errno.ENOPROTOOPT, zero_copy)
    # a table as large as the caller likes, from Linux 6.16 on
    yield SyscallRule("prctl", errno.EINVAL, (Where(0, equals=_PR_FUTEX_HASH),))


def _kept_busy() -> Iterable[SyscallRule]:
    """Refuse ways to have the kernel send without end what its receiver drops, also when no process lives.

    Seen: signed segments (TCP_MD5SIG) to a receiver with another key, resent every second (TCP_RTO_MAX_MS)
    for as long as TCP_USER_TIMEOUT says, took most of a core for 100 s after the check. Of TCP's options
    those stay that libraries set; a receiver that throws away otherwise has a filter, or counts hops.

    A connection that lingers (SO_LINGER), passed on and thrown away, keeps a thread of the kernel waiting as
    long as the program said, for years, and with it what every program of the machine throws away behind
    it. To linger is said to have been done: the kernel then sends what is left without waiting for it.

    Refused altogether is `io_setup`: of 16000 polls (Linux AIO) that end at once each has a thread of the
    kernel wake 900 `epoll`, for a second and more after the program stands.
    """
    linger = (Where(1, equals=socket.SOL_SOCKET), Where(2, equals=int(socket.SO_LINGER)))
    yield SyscallRule("setsockopt", 0, linger)
    tcp = Where(1, equals=socket.IPPROTO_TCP)
    yield SyscallRule("setsockopt", errno.ENOPROTOOPT, (tcp, Where(2, not_among=_TCP_OPTIONS)))
    for level, options in _DROPPING.items():
        for option in options:
            yield SyscallRule(
                "setsockopt", errno.ENOPROTOOPT, (Where(1, equals=level), Where(2, equals=option))
            )


def _sockets(network: bool) -> Iterable[SyscallRule]:
    if not network:
        yield SyscallRule("socket", errno.EAFNOSUPPORT)
        # one of datagrams could be connected anew, to any socket of the machine that has a name
        kinds = (int(socket.SOCK_STREAM), int(socket.SOCK_SEQPACKET))
        yield SyscallRule(
            "socketpair", errno.EPROTONOSUPPORT, (Where(1, not_among=kinds, mask=_SOCKET_KIND),)
        )
        return
    netlink = int(socket.AF_NETLINK)
    families = (int(socket.AF_UNIX), int(socket.AF_INET), int(socket.AF_INET6), netlink)
    yield SyscallRule("socket", errno.EAFNOSUPPORT, (Where(0, not_among=families),))
    # TCP and UDP: the kernel does not tell how much others hold
    protocols = (0, int(socket.IPPROTO_TCP), int(socket.IPPROTO_UDP))
    for family in (socket.AF_INET, socket.AF_INET6):
        other = (Where(0, equals=int(family)), Where(2, not_among=protocols))
        yield SyscallRule("socket", errno.EPROTONOSUPPORT, other)
    # listing interfaces goes through it, which distributed libraries do when they start
    listing = (Where(0, equals=netlink), Where(2, not_among=(_NETLINK_ROUTE,)))
    yield SyscallRule("socket", errno.EPROTONOSUPPORT, listing)


def supported() -> bool:
    """Tell whether we know this machine's system calls."""
    return os.uname().machine in _ARCHITECTURES


@cache
def program(*, network: bool, pinned: bool = False) -> bytes:
    """Return the filter for this machine.

    `network=False` refuses every socket (pairs of sockets stay possible); `pinned` keeps it on its cores.
    """
    return assembled(_rules(network, pinned))


def assembled(rules: Iterable[SyscallRule]) -> bytes:
    """Return instructions that refuse by these rules, and kill callers of another architecture."""
    architecture, column, _ = _ARCHITECTURES[os.uname().machine]
    code = [
        _Instruction(_LOAD, _ARCHITECTURE),
        _Instruction(_EQUAL, architecture, 1, 0),
        _Instruction(_RETURN, _KILL_PROCESS),
        _Instruction(_LOAD, _NUMBER),
        _Instruction(_AT_LEAST, _X32, 0, 1),
        _Instruction(_RETURN, _KILL_PROCESS),
    ]
    # calls with conditions first: the kernel remembers its answer for all others
    ordered = sorted(rules, key=lambda rule: (rule.call not in _CONDITIONAL, rule.call))
    for name, same_call in groupby(ordered, lambda rule: rule.call):
        call = CALLS[name][column]
        if call is not None:
            body = [instruction for rule in same_call for instruction in rule.instructions()]
            body.append(_Instruction(_RETURN, _ALLOW))
            code += [_Instruction(_EQUAL, call, 0, len(body)), *body]
    code.append(_Instruction(_RETURN, _ALLOW))
    return b"".join(_INSTRUCTION.pack(c.code, c.if_true, c.if_false, c.value) for c in code)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def refuse_calls(*, network: bool, pinned: bool = False) -> None:
    """Put the filter on this process and all it starts; nothing where `supported` says no.

    Calls in the convention of another architecture end the program.

    Raises:
        OSError: the kernel has no filters, or new privileges are still possible.
    """
    if supported():
        install(program(network=network, pinned=pinned))


def install(code: bytes) -> None:
    """Put a filter on this process and all it starts.

    Raises:
        OSError: as `refuse_calls` does.
    """
    filters = _Program(len(code) // _INSTRUCTION.size, code)
    call = _ARCHITECTURES[os.uname().machine][2]
    linux.syscall(call, _SET_MODE_FILTER, _FILTER_FLAG_SPEC_ALLOW, ctypes.byref(filters), name="seccomp")
