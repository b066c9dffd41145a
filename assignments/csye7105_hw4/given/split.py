"""Gives a hand-in's split ResNet-50 the weights of the unsplit one, runs it, and says where its parts lie."""

from itertools import islice

import numpy as np
import torch
from pt_modelparallelism import ModelParallelResNet50
from resnet import drawn_weights
from torch import nn

STAGES = ("conv1", "bn1", "layer1", "layer2", "layer3", "layer4", "fc")
"""The beginnings of the names of the unsplit network's parameters."""
CLASSES = 1000

# What is compared is computed in single precision, and not in whatever a library was told to round to.
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False


class Split:
    """A hand-in's network, in training mode, and its parameters by the names of the unsplit one's."""

    def __init__(self, seed):
        self.network = ModelParallelResNet50()
        self.network.train()
        weights = drawn_weights(seed)
        self.parameters = _by_name(self.network, weights)
        with torch.no_grad():
            for name, weight in weights.items():
                self.parameters[name].copy_(weight)

    def __call__(self, pictures):
        return self.network(pictures.to(self.parameters["conv1.weight"].device))


def outputs(seed, pictures, classes):
    """What the network says of pictures, of shape (n, 3, height, width), before it has learnt anything."""
    del classes
    with torch.no_grad():
        return _array(Split(seed)(torch.tensor(pictures)))


def learn(seed, pictures, classes, rate=0.02, steps=2):
    """Learn the same pictures for some steps of stochastic gradient descent.

    After two steps single precision is 3e-5 off; after three of so few pictures up to a few per cent.

    Returns:
        The loss before each step, and by how much each stage's weights were changed in the first one, as a
        share of `rate`.
    """
    split = Split(seed)
    x, y = torch.tensor(pictures), _one_hot(classes)
    before = {name: one.detach().clone() for name, one in split.parameters.items()}
    losses = _losses(split, x, y, rate)
    first = next(losses)
    with torch.no_grad():
        changed = {name: (one - before[name]).norm().item() for name, one in split.parameters.items()}
    del before
    stages = {
        stage: np.float32(sum(size for name, size in changed.items() if name.split(".")[0] == stage) / rate)
        for stage in STAGES
    }
    return {"losses": np.float32([first, *islice(losses, steps - 1)]), "changed": stages}


def placed(seed, pictures, classes):
    """One step of learning, with an ear at every layer.

    Returns:
        The loss, and under `parts` the device of each parameter and of what each layer put out.
    """
    split = Split(seed)
    parts = {name: str(one.device) for name, one in split.parameters.items()}

    def heard(name):
        def note(layer, inputs, output):
            if isinstance(output, torch.Tensor):
                parts[f"output of {name}"] = str(output.device)

        return note

    for name, layer in split.network.named_modules():
        if not list(layer.children()):
            layer.register_forward_hook(heard(name))
    loss = next(_losses(split, torch.tensor(pictures), _one_hot(classes), 0.02))
    return {"loss": np.float32(loss), "parts": parts}


def _losses(split, x, y, rate):
    """Step after step, the loss before it."""
    optimizer = torch.optim.SGD(split.network.parameters(), lr=rate)
    while True:
        optimizer.zero_grad()
        output = split(x)
        loss = nn.functional.mse_loss(output, y.to(output.device))
        loss.backward()
        optimizer.step()
        yield loss.item()


def _by_name(network, weights):
    """A network's parameters by the names of the unsplit one's.

    They have these names if its class derives from `ResNet`; otherwise they are taken in the order in which
    it registered them.
    """
    named = dict(network.named_parameters(remove_duplicate=False))
    if weights.keys() <= named.keys():
        return {name: named[name] for name in weights}
    ordered = list(network.parameters())
    if [one.shape for one in ordered] != [one.shape for one in weights.values()]:
        raise TypeError(
            "ModelParallelResNet50 has not the parameters of the unsplit network: derive it from ResNet, or "
            f"register the same {len(weights)} in the same order (it has {len(ordered)})"
        )
    return dict(zip(weights, ordered, strict=True))


def _one_hot(classes):
    return nn.functional.one_hot(torch.tensor(classes), CLASSES).to(torch.float32)


def _array(output):
    return output.cpu().numpy() if isinstance(output, torch.Tensor) else output
