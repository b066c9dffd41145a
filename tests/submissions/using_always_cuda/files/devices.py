import copy

import torch


def choose_device():
    return torch.device("cuda", 0)


def zeros_on(shape, device):
    x = torch.empty(shape, device=device)
    x.zero_()
    return x


def move(x, device):
    device = torch.device(device)
    if x.device == device:
        return x
    return x.cuda(device) if device.type == "cuda" else x.cpu()


def copy_to(x, device):
    result = torch.empty(x.shape, dtype=x.dtype, device=device)
    result.copy_(x)
    return result


def filled_like(x, shape, value):
    return torch.full(shape, value, dtype=x.dtype, device=x.device)


def can_add(x, y):
    try:
        x + y
    except RuntimeError:
        return False
    return True


def add_on_first(x, y):
    if y.device != x.device:
        y = y.to(x)
    return torch.add(x, y)


def scale(x, factor):
    return x * factor.item()


def overwrite(target, source):
    target[...] = source
    return target


def move_module(module, device):
    module.to(device)
    return module


def copy_module(module, device):
    other = copy.deepcopy(module)
    other.to(device)
    return other


def peer_copy(x, device):
    return torch.empty_like(x, device=device).copy_(x)
