"""In torchvision's place, for splits that import their ResNet from there: the course's own, no more."""

from . import models

__all__ = ["models"]
