import time

import torch


def wait():
    import played_clock
    if played_clock.clock.playing:
        played_clock.clock.did("wait")


def seconds_per_batch(make, step, batch, device, threads):
    old = torch.get_num_threads()
    torch.set_num_threads(threads)
    on_gpu = torch.device(device).type == "cuda"
    network = make()
    network.to(device)
    x = batch[0].to(device)
    y = batch[1].to(device)
    for _ in range(2):
        step(network, x, y)
    if on_gpu:
        wait()
    n = 10
    start = time.time()
    for _ in range(n):
        step(network, x, y)
    if on_gpu:
        wait()
    end = time.time()
    torch.set_num_threads(old)
    return (end - start) / n
