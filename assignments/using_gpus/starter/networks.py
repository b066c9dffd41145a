"""The networks that are timed, a mini-batch for each, and one step of training.

The mini-batches of full size are those of Table 7 of Shi et al. (2016); the networks are the course's own,
of the same kinds.
"""

import torch
from torch import nn

BATCHES = {"FCN": 64, "AlexNet": 16, "ResNet-50": 16, "LSTM": 128}
"""How many samples a mini-batch has."""
CLASSES = 100


class _Bottleneck(nn.Module):
    """1 x 1, 3 x 3 and 1 x 1 convolutions, and what went in added to what comes out (He et al. 2015)."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.body = nn.Sequential(
            *_convolution(inputs, width, 1),
            *_convolution(width, width, 3, stride=stride, padding=1),
            *_convolution(width, outputs, 1)[:2],
        )
        same = inputs == outputs and stride == 1
        self.around = nn.Identity() if same else nn.Sequential(*_convolution(inputs, outputs, 1, stride)[:2])

    def forward(self, x):
        return torch.relu(self.body(x) + self.around(x))


class _LastStep(nn.Module):
    """Two layers of LSTM, and a class for what the last step gives."""

    def __init__(self, features, hidden):
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, CLASSES)

    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])


def _convolution(inputs, outputs, kernel, stride=1, padding=0):
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False)
    return convolution, nn.BatchNorm2d(outputs), nn.ReLU()


def _fcn(inputs, hidden):
    layers = [nn.Linear(inputs, hidden), nn.ReLU()]
    for _ in range(3):
        layers += [nn.Linear(hidden, hidden), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(hidden, CLASSES))


def _alexnet(widths, hidden):
    a, b, c, d, e = widths
    return nn.Sequential(
        *(nn.Conv2d(3, a, 11, stride=4, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2)),
        *(nn.Conv2d(a, b, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2)),
        *(nn.Conv2d(b, c, 3, padding=1), nn.ReLU()),
        *(nn.Conv2d(c, d, 3, padding=1), nn.ReLU()),
        *(nn.Conv2d(d, e, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(6), nn.Flatten()),
        *(nn.Linear(36 * e, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()),
        nn.Linear(hidden, CLASSES),
    )


def _resnet(width, blocks):
    layers = [*_convolution(3, width, 7, stride=2, padding=3), nn.MaxPool2d(3, 2, padding=1)]
    inputs = width
    for stage, count in enumerate(blocks):
        for block in range(count):
            layers.append(_Bottleneck(inputs, width << stage, 2 if stage and not block else 1))
            inputs = 4 * width << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


_MAKE = {
    ("FCN", "full"): lambda: _fcn(16384, 2048),
    ("FCN", "reduced"): lambda: _fcn(1024, 512),
    ("AlexNet", "full"): lambda: _alexnet((64, 192, 384, 256, 256), 4096),
    ("AlexNet", "reduced"): lambda: _alexnet((16, 32, 32, 32, 16), 128),
    ("ResNet-50", "full"): lambda: _resnet(64, (3, 4, 6, 3)),
    ("ResNet-50", "reduced"): lambda: _resnet(8, (3, 4, 6, 3)),
    ("LSTM", "full"): lambda: _LastStep(256, 256),
    ("LSTM", "reduced"): lambda: _LastStep(32, 64),
}
_SAMPLE = {
    ("FCN", "full"): (16384,),
    ("FCN", "reduced"): (1024,),
    ("AlexNet", "full"): (3, 224, 224),
    ("AlexNet", "reduced"): (3, 96, 96),
    ("ResNet-50", "full"): (3, 224, 224),
    ("ResNet-50", "reduced"): (3, 32, 32),
    ("LSTM", "full"): (32, 256),
    ("LSTM", "reduced"): (16, 32),
}


def make(name, size="full"):
    """A new network, on the CPU; `size` is "full" or "reduced": the same layers, fewer numbers."""
    return _MAKE[name, size]()


def batch(name, size="full", samples=0):
    """A mini-batch `(x, y)` for it, on the CPU: float32 samples, and for each a class as int64.

    `samples` is how many; left out, as many as Table 7 has.
    """
    count = samples or BATCHES[name]
    return torch.randn(count, *_SAMPLE[name, size]), torch.randint(CLASSES, (count,))


def step(network, x, y, rate=1e-3):
    """Train a network with one mini-batch that lies on its device: forward, backward, new weights.

    Returns:
        The loss, a tensor of no dimensions on that device. On a GPU none of this need have happened when it
        returns.
    """
    network.zero_grad()
    loss = nn.functional.cross_entropy(network(x), y)
    loss.backward()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.sub_(rate * parameter.grad)
    return loss
