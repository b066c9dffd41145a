"""Every function is right, and leaves something running that an ordinary program leaves running."""

import asyncio
import multiprocessing
import os
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

left = []


def once(begin):
    """Begin it in the first call; it goes on between later ones."""
    if not left:
        left.append(begin())


def in_a_thread(work):
    def repeat():
        while True:
            work()

    threading.Thread(target=repeat, daemon=True).start()
    return work


def sigmoid(x):
    once(lambda: in_a_thread(lambda: subprocess.run(["/bin/true"], check=True)))
    return right_sigmoid(x)


def sigmoid_prime(x):
    once(lambda: ThreadPoolExecutor(8))
    parts = np.array_split(np.atleast_1d(x), 8)
    slopes = left[0].map(lambda part: right_sigmoid(part) * (1 - right_sigmoid(part)), parts)
    return np.concatenate(list(slopes)).reshape(np.shape(x)) if np.ndim(x) else right_sigmoid(x) * (1 - right_sigmoid(x))


def random_weights(sizes):
    once(lambda: multiprocessing.get_context("fork").Pool(4))
    left[0].apply(abs, (-1,))
    return [xavier_initialization(sizes[i], sizes[i + 1]) for i in range(len(sizes) - 1)]


def zeros_weights(sizes):
    left.append(subprocess.Popen(["/bin/sleep", "600"]))
    left.append(subprocess.Popen(["/bin/sh", "-c", "while :; do /bin/true; done"]))
    os.system("/bin/sleep 600 &")
    return [np.zeros((sizes[i], sizes[i + 1])) for i in range(len(sizes) - 1)]


def zeros_biases(sizes):
    """Timers and handlers, also one for SIGCONT: a stop shows itself to a program."""
    once(lambda: [signal.signal(number, lambda *seen: None) for number in (signal.SIGALRM, signal.SIGCONT)])
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    time.sleep(0.02)
    return [np.zeros(size) for size in sizes[1:]]


def create_batches(data, labels, batch_size):
    """A thread that writes to the disk, and one with an event loop that starts programs."""

    def write():
        with tempfile.TemporaryFile() as file:
            file.write(bytes(2**20))
            os.fsync(file.fileno())

    async def start():
        while True:
            process = await asyncio.create_subprocess_exec("/bin/true")
            await process.wait()

    once(lambda: (in_a_thread(write), threading.Thread(target=asyncio.run, args=(start(),), daemon=True).start()))
    return [(data[i:i + batch_size], labels[i:i + batch_size]) for i in range(0, len(data), batch_size)]


def add_elementwise(list1, list2):
    """A child that is never waited for, and one that waits for somebody who never writes."""
    reading, _ = os.pipe()
    if os.fork() == 0:
        os._exit(0)
    if os.fork() == 0:
        os.read(reading, 1)
    return [a + b for a, b in zip(list1, list2)]


def right_sigmoid(x):
    return 1 / (1 + np.exp(-np.clip(x, -700, 700)))


def xavier_initialization(m, n):
    return np.random.uniform(-1 / np.sqrt(m), 1 / np.sqrt(m), size=(m, n))
