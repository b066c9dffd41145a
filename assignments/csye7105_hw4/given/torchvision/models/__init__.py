"""`torchvision.models.resnet`, and what torchvision.models has of it."""

from .resnet import ResNet, resnet50

__all__ = ["ResNet", "resnet50"]
