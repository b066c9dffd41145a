"""A to the power of n plus B to the power of n, with one matrix on each GPU."""

import time

import torch

SIZE = 10_000
N = 10


def power_sum(A, B, n, devices):
    """Aⁿ + Bⁿ, on the first device; A lies there already, and B on the last one.

    Nothing waits in between: launches return at once, so both devices compute at the same time.
    """
    first = torch.linalg.matrix_power(A, n)
    second = torch.linalg.matrix_power(B, n)
    return first + second.to(devices[0])


def synchronise(devices):
    for device in devices:
        torch.cuda.synchronize(device)


def seconds(A, B, devices):
    """How long it takes where the matrices lie there already, after a first time that nobody counts."""
    A, B = A.to(devices[0]), B.to(devices[-1])
    power_sum(A[:256, :256].clone(), B[:256, :256].clone(), N, devices)
    synchronise(devices)
    begun = time.perf_counter()
    total = power_sum(A, B, N, devices)
    synchronise(devices)
    return time.perf_counter() - begun, total


def main():
    torch.manual_seed(7105)
    A = torch.rand(SIZE, SIZE, device="cuda:0")
    B = torch.rand(SIZE, SIZE, device="cuda:0")
    one, _ = seconds(A, B, ["cuda:0"])
    print(f"1 GPU: {one:.4f} s")
    two, _ = seconds(A, B, ["cuda:0", "cuda:1"])
    print(f"2 GPUs: {two:.4f} s")


if __name__ == "__main__":
    main()
