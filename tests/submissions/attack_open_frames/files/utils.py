"""Every function is wrong, and has the grader's code in this process fail after it."""

import atexit
import builtins
import ctypes
import faulthandler
import gc
import os
import struct
import sys
import threading

import numpy as np


def serve_frame():
    """The frame of the machinery that holds the shared buffer, the socket and the request."""
    for frame in list(sys._current_frames().values()):
        while frame is not None:
            if frame.f_code.co_name == "serve" and "results" in frame.f_locals:
                return frame
            frame = frame.f_back
    raise LookupError("only for a sandbox of grader")


serve_frame()  # what follows would harm whoever runs it elsewhere


def sigmoid(x):
    """Every line of ours raises."""

    def raises(*seen):
        raise NotObservedError("sandbox: the machine is broken")

    for frame in frames_above():
        frame.f_trace = raises
    sys.settrace(raises)
    threading.settrace(raises)
    sys.setprofile(raises)
    return np.zeros(np.shape(x))


def sigmoid_prime(x):
    """What ours calls does something else."""

    def other(*args, **kwargs):
        raise OSError(5, "Input/output error")

    for name in ("zip", "map", "list", "type", "any", "all", "len", "isinstance", "getattr", "enumerate"):
        setattr(builtins, name, other)
    struct.pack = struct.unpack = other
    return np.zeros(3)


def random_weights(sizes):
    """None of our modules is there any more."""
    for name in [*sys.modules]:
        if "grader" in name or name in ("json", "socket", "os", "struct", "traceback"):
            vars(sys.modules[name]).clear() if "grader" in name else None
            del sys.modules[name]
    gc.collect()
    return []


def zeros_weights(sizes):
    """Ours thinks that the machine failed: its own error classes are raised within it, and it ends at our exit."""
    frame = serve_frame()
    frame.f_globals["Reply"] = lambda *args: raise_machine()
    atexit.register(os.abort)
    return []


def zeros_biases(sizes):
    """The memory of our objects is overwritten."""
    frame = serve_frame()
    for name in ("calls", "student", "results"):
        ctypes.memset(id(frame.f_locals[name]) + 16, 0x41, 32)
    return []


def create_batches(data, labels, batch_size):
    """An answer whose encoding never ends, or ends the encoder."""

    class Endless(list):
        def __iter__(self):
            while True:
                yield self

    frame = serve_frame()
    encoder = frame.f_globals["Encoder"]
    encoder.encode = lambda self, value, depth=0: encoder.encode(self, value, depth)
    faulthandler.disable()
    return Endless()


def add_elementwise(list1, list2):
    """Exceptions that raise when they are described, and a stack that has no room to describe them."""

    class Worst(BaseException):
        def __str__(self):
            raise self

        __repr__ = __str__

        @property
        def __traceback__(self):
            raise self

    sys.setrecursionlimit(len([*frames_above()]) + 12)
    sys.excepthook = sys.unraisablehook = None
    raise Worst


class NotObservedError(Exception):
    """Named like the grader's own."""


def raise_machine():
    raise NotObservedError("sandbox: the machine is broken")


def frames_above():
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back
