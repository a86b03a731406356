"""Discriminator of DCGAN (Radford et al. 2015), as in pytorch/benchmark."""
from torch import nn


class Discriminator(nn.Module):
    def __init__(self, maps=64):
        super().__init__()
        widths = [3, maps, 2 * maps, 4 * maps, 8 * maps]
        layers = []
        for stage, (before, after) in enumerate(zip(widths, widths[1:])):
            layers.append(nn.Conv2d(before, after, kernel_size=4, stride=2, padding=1, bias=False))
            if stage > 0:
                layers.append(nn.BatchNorm2d(after))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
        layers += [nn.Conv2d(widths[-1], 1, kernel_size=4, bias=False), nn.Sigmoid()]
        self.main = nn.Sequential(*layers)

    def forward(self, image):
        return self.main(image)
