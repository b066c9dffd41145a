import torch
from resnet import resnet50
from torch import nn


class ModelParallelResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        net = resnet50()
        cut = len(net.layer3) // 2
        self.stages = nn.ModuleList(
            [
                nn.Sequential(net.conv1, net.bn1, net.relu, net.maxpool, net.layer1, net.layer2),
                net.layer3[:cut],
                net.layer3[cut:],
                nn.Sequential(net.layer4, net.avgpool, nn.Flatten(), net.fc),
            ]
        )
        for number, stage in enumerate(self.stages):
            stage.to(f"cuda:{number}")

    def forward(self, x):
        for number, stage in enumerate(self.stages):
            x = stage(x.to(f"cuda:{number}", non_blocking=True))
        return x


if __name__ == "__main__":
    net = ModelParallelResNet50()
    for batch in range(3):
        out = net(torch.randn(120, 3, 128, 128))
        out.square().mean().backward()
    print(out.shape, out.device)
