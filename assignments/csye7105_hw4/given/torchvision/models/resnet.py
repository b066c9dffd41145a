"""The course's own ResNet-50 under torchvision's name."""

import resnet
from resnet import Bottleneck, ResNet

__all__ = ["Bottleneck", "ResNet", "resnet50"]


def resnet50(*, weights=None, pretrained=False, progress=True, **kwargs):
    """A ResNet-50 with random weights; others would have to be fetched, and there is no network."""
    del progress
    if weights or pretrained:
        raise RuntimeError("weights cannot be fetched here: call resnet50() without weights and pretrained")
    return resnet.resnet50(**kwargs)
