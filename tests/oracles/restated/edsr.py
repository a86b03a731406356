"""EDSR baseline model with a scale factor of 2 (Lim et al. 2017)."""
import torch
from torch import nn


def conv(before, after):
    return nn.Conv2d(before, after, 3, padding=1)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(conv(width, width), nn.ReLU(), conv(width, width))

    def forward(self, x):
        return x + self.body(x)


class Edsr(nn.Module):
    def __init__(self, width=64, blocks=16):
        super().__init__()
        mean = 255 * torch.tensor([0.4488, 0.4371, 0.4040])
        self.register_buffer("mean", mean[:, None, None], persistent=False)
        self.head = nn.Sequential(conv(3, width))
        self.body = nn.Sequential(*(Block(width) for _ in range(blocks)), conv(width, width))
        self.tail = nn.Sequential(nn.Sequential(conv(width, 4 * width), nn.PixelShuffle(2)), conv(width, 3))

    def forward(self, image):
        x = self.head(image - self.mean)
        return self.tail(x + self.body(x)) + self.mean
