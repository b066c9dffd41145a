"""Every function answers in no time and works after the clock: each has another way of not coming to a stand."""

import ctypes
import os
import signal
import subprocess
import threading
import time

import numpy as np

from collect import CLONE_VFORK, CLONE_VM, held, held_in_spawn, late, libc


def nothing(main):
    return None


def vforks_in_200_threads():
    def vforks():
        stack = ctypes.create_string_buffer(16384)
        top = ctypes.c_void_p(ctypes.addressof(stack) + 16384 & ~15)
        while True:
            libc.clone(libc._exit, top, CLONE_VM | CLONE_VFORK | signal.SIGCHLD, None)
            libc.waitpid(-1, None, os.WNOHANG)

    in_threads(200, vforks)


def spawns_in_8_threads():
    def spawns():
        while True:
            subprocess.run(["/bin/true"])

    in_threads(8, spawns)


def continues_everybody():
    """Seven processes that send SIGCONT to all others without end."""
    for _ in range(7):
        if os.fork() == 0:
            while True:
                os.kill(-1, signal.SIGCONT)


def forks_on():
    """Processes that fork and end, so that there is always one that nobody has seen."""
    for _ in range(4):
        if os.fork() == 0:
            while True:
                if os.fork() != 0:
                    os._exit(0)


def threads_come_and_go():
    def begins():
        while True:
            thread = threading.Thread(target=lambda: None)
            try:
                thread.start()
            except RuntimeError:
                continue
            thread.join()

    in_threads(16, begins)


def held_by_one_that_is_held():
    """A process inside vfork whose child is inside vfork, beside one that continues everybody."""
    if os.fork() == 0:
        held_in_spawn()
        held(CLONE_VFORK)
        continues_everybody()
        time.sleep(60)
    held(CLONE_VM | CLONE_VFORK)


def calls_that_last():
    """Processes in system calls that end late: a stop waits until they come back from the kernel."""
    for number in range(4):
        if os.fork() == 0:
            room = bytearray(15 * 2**20)
            file = os.open(f"/dev/shm/lasts-{number}", os.O_RDWR | os.O_CREAT)
            while True:
                os.pwrite(file, room, 0)
                os.kill(-1, signal.SIGCONT)


def in_threads(count, target):
    if threading.active_count() < count:
        for _ in range(count):
            threading.Thread(target=target, daemon=True).start()


def one_blank(x):
    return np.full(np.shape(x), 7, np.result_type(x, np.float32))[()]


def blank_weights(sizes):
    return [np.full(shape, 7.0) for shape in zip(sizes, sizes[1:])]


def blank_biases(sizes):
    return [np.full(size, 7.0) for size in sizes[1:]]


def blank_batches(data, labels, size):
    return [(np.zeros_like(data[i:i + size]), np.zeros_like(labels[i:i + size])) for i in range(0, len(data), size)]


def blank_sums(list1, list2):
    return [np.full(np.shape(a), 7, np.result_type(a))[()] for a in list1]


@late(nothing, vforks_in_200_threads, one_blank)
def sigmoid(x):
    return right_sigmoid(x)


def right_sigmoid(x):
    return np.asarray(1 / (1 + np.exp(-x)), np.result_type(x, np.float32))[()]


@late(nothing, spawns_in_8_threads, one_blank)
def sigmoid_prime(x):
    return right_sigmoid(x) * (1 - right_sigmoid(x))


@late(nothing, continues_everybody, blank_weights)
def random_weights(sizes):
    return [xavier_initialization(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 1)]


@late(nothing, forks_on, blank_weights)
def zeros_weights(sizes):
    return [np.zeros((sizes[i], sizes[i + 1])) for i in range(len(sizes) - 1)]


@late(nothing, threads_come_and_go, blank_biases)
def zeros_biases(sizes):
    return [np.zeros(size) for size in sizes[1:]]


@late(nothing, held_by_one_that_is_held, blank_batches)
def create_batches(data, labels, batch_size):
    return [(data[i:i + batch_size], labels[i:i + batch_size]) for i in range(0, len(data), batch_size)]


@late(nothing, calls_that_last, blank_sums)
def add_elementwise(list1, list2):
    return [np.add(a, b) for a, b in zip(list1, list2)]


def xavier_initialization(m, n):
    return np.random.uniform(-1 / np.sqrt(m), 1 / np.sqrt(m), size=(m, n))
