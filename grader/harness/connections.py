"""The sockets and pipes between the worker and one child: our ends and theirs."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack, closing

from grader.subject.protocol import Calls


def pipes(resources: ExitStack) -> tuple[Calls, Calls]:
    """Our ends of two pipes, for replies and for requests, which never wait; and theirs."""
    requests, replies = os.pipe2(os.O_CLOEXEC | os.O_DIRECT), os.pipe2(os.O_CLOEXEC | os.O_DIRECT)
    ours, theirs = Calls(replies[0], requests[1]), Calls(requests[0], replies[1])
    for end in (ours.reading, ours.writing):
        os.set_blocking(end, False)
    return resources.enter_context(closing(ours)), theirs


def pair(resources: ExitStack) -> tuple[socket.socket, socket.socket]:
    """Our end, on which the kernel says who speaks, and theirs."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return resources.enter_context(ours), theirs
