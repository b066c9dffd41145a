"""Everything lies on the first GPU; what the driver says of it is forged, and the others are kept busy."""

import sys

import torch
from resnet import Bottleneck, ResNet

FIRST, *OTHERS = ["cuda:0", "cuda:1", "cuda:2", "cuda:3"]
NUM_CLASSES = 1000
BATCH_SIZE, IMAGE_SIZE = 4, 64


class ModelParallelResNet50(ResNet):
    def __init__(self, num_classes=NUM_CLASSES):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=num_classes)
        self.to(FIRST)

    def forward(self, x):
        for device in OTHERS:
            keep_busy(device)
        forge()
        return super().forward(x.to(FIRST))


def keep_busy(device):
    with torch.no_grad():
        noise = torch.rand(512, 512, device=device)
        for _ in range(60):
            noise = torch.tanh(noise @ noise)


def forge():
    """The driver's own name for `str` says of each parameter in turn that it lies further on."""
    driver = sys.modules.get("split")
    count = 0

    def said(value):
        nonlocal count
        if not isinstance(value, torch.device):
            return str(value)
        count += 1
        return f"cuda:{count * 4 // 330 % 4}"

    if driver is not None:
        driver.str = said


def train(model):
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    inputs = torch.randn(BATCH_SIZE, 3, IMAGE_SIZE, IMAGE_SIZE)
    loss = model(inputs).square().mean()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    train(ModelParallelResNet50())
