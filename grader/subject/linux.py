"""The few kernel calls that Python does not offer: namespaces, cgroups, mounts, capabilities, prctl."""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import signal
import socket
import struct
from typing import Any

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
_SET_INTERFACE_FLAGS = 0x8914
_UP = 0x1
_CLONE_CHILD_CLEARTID = 0x00200000
_CLONE_CHILD_SETTID = 0x01000000
_CLONE_INTO_CGROUP = 0x200000000
_CLONE3 = 435
"""The number of this system call, the same on all machines (Linux 5.3; cgroups from 5.7 on)."""

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
_MS_RELATIME = 0x200000
_ST_RELATIME = 0x1000
_MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
_PR_GET_TID_ADDRESS = 40
"""Where the C library keeps the number of this thread; needs CONFIG_CHECKPOINT_RESTORE."""
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 63

_libc = ctypes.PyDLL(None, use_errno=True)
"""Keeps Python's lock, so that it may fork; nothing that is called here takes long."""
for _function in ("capset", "mount", "prctl", "setns", "syscall", "umount2", "unshare"):
    getattr(_libc, _function)  # found once in the server: in each child the search would take 0.2 ms
for _function in ("fflush", "ftrylockfile", "funlockfile"):
    getattr(_libc, _function).argtypes = [ctypes.c_void_p]
_standard_output = ctypes.c_void_p.in_dll(_libc, "stdout")
for _function in ("PyOS_BeforeFork", "PyOS_AfterFork_Parent", "PyOS_AfterFork_Child"):
    getattr(ctypes.pythonapi, _function)


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def flush_standard_output() -> None:
    """Have the C library write what lies in the buffer of its `stdout`, unless a thread holds that.

    Not of all its streams: of one that another thread waits for, `fflush(NULL)` would wait for ever.
    """
    stream = _standard_output.value
    if stream and not _libc.ftrylockfile(stream):
        _libc.fflush(stream)
        _libc.funlockfile(stream)


def unshare(flags: int) -> None:
    """Give this process (for pids: its next children) namespaces of its own."""
    _check(_libc.unshare(flags), "unshare")


def setns(namespace: int, kind: int) -> None:
    """Enter a namespace by its open file (for pids: have the next children begun there)."""
    _check(_libc.setns(namespace, kind), "setns")


def raise_loopback() -> None:
    """Bring up the loopback of a network namespace that was just made."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SET_INTERFACE_FLAGS, struct.pack("16sh22x", b"lo", _UP))


def new_network() -> None:
    """Leave the network of this process for a new one, which has only a loopback."""
    unshare(CLONE_NEWNET)
    raise_loopback()


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Mount a file system, or an existing folder elsewhere with MS_BIND."""
    _check(
        _libc.mount(
            source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags), data.encode()
        ),
        f"mount {target}",
    )


def unmount(target: str) -> None:
    """Detach a mount and all below it; it goes when its last user does (MNT_DETACH)."""
    _check(_libc.umount2(target.encode(), _MNT_DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root of this mount namespace and put the old one at `old`."""
    _check(_libc.pivot_root(new.encode(), old.encode()), f"pivot_root {new}")


def remount_read_only(target: str) -> None:
    """Forbid writing through one mount; whatever else is forbidden there stays so."""
    now = os.statvfs(target).f_flag
    # the flags of statvfs and mount have the same values, but for this one
    present = now & (os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC | os.ST_NOATIME | os.ST_NODIRATIME)
    relatime = _MS_RELATIME if now & _ST_RELATIME else 0
    mount("none", target, flags=MS_REMOUNT | MS_BIND | MS_RDONLY | present | relatime)


def syscall(number: int, *arguments: Any, name: str) -> int:
    """Make a system call that the C library has no function for; `name` is what an error says.

    Raises:
        OSError: the kernel says no.
    """
    result: int = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


class _CloneArguments(ctypes.Structure):
    """`struct clone_args` of linux/sched.h."""

    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in (
            *("flags", "pidfd", "child_tid", "parent_tid", "exit_signal", "stack", "stack_size"),
            *("tls", "set_tid", "set_tid_size", "cgroup"),
        )
    )


def fork_into(cgroup: int) -> int:
    """Fork a process that is in a cgroup from the beginning: its pid, and 0 in the process itself.

    `cgroup` is the open folder of a cgroup v2. To move a process there later takes the kernel 10 to 15 ms,
    in which it waits for all cores. The C library's `fork` cannot ask for it; what that does beside the
    system call is done here, for a process of one thread: the thread's number is put right, and so is what
    Python and its modules registered. What libraries registered (pthread_atfork) is left out: the process
    must come from an ordinary fork itself.

    Raises:
        OSError: the kernel is too old, or forbids it.
    """
    thread_number = ctypes.c_uint64()
    _check(_libc.prctl(_PR_GET_TID_ADDRESS, ctypes.byref(thread_number), 0, 0, 0), "prctl PR_GET_TID_ADDRESS")
    arguments = _CloneArguments(
        flags=_CLONE_INTO_CGROUP | _CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID,
        child_tid=thread_number.value,
        exit_signal=signal.SIGCHLD,
        cgroup=cgroup,
    )
    pid = -1
    ctypes.pythonapi.PyOS_BeforeFork()
    try:
        size = ctypes.c_size_t(ctypes.sizeof(arguments))
        pid = syscall(_CLONE3, ctypes.byref(arguments), size, name="clone3")
    finally:
        (ctypes.pythonapi.PyOS_AfterFork_Parent if pid else ctypes.pythonapi.PyOS_AfterFork_Child)()
    return pid


def prctl(option: int, argument: int = 0) -> None:
    """Set one attribute of this process."""
    _check(_libc.prctl(option, ctypes.c_ulong(argument), 0, 0, 0), f"prctl {option}")


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def forbid_capabilities() -> None:
    """Empty the bounding set: no started program gains a capability. Needs that right, so it comes first."""
    for capability in range(_LAST_CAPABILITY + 1):
        # EINVAL past the kernel's last one, EPERM for an ordinary user without a namespace: nothing to forbid
        _libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)
    _libc.prctl(PR_CAP_AMBIENT, ctypes.c_ulong(PR_CAP_AMBIENT_CLEAR_ALL), 0, 0, 0)


def drop_capabilities() -> None:
    """Give up every capability this process has."""
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _check(_libc.capset(ctypes.byref(header), nothing), "capset")


def become(uid: int) -> None:
    """Become an ordinary user with no groups; only root can."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def set_limits(*, data_bytes: int, processes: int, file_bytes: int, open_files: int, cpu_s: int) -> None:
    """Set resource limits of this process and all it starts.

    There is no RLIMIT_AS: CUDA reserves gigabytes of address space that it never touches.
    """
    for which, value in (
        (resource.RLIMIT_DATA, data_bytes),
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_NOFILE, open_files),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(which)[1]
        within = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (within, within))
