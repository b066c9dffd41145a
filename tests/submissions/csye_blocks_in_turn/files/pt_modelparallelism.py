"""A ResNet-50 whose blocks lie on four GPUs in turn, so that much crosses; each layer computes where it lies."""

import torch
from resnet import Bottleneck, ResNet
from torch import nn

DEVICES = ["cuda:0", "cuda:1", "cuda:2", "cuda:3"]
NUM_CLASSES = 1000
BATCH_SIZE, IMAGE_SIZE = 4, 64


class ModelParallelResNet50(ResNet):
    def __init__(self, num_classes=NUM_CLASSES):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=num_classes)
        beginning = nn.Sequential(self.conv1, self.bn1, self.relu, self.maxpool)
        end = nn.Sequential(self.avgpool, nn.Flatten(), self.fc)
        self.blocks = [beginning, *self.layer1, *self.layer2, *self.layer3, *self.layer4, end]
        for number, block in enumerate(self.blocks):
            block.to(DEVICES[number % len(DEVICES)])

    def forward(self, x):
        for number, block in enumerate(self.blocks):
            x = block(x.to(DEVICES[number % len(DEVICES)]))
        return x.to(DEVICES[0])


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
