"""Every function gives a wrong answer, and has something in it that does not stop: a grader that waits for it hangs."""

import os
import signal
import threading
import time

import numpy as np

from collect import CLONE_VFORK, CLONE_VM, held, held_in_spawn, libc, serve_frame


def sigmoid(x):
    """A thread inside posix_spawn, whose child waits for ever."""
    held_in_spawn()
    return np.zeros(np.shape(x))


def sigmoid_prime(x):
    """A thread inside vfork, whose child never ends nor runs another program."""
    held(CLONE_VM | CLONE_VFORK)
    return np.zeros(np.shape(x))


def random_weights(sizes):
    """The same without shared memory, in forty threads."""
    for _ in range(40):
        held(CLONE_VFORK)
    return []


def zeros_weights(sizes):
    """Not this process, but one that it started, is held; and one that is held started that."""
    if os.fork() == 0:
        held_in_spawn()
        if os.fork() == 0:
            held(CLONE_VFORK)
            time.sleep(600)
        time.sleep(600)
    time.sleep(0.2)
    return []


def zeros_biases(sizes):
    """The main thread itself is held; another one says done for it, with the nonce of the request."""
    frame = serve_frame()
    calls, request = frame.f_locals["calls"], frame.f_locals["request"]
    answer = frame.f_globals["Encoder"](frame.f_locals["results"]).close({"value": {"l": []}, "changed": []})
    reply = type(request)(request.nonce, *answer).pack()
    threading.Thread(target=lambda: (time.sleep(0.2), calls.send(reply)), daemon=True).start()
    held(CLONE_VM | CLONE_VFORK, run=lambda clone: clone())


def create_batches(data, labels, batch_size):
    """The main thread ends, alone, and leaves the process to another one, which says done."""
    frame = serve_frame()
    calls, request = frame.f_locals["calls"], frame.f_locals["request"]
    answer = frame.f_globals["Encoder"](frame.f_locals["results"]).close({"value": {"l": []}, "changed": []})
    reply = type(request)(request.nonce, *answer).pack()

    def says_done():
        time.sleep(0.2)
        calls.send(reply)
        time.sleep(600)

    threading.Thread(target=says_done, daemon=True).start()
    held_in_spawn()
    libc.syscall(60, 0)  # exit, of one thread


def add_elementwise(list1, list2):
    """Processes that continue each other, and fork, and never stand for long."""
    for number in range(12):
        if os.fork() == 0:
            for each in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                try:
                    signal.signal(each, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            while True:
                os.kill(-1, signal.SIGCONT)
                if number % 2 and os.fork() != 0:
                    os._exit(0)
    held(CLONE_VM | CLONE_VFORK)
    return []
