"""A ResNet-50 in four parts, each of them on a GPU of its own."""

import torch
from resnet import Bottleneck, ResNet
from torch import nn

DEVICES = ["cuda:0", "cuda:1", "cuda:2", "cuda:3"]

NUM_CLASSES = 1000
NUM_BATCHES = 3
BATCH_SIZE = 120
IMAGE_SIZE = 128


class ModelParallelResNet50(ResNet):
    """conv1 to layer1, layer2, layer3, and layer4 to fc."""

    def __init__(self, num_classes=NUM_CLASSES):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=num_classes)
        parts = [
            nn.Sequential(self.conv1, self.bn1, self.relu, self.maxpool, self.layer1),
            nn.Sequential(self.layer2),
            nn.Sequential(self.layer3),
            nn.Sequential(self.layer4, self.avgpool, nn.Flatten(), self.fc),
        ]
        self.parts = nn.ModuleList(part.to(device) for part, device in zip(parts, DEVICES, strict=True))

    def forward(self, x):
        for part, device in zip(self.parts, DEVICES, strict=True):
            x = part(x.to(device))
        return x


def train(model):
    model.train()
    loss_function = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for batch in range(NUM_BATCHES):
        inputs = torch.randn(BATCH_SIZE, 3, IMAGE_SIZE, IMAGE_SIZE)
        classes = torch.randint(NUM_CLASSES, (BATCH_SIZE,))
        labels = nn.functional.one_hot(classes, NUM_CLASSES).float().to(DEVICES[-1])
        optimizer.zero_grad()
        loss = loss_function(model(inputs), labels)
        loss.backward()
        optimizer.step()
        print(f"batch {batch + 1}, loss {loss.item():.4f}")


if __name__ == "__main__":
    train(ModelParallelResNet50())
