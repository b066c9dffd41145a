import time

import torch


def power(X, n):
    P = X
    for _ in range(n - 1):
        P = P @ X
    return P


def power_sum(A, B, n, devices):
    B = B.to(A.device)
    return power(A, n) + power(B, n)


def wait():
    for i in range(torch.cuda.device_count()):
        torch.cuda.synchronize(i)


def timed(A, B, devices):
    wait()
    t0 = time.time()
    C = power_sum(A, B, 10, devices)
    wait()
    t1 = time.time()
    return t1 - t0, C


if __name__ == "__main__":
    A = torch.rand(10000, 10000).to("cuda:0")
    B = torch.rand(10000, 10000).to("cuda:0")
    B1 = B.to("cuda:1")
    # the first product of a process starts libraries
    small = torch.ones(8, 8)
    power_sum(small.to("cuda:0"), small.to("cuda:1"), 2, ["cuda:0", "cuda:1"])
    t, C1 = timed(A, B, ["cuda:0"])
    print("Time on 1 GPU: %.3f seconds" % t)
    t, C2 = timed(A, B1, ["cuda:0", "cuda:1"])
    print("Time on 2 GPUs: %.3f seconds" % t)
