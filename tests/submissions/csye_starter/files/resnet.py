"""ResNet-50 as one network on one device, with weights that follow from a number.

Names and shapes are those of torchvision's (He et al. 2015, with the stride in the 3 x 3 convolution), so
that a split that was written for the one works with the other.
"""

import torch
from torch import nn

BLOCKS = [3, 4, 6, 3]


class Bottleneck(nn.Module):
    """1 x 1, 3 x 3 and 1 x 1 convolutions, and what went in added to what comes out."""

    expansion = 4

    def __init__(self, inplanes, planes, stride=1, downsample=None):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, kernel_size=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, planes * self.expansion, kernel_size=1, bias=False)
        self.bn3 = nn.BatchNorm2d(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """`ResNet(Bottleneck, [3, 4, 6, 3])` is a ResNet-50."""

    def __init__(self, block, layers, num_classes=1000):
        super().__init__()
        self.inplanes = 64
        self.conv1 = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = self._stage(block, 64, layers[0], stride=1)
        self.layer2 = self._stage(block, 128, layers[1], stride=2)
        self.layer3 = self._stage(block, 256, layers[2], stride=2)
        self.layer4 = self._stage(block, 512, layers[3], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)

    def _stage(self, block, planes, blocks, stride):
        downsample = None
        if stride != 1 or self.inplanes != planes * block.expansion:
            downsample = nn.Sequential(
                nn.Conv2d(self.inplanes, planes * block.expansion, kernel_size=1, stride=stride, bias=False),
                nn.BatchNorm2d(planes * block.expansion),
            )
        first = block(self.inplanes, planes, stride, downsample)
        self.inplanes = planes * block.expansion
        return nn.Sequential(first, *(block(self.inplanes, planes) for _ in range(1, blocks)))

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def resnet50(num_classes=1000):
    """The network that is to be split."""
    return ResNet(Bottleneck, BLOCKS, num_classes)


def drawn_weights(seed):
    """Weights for every parameter of `resnet50()`, by name, on the CPU: the same for the same number."""
    chance = torch.Generator().manual_seed(seed)
    with torch.device("meta"):
        shapes = {name: parameter.shape for name, parameter in resnet50().named_parameters()}
    return {name: _drawn(name, shape, chance) for name, shape in shapes.items()}


def _drawn(name, shape, chance):
    noise = torch.randn(shape, generator=chance)
    if len(shape) > 1:
        fan_in = noise[0].numel()
        return noise * (2 / fan_in) ** 0.5
    # of a batch normalisation: factors, and around 0 what is added
    if name.endswith("weight"):
        # the last one of a block adds little to what went in: rounding then stays as small as it is
        return (0.2 if "bn3" in name else 1.0) + 0.1 * noise
    return 0.1 * noise
