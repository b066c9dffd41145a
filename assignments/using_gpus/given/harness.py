"""Calls a submission's `seconds_per_batch` with a played clock, and with networks that take their time.

`prepare` and `run` train the same networks without it, so that they can be timed from outside.
"""

import networks
import torch
from played_clock import clock, played

import timing as submission  # isort: skip  (its clocks are those that `played_clock` has put there)

_prepared = {}


def on_played_clock(outside, device, threads):
    """What it says where making a network and each mini-batch take what the clock outside knows.

    On a GPU a mini-batch takes so long there, and next to nothing of the program's own time.

    Returns:
        The seconds, and which clock it read.
    """
    make, step, _ = _played()
    with played(outside):
        seconds = submission.seconds_per_batch(make, step, _small_batch(), device, threads)
        reads = clock.reads
    return {
        "seconds": _plain(seconds),
        "clock": "read" if reads else "none that the hand-out names was read",
    }


def threads_of(outside, device, threads):
    """How many threads torch may use during each mini-batch, and afterwards.

    Returns:
        `meanwhile`: the different numbers of threads, in order; `afterwards`: `as before`, or what it is.
    """
    before = torch.get_num_threads()
    make, step, seen = _played()
    try:
        with played(outside):
            submission.seconds_per_batch(make, step, _small_batch(), device, threads)
        after = torch.get_num_threads()
    finally:
        torch.set_num_threads(before)
    return {
        "meanwhile": sorted(set(seen)),
        "afterwards": "as before" if after == before else f"{after}, and {before} before",
    }


def _played():
    """A network that takes its time by the played clock, its step, and a list of threads, one a step."""
    seen = []

    def make():
        clock.did("make")
        return torch.nn.Linear(3, networks.CLASSES)

    def step(network, x, y):
        loss = networks.step(network, x, y)
        clock.did("give" if loss.is_cuda else "train")
        seen.append(torch.get_num_threads())
        return loss

    return make, step, seen


def _small_batch():
    return torch.randn(4, 3), torch.randint(networks.CLASSES, (4,))


def ask(name, size, samples, device, threads):
    """What it says of a real network.

    Returns:
        The seconds, and how many mini-batches it trained.
    """
    steps = 0

    def step(network, x, y):
        nonlocal steps
        steps += 1
        return networks.step(network, x, y)

    batch = networks.batch(name, size, samples)
    before = torch.get_num_threads()
    try:
        seconds = submission.seconds_per_batch(
            lambda: networks.make(name, size), step, batch, device, threads
        )
    finally:
        torch.set_num_threads(before)
    return {"seconds": _plain(seconds), "steps": steps}


def prepare(name, size, samples, device, threads):
    """Make a network and train it once, for `run`."""
    torch.set_num_threads(threads)
    x, y = (tensor.to(device) for tensor in networks.batch(name, size, samples))
    _prepared.update(network=networks.make(name, size).to(device), x=x, y=y)
    run(1)


def run(steps):
    """Train it with so many mini-batches; all of them are done when it returns."""
    for _ in range(steps):
        loss = networks.step(**_prepared)
    return loss.item()


def _plain(seconds):
    """A number that was given as a tensor, or as an array, as a number; anything else as it is."""
    return seconds.item() if getattr(seconds, "ndim", None) == 0 else seconds
