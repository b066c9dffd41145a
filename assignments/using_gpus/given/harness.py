"""Calls a submission's `seconds_per_batch` with a played clock, and with networks that take their time.

`prepare` and `run` train the same networks without it, so that they can be timed from outside.
"""

import networks
import torch
from played_clock import clock, played

import timing as submission  # isort: skip  (its clocks are those that `played_clock` has put there)

ADDENDS = 300_000
RATIO = "seconds, divided by those of a plain run"

_prepared = {}


def on_played_clock(outside, device, threads):
    """What it says where making a network and each mini-batch take what the clock outside knows.

    On a GPU a mini-batch takes so long there, and next to nothing of the program's own time.

    Returns:
        The seconds, and which clock it read.
    """
    seconds, reads = _timed(outside, device, threads)
    return {"seconds": seconds, "clock": _read(reads)}


def ratio_of_played_times(plain, outside, device, threads):
    """How many times as long a mini-batch takes by `outside` as on the CPU by the clock `plain`.

    By the program's own times: a wrong division is in both of them, and says nothing of what they contain.
    """
    before, plain_reads = _timed(plain, "cpu", threads)
    seconds, reads = _timed(outside, device, threads)
    return {RATIO: _ratio(seconds, before), "clock": _read(plain_reads and reads)}


def _timed(outside, device, threads):
    """The seconds that it gives by a clock, and how often it read this."""
    make, step, _ = _played()
    with played(outside):
        seconds = submission.seconds_per_batch(make, step, _drawn_batch(), device, threads)
        return _plain(seconds), clock.reads


def _ratio(seconds, before):
    try:
        return seconds / before
    except (TypeError, ArithmeticError):
        return f"{seconds}, and {before} in a plain run"


def _read(reads):
    return "read" if reads else "none that the hand-out names was read"


def threads_of(outside, device, threads):
    """How many threads torch may use during each mini-batch, and afterwards.

    Returns:
        `meanwhile`: the different numbers of threads, in order; `afterwards`: `as before`, or what it is.
        Whether that is so the clock outside knows, by sums.
    """
    before = torch.get_num_threads()
    make, step, seen = _played(adds=True)
    try:
        with played(outside):
            _add("before")
            submission.seconds_per_batch(make, step, _drawn_batch(), device, threads)
            _add("afterwards")
        after = torch.get_num_threads()
    finally:
        torch.set_num_threads(before)
    return {
        "meanwhile": sorted(set(seen)),
        "afterwards": "as before" if after == before else f"{after}, and {before} before",
        "the threads": "as its sums show",
    }


def sums(seeds, most):
    """What the numbers of each seed add up to on 1 to `most` threads."""
    before = torch.get_num_threads()
    try:
        return [[_sum(seed, threads) for threads in range(1, most + 1)] for seed in seeds]
    finally:
        torch.set_num_threads(before)


def _sum(seed, threads=None):
    """Add numbers up in float32: in as many parts as there are threads, so that roundings tell how many."""
    if threads is not None:
        torch.set_num_threads(threads)
    return (100 * torch.randn(ADDENDS, generator=torch.Generator().manual_seed(seed))).sum().item()


def _add(when):
    clock.did("added", when, _sum(clock.did("addends")))


def _played(*, adds=False):
    """A network that takes its time by the played clock, its step, and a list of threads, one a step.

    The clock outside draws its weights and the rate of each step, and computes the step again.
    """
    seen = []

    def make():
        number, weights = clock.did("make")
        weights = torch.tensor(weights)
        network = torch.nn.Linear(weights.shape[1] - 1, weights.shape[0])
        with torch.no_grad():
            network.weight.copy_(weights[:, :-1])
            network.bias.copy_(weights[:, -1])
        network.number = number
        return network

    def step(network, x, y):
        rate_number, rate = clock.did("rate")
        loss = networks.step(network, x, y, rate)
        layer = next(module for module in network.modules() if hasattr(module, "number"))
        clock.did("give" if loss.is_cuda else "train", layer.number, rate_number, _weights(layer))
        seen.append(torch.get_num_threads())
        if adds:
            _add("meanwhile")
        return loss

    return make, step, seen


def _weights(layer):
    """Weights row by row, the bias behind each; that they are copied to the host is no doing of a harness."""
    with clock.unseen(), torch.no_grad():
        return torch.cat([layer.weight, layer.bias[:, None]], dim=1).float().cpu().tolist()


def _drawn_batch():
    x, y = clock.did("batch")
    return torch.tensor(x), torch.tensor(y)


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
