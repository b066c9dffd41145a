"""Only `torchvision.models.resnet`."""
