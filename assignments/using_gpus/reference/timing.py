"""How long a mini-batch of training takes, on a number of threads or on a GPU."""

import time
from statistics import median

import torch

BATCHES = 5
"""Mini-batches that are timed, after one that is not."""


def seconds_per_batch(make, step, batch, device, threads):
    """The median of some mini-batches, each of them timed until the device has done it."""
    device = torch.device(device)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        network = make().to(device)
        x, y = (tensor.to(device) for tensor in batch)
        step(network, x, y)
        return median(timed(step, network, x, y, device) for _ in range(BATCHES))
    finally:
        torch.set_num_threads(before)


def timed(step, network, x, y, device):
    wait(device)
    begun = time.perf_counter()
    step(network, x, y)
    wait(device)
    return time.perf_counter() - begun


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)
