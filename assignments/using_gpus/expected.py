"""What functions of devices must give: what lies where is said in words, and computed in double precision."""

from __future__ import annotations

import numpy as np

from grader.api import after_call

NO_COPIES = "no copies"


def _copies(source, target):
    return NO_COPIES if source == target else f"{source} to {target}"


def _tensor(values, device, copies, dtype=None):
    values = np.asarray(values)
    return {"device": device, "dtype": dtype or values.dtype.name, "values": values, "copies": copies}


# Part 1


def cpu_chosen():
    return "cpu"


def gpu_chosen():
    return "cuda"


def zeros_on(shape, device):
    return _tensor(np.zeros(shape), device, NO_COPIES, "float32")


def move(values, lies_on, device):
    returned = "the same tensor" if lies_on == device else "another tensor"
    return {"returned": returned, **_tensor(values, device, _copies(lies_on, device))}


def copy_to(values, lies_on, device):
    return {
        "returned": "another tensor",
        **_tensor(values, device, _copies(lies_on, device)),
        "the original after 99 was written into the copy": values,
    }


def filled_like(values, lies_on, shape, value):
    return _tensor(np.full(shape, value, dtype=values.dtype), lies_on, NO_COPIES)


def can_add(first, first_lies_on, second, second_lies_on):
    if first_lies_on == second_lies_on:
        return True
    return (first.ndim == 0 and first_lies_on == "cpu") or (second.ndim == 0 and second_lies_on == "cpu")


def add_on_first(first, first_lies_on, second, second_lies_on):
    total = first.astype(np.float64) + second
    return _tensor(total, first_lies_on, _copies(second_lies_on, first_lies_on), "float32")


def scale(values, lies_on, factor):
    return _tensor(values.astype(np.float64) * factor, lies_on, NO_COPIES, values.dtype.name)


def overwrite(target, target_lies_on, source, source_lies_on):
    copies = _copies(source_lies_on, target_lies_on)
    told = _tensor(source.astype(target.dtype), target_lies_on, copies)
    return {"returned": "the same tensor", **told}


def move_module(weights, device):
    return {"returned": "the same module", "places": _places(device)}


def copy_module(weights, device):
    return {
        "returned": "another module",
        "the original lies": _places("cpu"),
        "the copy lies": _places(device),
        "the copy's weights": weights,
        "the original's weights after 99 was written into the copy": weights,
    }


def _places(device):
    return f"parameters on {device}, buffers on {device}"


def peer_copy(values, lies_on, device):
    return _tensor(values, device, _copies(lies_on, device))


# Part 2


def replicas(weights, x, devices):
    """The parts are as equal as can be, the earlier ones larger; who gets nothing is not asked."""
    largest = -(-len(x) // len(devices))
    counts = [min(largest, len(x) - begin) for begin in range(0, len(x), largest)]
    parts = sorted(zip(devices, counts, strict=False))
    return {
        "replicas": ", ".join(f"{count} on {device}" for device, count in parts),
        "result": f"on {devices[0]}",
    }


def outputs(weights, x, devices):
    return _forward([w.astype(np.float64) for w in weights], x.astype(np.float64))[1]


def learn(weights, x, y, devices, rate):
    """The gradient of the mean of squares, by hand."""
    weights = [w.astype(np.float64) for w in weights]
    hidden, output = _forward(weights, x.astype(np.float64))
    error = output - y
    of_output = 2 * error / error.size
    of_hidden = of_output @ weights[2] * (1 - hidden**2)
    gradients = (of_hidden.T @ x, of_hidden.sum(0), of_output.T @ hidden, of_output.sum(0))
    learnt = [w - rate * gradient for w, gradient in zip(weights, gradients, strict=True)]
    return {"loss": (error**2).mean(), "weights": learnt}


def _forward(weights, x):
    hidden = np.tanh(x @ weights[0].T + weights[1])
    return hidden, hidden @ weights[2].T + weights[3]


# Part 3


def on_played_clock(clock, device, threads):
    return {"seconds": clock.each, "clock": "read"}


def ratio_of_played_times(plain, clock, device, threads):
    return {"seconds, divided by those of a plain run": clock.each / plain.each, "clock": "read"}


@after_call
def threads_of(clock, device, threads):
    return {
        "meanwhile": [threads],
        "afterwards": "as before",
        "the threads": clock.threads_seen(threads),
    }
