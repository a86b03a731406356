"""Actor of LearningToPaint (Huang et al. 2019), as in pytorch/benchmark."""
import torch
from torch import nn
from torch.nn import functional as F


def conv3x3(before, after, stride=1):
    return nn.Conv2d(before, after, kernel_size=3, stride=stride, padding=1, bias=False)


class BasicBlock(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1, self.bn1 = conv3x3(before, after, stride), nn.BatchNorm2d(after)
        self.conv2, self.bn2 = conv3x3(after, after), nn.BatchNorm2d(after)
        self.shortcut = nn.Sequential()
        if stride != 1 or before != after:
            self.shortcut = nn.Sequential(nn.Conv2d(before, after, kernel_size=1, stride=stride, bias=False),
                                          nn.BatchNorm2d(after))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.shortcut(x))


class Actor(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.conv1, self.bn1 = conv3x3(9, 64, 2), nn.BatchNorm2d(64)
        before = 64
        for stage in range(4):
            blocks = []
            for i in range(depth):
                blocks.append(BasicBlock(before, 64 << stage, 2 if i == 0 else 1))
                before = 64 << stage
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
        self.fc = nn.Linear(512, 65)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        return torch.sigmoid(self.fc(F.avg_pool2d(x, 4).flatten(1)))
