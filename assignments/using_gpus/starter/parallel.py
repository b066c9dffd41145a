"""A mini-batch on several GPUs."""


def parallel_forward(model, x, devices):
    """What the model says of a mini-batch x, of which every device gets a part.

    model    a torch.nn.Module, on the CPU
    x        of shape (n, …), on the CPU; its first dimension is split
    devices  such as ["cuda:0", "cuda:1"]

    The result lies on the first device, its rows in the order of x.
    """
    raise NotImplementedError("your code")


def parallel_step(model, x, y, devices, rate):
    """One step of gradient descent with learning rate `rate` on the mean squared error of a mini-batch.

    The parts are computed as by `parallel_forward`. Afterwards the model's own parameters are those that a
    step on one device would have given.

    Returns the loss before the step, as a Python number.
    """
    raise NotImplementedError("your code")
