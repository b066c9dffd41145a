"""Run a submission's split ResNet-50 with the weights of the unsplit one, and say where its parts lie."""

from itertools import islice

import numpy as np
import torch
from pt_modelparallelism import ModelParallelResNet50
from resnet import drawn_weights
from torch import nn

STAGES = ("conv1", "bn1", "layer1", "layer2", "layer3", "layer4", "fc")
"""The beginnings of the names of the unsplit network's parameters."""
CLASSES = 1000
_built = []

# What is compared is computed in single precision, and not in whatever a library was told to round to.
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False


class Split:
    """A submission's network, in training mode, and its parameters by the names of the unsplit one's."""

    def __init__(self, weights):
        self.network = ModelParallelResNet50()
        self.network.train()
        self.parameters = _by_name(self.network, weights)
        self.load(weights)

    def load(self, weights):
        """Copy weights from the host to wherever each parameter says that it lies."""
        with torch.no_grad():
            for name, weight in weights.items():
                parameter = self.parameters[name]
                parameter.copy_(weight.to(parameter.device))

    def __call__(self, pictures):
        return self.network(pictures.to(self.parameters["conv1.weight"].device))


def build():
    """Make the network for `step`, before anybody records what is copied where."""
    _built.append(Split(drawn_weights(0)))


def step(weights, pictures, classes, rate=0.02, steps=2):
    """Learn the same pictures for some steps, from weights that this process has not seen before.

    Everything is asked of a network by this one function, so that it cannot tell what is looked at. After
    two steps single precision is 3e-5 off; after three of so few pictures up to a few per cent.

    Returns:
        What the network says of the pictures before it has learnt anything; the loss before each step; by how
        much each stage's weights were changed in the first one, as a share of `rate`; and under `parts` the
        device of each parameter, by the names of the unsplit network's, and of what each layer put out.
    """
    split = _built[-1]
    split.load({name: torch.from_numpy(weight) for name, weight in weights.items()})
    before = {name: one.detach().clone() for name, one in split.parameters.items()}
    devices = _heard(split.network)
    learning = _learning(split, torch.tensor(pictures), _one_hot(classes), rate)
    outputs, loss = next(learning)
    changed = _changed(split, before, rate)
    losses = [loss, *(loss for _, loss in islice(learning, steps - 1))]
    devices |= {name: str(one.device) for name, one in split.parameters.items()}
    return {"outputs": outputs, "losses": np.float32(losses), "changed": changed, "parts": devices}


def _changed(split, before, rate):
    """By how much the weights of each stage differ from what they were, as a share of `rate`."""
    with torch.no_grad():
        norms = {name: (one - before[name]).norm().item() for name, one in split.parameters.items()}
    return {
        stage: np.float32(sum(norm for name, norm in norms.items() if name.split(".")[0] == stage) / rate)
        for stage in STAGES
    }


def _heard(network):
    """A mapping that is filled with the device of what each layer puts out."""
    devices = {}

    def heard(name):
        def note(layer, inputs, output):
            if isinstance(output, torch.Tensor):
                devices[f"output of {name}"] = str(output.device)

        return note

    for name, layer in network.named_modules():
        if not list(layer.children()):
            layer.register_forward_hook(heard(name))
    return devices


def _learning(split, x, y, rate):
    """Step after step, what the network says and its loss, both before the step."""
    optimizer = torch.optim.SGD(split.network.parameters(), lr=rate)
    while True:
        optimizer.zero_grad()
        output = split(x)
        loss = nn.functional.mse_loss(output, y.to(output.device))
        loss.backward()
        optimizer.step()
        yield _array(output), loss.item()


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
    return output.detach().cpu().numpy() if isinstance(output, torch.Tensor) else output
