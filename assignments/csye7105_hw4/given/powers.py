"""Calls a submission's `power_sum` with matrices that lie where the hand-out says, and looks at the sum."""

import numpy as np
import torch
from matrix_power import power_sum

N = 10

# What is compared is computed in single precision, and not in whatever a library was told to round to.
torch.backends.cuda.matmul.allow_tf32 = False


def on_devices(A, B, n, devices):
    """Aⁿ + Bⁿ of two float32 matrices, A on the first and B on the last device.

    Returns:
        The sum, as an array.
    """
    return _array(power_sum(_there(A, devices[0]), _there(B, devices[-1]), n, list(devices)))


def at_full_size(left, right, probes, devices):
    """The tenth powers of two large matrices, added, without moving the matrices over the wire.

    Matrix k is `left[k] @ right[k]`, of shape (size, rank) times (rank, size): few numbers go in, and an
    oracle can take the power of a small matrix instead. The submission sees dense matrices.

    Returns:
        The sum times `probes`, of shape (size, m), in half precision: three digits are what sums of
        10,000 numbers in any order agree in.
    """
    first, last = devices[0], devices[-1]
    A = _there(left[0], first) @ _there(right[0], first)
    B = _there(left[1], last) @ _there(right[1], last)
    total = power_sum(A, B, N, list(devices))
    if not isinstance(total, torch.Tensor) or total.shape != A.shape:
        return _array(total)
    seen = total.to(torch.float32) @ torch.as_tensor(probes).to(total.device)
    return _array(seen).astype(np.float16)


def on_one(left, right, probes):
    """The same with both matrices on one device."""
    return at_full_size(left, right, probes, ["cuda:0"])


def on_two(left, right, probes):
    """The same with one matrix on each of two devices."""
    return at_full_size(left, right, probes, ["cuda:0", "cuda:1"])


def _there(array, device):
    return torch.tensor(array, device=device)


def _array(result):
    """A tensor as an array; whatever else came back as it is, for others to say what it is."""
    return result.detach().cpu().numpy() if isinstance(result, torch.Tensor) else result
