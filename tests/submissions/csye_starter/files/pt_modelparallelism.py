"""A ResNet-50 in two parts, each of them on a GPU of its own: split it over four."""

import torch
from resnet import Bottleneck, ResNet
from torch import nn

NUM_CLASSES = 1000
NUM_BATCHES = 3
BATCH_SIZE = 120
IMAGE_SIZE = 128


class ModelParallelResNet50(ResNet):
    """conv1 to layer2 on the first GPU, layer3 to fc on the second."""

    def __init__(self, num_classes=NUM_CLASSES):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=num_classes)
        self.first = nn.Sequential(
            self.conv1, self.bn1, self.relu, self.maxpool, self.layer1, self.layer2
        ).to("cuda:0")
        self.second = nn.Sequential(self.layer3, self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.second(self.first(x).to("cuda:1"))
        return self.fc(x.flatten(1))


def train(model):
    """Learn some batches of random pictures, and print the loss of each."""
    model.train()
    loss_function = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for batch in range(NUM_BATCHES):
        pictures = torch.randn(BATCH_SIZE, 3, IMAGE_SIZE, IMAGE_SIZE)
        classes = torch.randint(NUM_CLASSES, (BATCH_SIZE,))
        one_hot = nn.functional.one_hot(classes, NUM_CLASSES).float()
        optimizer.zero_grad()
        outputs = model(pictures.to("cuda:0"))
        loss = loss_function(outputs, one_hot.to(outputs.device))
        loss.backward()
        optimizer.step()
        print(f"batch {batch + 1}, loss {loss.item():.4f}")


if __name__ == "__main__":
    train(ModelParallelResNet50())
