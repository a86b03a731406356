"""ResNet and DenseNet for CIFAR-10 (phlippe/uvadlc_notebooks_benchmarking, Tutorial 5), as in pytorch/benchmark."""
import torch
from torch import nn


class ResNetBlock(nn.Module):
    def __init__(self, before, after, halves):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1, stride=2 if halves else 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(),
            nn.Conv2d(after, after, 3, padding=1, bias=False), nn.BatchNorm2d(after))
        self.downsample = nn.Conv2d(before, after, 1, stride=2) if halves else None

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        return torch.relu(self.net(x) + shortcut)


class ResNet(nn.Module):
    def __init__(self, depths=(3, 3, 3)):
        super().__init__()
        self.input_net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        blocks, before = [], 16
        for stage, depth in enumerate(depths):
            for i in range(depth):
                blocks.append(ResNetBlock(before, 16 << stage, stage > 0 and i == 0))
                before = 16 << stage
        self.blocks = nn.Sequential(*blocks)
        self.output_net = nn.Sequential(nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(before, 10))

    def forward(self, x):
        return self.output_net(self.blocks(self.input_net(x)))


class DenseLayer(nn.Module):
    def __init__(self, before, growth):
        super().__init__()
        self.net = nn.Sequential(
            nn.BatchNorm2d(before), nn.ReLU(), nn.Conv2d(before, 2 * growth, 1, bias=False),
            nn.BatchNorm2d(2 * growth), nn.ReLU(), nn.Conv2d(2 * growth, growth, 3, padding=1, bias=False))

    def forward(self, x):
        return torch.cat([self.net(x), x], dim=1)


class DenseBlock(nn.Module):
    def __init__(self, before, depth, growth):
        super().__init__()
        self.block = nn.Sequential(*(DenseLayer(before + i * growth, growth) for i in range(depth)))

    def forward(self, x):
        return self.block(x)


class Transition(nn.Module):
    def __init__(self, before):
        super().__init__()
        self.transition = nn.Sequential(nn.BatchNorm2d(before), nn.ReLU(), nn.Conv2d(before, before // 2, 1, bias=False),
                                        nn.AvgPool2d(2, 2))

    def forward(self, x):
        return self.transition(x)


class DenseNet(nn.Module):
    def __init__(self, depths=(6, 6, 6, 6), growth=16):
        super().__init__()
        channels = 2 * growth
        self.input_net = nn.Sequential(nn.Conv2d(3, channels, 3, padding=1))
        blocks = []
        for stage, depth in enumerate(depths):
            blocks.append(DenseBlock(channels, depth, growth))
            channels += depth * growth
            if stage < len(depths) - 1:
                blocks.append(Transition(channels))
                channels //= 2
        self.blocks = nn.Sequential(*blocks)
        self.output_net = nn.Sequential(nn.BatchNorm2d(channels), nn.ReLU(), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(),
                                        nn.Linear(channels, 10))

    def forward(self, x):
        return self.output_net(self.blocks(self.input_net(x)))
