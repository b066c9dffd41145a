# four GPUs, from the last to the first
import torch
import torch.nn as nn
import torch.optim as optim
from torchvision.models.resnet import Bottleneck, ResNet

num_classes = 1000
num_batches = 3
batch_size = 120
image_w = 128
image_h = 128


class ModelParallelResNet50(ResNet):
    def __init__(self, *args, **kwargs):
        super(ModelParallelResNet50, self).__init__(
            Bottleneck, [3, 4, 6, 3], num_classes=num_classes, *args, **kwargs
        )
        self.seq1 = nn.Sequential(self.conv1, self.bn1, self.relu, self.maxpool, self.layer1).to("cuda:3")
        self.seq2 = self.layer2.to("cuda:2")
        self.seq3 = self.layer3.to("cuda:1")
        self.seq4 = nn.Sequential(self.layer4, self.avgpool).to("cuda:1")
        self.fc.to("cuda:1")

    def forward(self, x):
        x = self.seq1(x.to("cuda:3"))
        x = self.seq2(x.to("cuda:2"))
        x = self.seq3(x.to("cuda:1"))
        x = self.seq4(x)
        return self.fc(x.view(x.size(0), -1)).to("cuda:0")


def train(model):
    model.train(True)
    loss_fn = nn.MSELoss()
    optimizer = optim.SGD(model.parameters(), lr=0.001)
    one_hot_indices = torch.LongTensor(batch_size).random_(0, num_classes).view(batch_size, 1)
    for _ in range(num_batches):
        inputs = torch.randn(batch_size, 3, image_w, image_h)
        labels = torch.zeros(batch_size, num_classes).scatter_(1, one_hot_indices, 1)
        optimizer.zero_grad()
        outputs = model(inputs)
        labels = labels.to(outputs.device)
        loss_fn(outputs, labels).backward()
        optimizer.step()


if __name__ == "__main__":
    model = ModelParallelResNet50()
    train(model)
    print("done")
