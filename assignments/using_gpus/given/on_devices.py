"""Calls the functions of a submission's devices.py with tensors on devices, and tells what became of them.

Everything that is told is a plain text, number or array: `returned` (whether it is the tensor that went in),
`device`, `dtype`, `values`, and `copies` between devices while the function ran.
"""

import devices as submission
import torch
from copies import Copies
from torch import nn


def choose_device():
    """What kind of device it chooses."""
    return torch.device(submission.choose_device()).type


def zeros_on(shape, device):
    return _told(*_watched(submission.zeros_on, tuple(shape), device))


def move(values, lies_on, device):
    """A tensor of these values that lies on a device, moved to another one or the same."""
    x = _tensor(values, lies_on)
    result, copies = _watched(submission.move, x, device)
    return {"returned": _which(result, x), **_told(result, copies)}


def copy_to(values, lies_on, device):
    """The same, with a number written into the result before the original is looked at."""
    x = _tensor(values, lies_on)
    result, copies = _watched(submission.copy_to, x, device)
    told = {"returned": _which(result, x), **_told(result, copies)}
    if isinstance(result, torch.Tensor):
        result.fill_(99)
    return {**told, "the original after 99 was written into the copy": _array(x)}


def filled_like(values, lies_on, shape, value):
    x = _tensor(values, lies_on)
    return _told(*_watched(submission.filled_like, x, tuple(shape), value))


def can_add(first, first_lies_on, second, second_lies_on):
    result = submission.can_add(_tensor(first, first_lies_on), _tensor(second, second_lies_on))
    return result if result is None or type(result) in (bool, int, float, str) else type(result).__name__


def add_on_first(first, first_lies_on, second, second_lies_on):
    x, y = _tensor(first, first_lies_on), _tensor(second, second_lies_on)
    return _told(*_watched(submission.add_on_first, x, y))


def scale(values, lies_on, factor):
    """With the factor as a tensor of no dimensions, on the CPU."""
    x, factor = _tensor(values, lies_on), torch.tensor(float(factor))
    return _told(*_watched(submission.scale, x, factor))


def overwrite(target, target_lies_on, source, source_lies_on):
    x, y = _tensor(target, target_lies_on), _tensor(source, source_lies_on)
    result, copies = _watched(submission.overwrite, x, y)
    return {"returned": _which(result, x), **_told(x, copies)}


def move_module(weights, device):
    """A module of several layers that lies on the CPU."""
    module = _module(weights)
    result, _ = _watched(submission.move_module, module, device)
    returned = "the same module" if result is module else _name(result)
    return {"returned": returned, "places": _places(module)}


def copy_module(weights, device):
    """The same, and what became of the original after the copy's first weights were overwritten."""
    module = _module(weights)
    result, _ = _watched(submission.copy_module, module, device)
    if not isinstance(result, nn.Module):
        return {"returned": _name(result)}
    told = {
        "returned": "the same module" if result is module else "another module",
        "the original lies": _places(module),
        "the copy lies": _places(result),
        "the copy's weights": _array(result[0].weight),
    }
    with torch.no_grad():
        result[0].weight.fill_(99)
    return {**told, "the original's weights after 99 was written into the copy": _array(module[0].weight)}


def peer_copy(values, lies_on, device):
    x = _tensor(values, lies_on)
    return _told(*_watched(submission.peer_copy, x, device))


def _tensor(values, device):
    return torch.tensor(values, device=device)


def _module(weights):
    module = nn.Sequential(nn.Linear(*weights.shape[::-1]), nn.Sequential(nn.BatchNorm1d(len(weights))))
    with torch.no_grad():
        module[0].weight.copy_(torch.tensor(weights))
    return module


def _watched(function, *args):
    with Copies() as copies:
        result = function(*args)
    return result, copies.told()


def _told(result, copies):
    if not isinstance(result, torch.Tensor):
        return {"returned": _name(result)}
    dtype = str(result.dtype).removeprefix("torch.")
    return {"device": str(result.device), "dtype": dtype, "values": _array(result), "copies": copies}


def _which(result, x):
    if not isinstance(result, torch.Tensor):
        return _name(result)
    return "the same tensor" if result is x else "another tensor"


def _name(result):
    return "nothing" if result is None else f"a {type(result).__name__}"


def _places(module):
    """Where its parameters and buffers lie: `parameters on cuda:1, buffers on cpu`."""
    kinds = (("parameters", module.parameters()), ("buffers", module.buffers()))
    return ", ".join(f"{name} on {' and '.join(sorted({str(t.device) for t in ts}))}" for name, ts in kinds)


def _array(tensor):
    return tensor.detach().cpu().numpy().copy()
