"""The course's own ResNet-50 under torchvision's name."""

from resnet import Bottleneck, ResNet, resnet50

__all__ = ["Bottleneck", "ResNet", "resnet50"]
