"""How much memory sockets hold in data that is sent and not received yet (NETLINK_SOCK_DIAG)."""

from __future__ import annotations

import mmap
import socket
import struct
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import cache

MANY = 8192
"""More sockets than these are not listed: each counts with the most that it may hold."""

_USUAL = 212992
"""net.core.wmem_max of most machines; older kernels do not show it in a network namespace."""
_UNREADABLE = 2**28
"""What a bound takes for it there: more than administrators set."""

_SOCK_DIAG = 4
_BY_FAMILY = 20
_DONE, _ERROR = 3, 2
_REQUEST_DUMP = 0x301
_HEADER = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")
_WITHIN_S = 1.0

_FAMILIES = {socket.AF_INET: "sockstat", socket.AF_INET6: "sockstat6"}
_PROTOCOLS = {"TCP": socket.IPPROTO_TCP, "UDP": socket.IPPROTO_UDP}
_INET_REQUEST = struct.Struct("=BBBxI48x")
_INET_ANSWER_BYTES = 72
_INET_MEMORY = 7
_UNIX_REQUEST = struct.Struct("=BBHIIIII")
_UNIX_ANSWER = struct.Struct("=BBBBIII")
_UNIX_PEER, _UNIX_CLIENTS, _UNIX_QUEUE, _UNIX_MEMORY = 2, 3, 4, 5
_SHOW_UNIX = 0x4 | 0x8 | 0x10 | 0x20
"""The peer, the clients that are not accepted yet, the lengths of the queues, and the memory."""
_LISTENING = 10
_ANY_STATE = 0xFFFFFFFF

_MEMORY = struct.Struct("=8I")
"""SK_MEMINFO: bytes received and their limit, sent and their limit, reserved, queued, options, backlog."""
_BYTE_COSTS = 1280
"""Memory of a message of one byte: `sk_buff` and its data."""


def number() -> int:
    """Count the sockets of our network namespace, closed ones with unread data included."""
    return _statistics("sockstat").get("sockets", {}).get("used", 0)


def most_of_one() -> int:
    """Return how much a socket may hold: what it sent, and if it is of the internet, what it received."""
    limits = [
        max(
            2 * setting(f"net/core/{way}mem_max", _UNREADABLE), setting(f"net/ipv4/tcp_{way}mem", _UNREADABLE)
        )
        for way in "rw"
    ]
    return sum(limits)


def buffered(inodes: Collection[int] | None) -> int:
    """Return the bytes that these Unix sockets hold; None for all sockets of our network namespace.

    Where the kernel was built without CONFIG_UNIX_DIAG or CONFIG_INET_DIAG, these hold nothing.
    """
    if inodes is not None:
        return _unix(inodes)[1] if inodes else 0
    count = number()
    if count > MANY:
        return count * most_of_one()
    if count == 0:
        return 0
    listed, used = 0, 0
    machine = 0
    for family, file in _FAMILIES.items():
        for name, values in _statistics(file).items():
            if name.rstrip("6") in _PROTOCOLS:
                machine += values.get("mem", 0) * mmap.PAGESIZE
                # a dump walks through tables of the whole machine, so only where there are any
                if values.get("inuse"):
                    sizes = list(_internet(family, _PROTOCOLS[name.rstrip("6")]))
                    listed, used = listed + len(sizes), used + sum(sizes)
    # connections that were reset are in no list and still hold what was received
    unread = max(0, machine - used)
    for others, size in (_unix(), _netlink()):
        listed, used = listed + others, used + size
    return used + min(unread, max(0, count - listed) * most_of_one())


def _statistics(file: str) -> dict[str, dict[str, int]]:
    """Return the lines of /proc/net/sockstat or sockstat6: by protocol, the numbers by name."""
    with suppress(OSError), open(f"/proc/net/{file}") as lines:
        rows = (line.partition(": ") for line in lines)
        return {
            name: dict(zip(words[::2], map(int, words[1::2]), strict=False))
            for name, words in ((name, rest.split()) for name, _, rest in rows)
        }
    return {}


def _internet(family: int, protocol: int) -> Iterator[int]:
    """Yield the bytes of each socket; connections in TIME_WAIT have none."""
    request = _INET_REQUEST.pack(family, protocol, 1 << (_INET_MEMORY - 1), _ANY_STATE)
    for answer in _answers(request):
        attributes = _attributes(answer[_INET_ANSWER_BYTES:])
        if _INET_MEMORY in attributes:
            yield _memory(attributes[_INET_MEMORY])


def _unix(inodes: Collection[int] | None = None) -> tuple[int, int]:
    """Return how many these are, and their bytes; None for all.

    The kernel charges a sender with what it sent. One that is closed is not in the list, and its peer stands
    for it, or the listener where nobody has accepted the connection.
    """
    listed = set()
    used = 0
    unread_from = []
    request = _UNIX_REQUEST.pack(socket.AF_UNIX, 0, 0, _ANY_STATE, 0, _SHOW_UNIX, 0, 0)
    for answer in _answers(request):
        _, kind, state, _, inode, _, _ = _UNIX_ANSWER.unpack_from(answer)
        listed.add(inode)
        if inodes is not None and inode not in inodes:
            continue
        attributes = _attributes(answer[_UNIX_ANSWER.size :])
        used += _memory(attributes.get(_UNIX_MEMORY))
        if state == _LISTENING:
            clients = struct.iter_unpack("=I", attributes.get(_UNIX_CLIENTS, b""))
            used += sum(client == 0 for (client,) in clients) * most_of_a_sender()
        elif unread := _first(attributes.get(_UNIX_QUEUE)):
            unread_from.append((_first(attributes.get(_UNIX_PEER)), kind, unread))
    used += sum(_most_unread(kind, unread) for peer, kind, unread in unread_from if peer not in listed)
    return len(listed), used


def _first(numbers: bytes | None) -> int:
    return int.from_bytes((numbers or b"")[:4], sys.byteorder)


def _most_unread(kind: int, unread: int) -> int:
    """Bound what waits in a Unix socket whose senders are closed, if this many bytes of it are unread."""
    if kind == socket.SOCK_DGRAM:  # any number of senders, and only the first message's bytes are counted
        return most_of_a_sender() * (setting("net/unix/max_dgram_qlen", 10) + 1)
    return max(unread, min(most_of_a_sender(), unread * _BYTE_COSTS))


def most_of_a_sender() -> int:
    """Return how much a Unix socket may hold of what it sent."""
    return 2 * setting("net/core/wmem_max", _USUAL)


@cache
def setting(name: str, default: int) -> int:
    """Return the last number of a file below /proc/sys, or the default where there is no such file.

    Each is read once: the server asks for them before it forks the first check.
    """
    try:
        with open(f"/proc/sys/{name}") as file:
            return int(file.read().split()[-1])
    except OSError:
        return default


def _memory(numbers: bytes | None) -> int:
    if numbers is None or len(numbers) < _MEMORY.size:
        return 0
    received, _, sent, _, reserved, queued, options, backlog = _MEMORY.unpack_from(numbers)
    total: int = received + max(sent, queued) + reserved + options + backlog
    return total


def _netlink() -> tuple[int, int]:
    """Count netlink sockets and their bytes (columns Pid, Rmem and Wmem; the kernel's are 0)."""
    try:
        with open("/proc/net/netlink") as file:
            rows = [line.split() for line in file.read().splitlines()[1:]]
    except OSError:
        return 0, 0
    return sum(row[2] != "0" for row in rows), sum(int(row[4]) + int(row[5]) for row in rows)


def _answers(request: bytes) -> Iterator[bytes]:
    """Yield the kernel's answer for each socket; nothing where it does not support the request."""
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG) as kernel:
            kernel.settimeout(_WITHIN_S)
            kernel.send(_HEADER.pack(_HEADER.size + len(request), _BY_FAMILY, _REQUEST_DUMP, 0, 0) + request)
            while True:
                for kind, body in _messages(kernel.recv(65536)):
                    if kind in {_DONE, _ERROR}:
                        return
                    yield body
    except OSError:
        return


def _messages(buffer: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _HEADER.size <= len(buffer):
        length, kind, _, _, _ = _HEADER.unpack_from(buffer, at)
        yield kind, buffer[at + _HEADER.size : at + length]
        at += _aligned(max(length, _HEADER.size))


def _attributes(buffer: bytes) -> dict[int, bytes]:
    attributes, at = {}, 0
    while at + _ATTRIBUTE.size <= len(buffer):
        length, kind = _ATTRIBUTE.unpack_from(buffer, at)
        attributes[kind] = buffer[at + _ATTRIBUTE.size : at + length]
        at += _aligned(max(length, _ATTRIBUTE.size))
    return attributes


def _aligned(length: int) -> int:
    return (length + 3) & ~3
