"""Every function is right, and does what careful or careless programs do to their own process."""

import atexit
import builtins
import contextlib
import faulthandler
import gc
import io
import os
import resource
import shutil
import socket
import sys
import tempfile
import threading

import numpy as np


def sigmoid(x):
    """It is traced, as a debugger or a coverage tool would."""
    lines = []
    sys.settrace(lambda frame, event, argument: lines.append(frame.f_lineno))
    try:
        return right_sigmoid(x)
    finally:
        sys.settrace(None)


def sigmoid_prime(x):
    """It ends with work of its own, which fails, and is closed to output."""
    atexit.register(sys.exit, 3)
    sys.stdout.close()
    sys.stdout = io.StringIO()
    sys.stderr = None
    return right_sigmoid(x) * (1 - right_sigmoid(x))


def random_weights(sizes):
    """Standard streams are closed for good."""
    for number in (0, 1, 2):
        with contextlib.suppress(OSError):
            os.close(number)
    return [xavier_initialization(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 1)]


def zeros_weights(sizes):
    """print is silenced, and warnings, collection and recursion are set up differently."""
    builtins.print = lambda *args, **kwargs: None
    np.seterr(all="raise")
    gc.disable()
    sys.setrecursionlimit(10_000)
    faulthandler.enable(io.open(os.devnull, "w"))
    return [np.zeros((sizes[i], sizes[i + 1])) for i in range(len(sizes) - 1)]


def zeros_biases(sizes):
    """It works in another folder, which is gone afterwards, and with less than it may have."""
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    shutil.rmtree(folder)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    return [np.zeros(size) for size in sizes[1:]]


def create_batches(data, labels, batch_size):
    """Its own sockets are shut down and closed."""
    one, other = socket.socketpair()
    one.shutdown(socket.SHUT_RDWR)
    other.close()
    one.close()
    return [(data[i:i + batch_size], labels[i:i + batch_size]) for i in range(0, len(data), batch_size)]


def add_elementwise(list1, list2):
    """Threads are profiled, and one of them fails."""
    threading.setprofile(lambda frame, event, argument: None)
    threading.excepthook = lambda seen: None
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    threading.setprofile(None)
    return [a + b for a, b in zip(list1, list2)]


def right_sigmoid(x):
    return 1 / (1 + np.exp(-np.clip(x, -700, 700)))


def xavier_initialization(m, n):
    return np.random.uniform(-1 / np.sqrt(m), 1 / np.sqrt(m), size=(m, n))
