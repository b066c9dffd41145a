"""How long a mini-batch of training takes, on a number of threads or on a GPU."""


def seconds_per_batch(make, step, batch, device, threads):
    """Seconds that one mini-batch of training takes.

    make()               gives a new network, on the CPU
    step(network, x, y)  trains it with one mini-batch that lies on the same device, and returns the loss
    batch                x and y, on the CPU
    device               where to train: "cpu", "cuda" or "cuda:1"
    threads              how many threads of the CPU torch may use meanwhile
    """
    raise NotImplementedError("your code")
