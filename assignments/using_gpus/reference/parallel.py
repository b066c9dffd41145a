"""A mini-batch on several GPUs."""

import torch
from torch import nn


def parallel_forward(model, x, devices):
    """What the model says of a mini-batch, of which every device gets a part; it lies on the first one."""
    model.to(devices[0])
    return nn.DataParallel(model, device_ids=devices)(x.to(devices[0]))


def parallel_step(model, x, y, devices, rate):
    """One step of gradient descent on the mean squared error of the whole mini-batch; the loss before it."""
    output = parallel_forward(model, x, devices)
    loss = nn.functional.mse_loss(output, y.to(output.device))
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
