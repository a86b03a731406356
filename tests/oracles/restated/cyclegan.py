"""Generator of CycleGAN (Zhu et al. 2017) with instance normalisation, as in pytorch/benchmark."""
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        half = lambda: [nn.ReflectionPad2d(1), nn.Conv2d(width, width, 3), nn.InstanceNorm2d(width)]
        self.conv_block = nn.Sequential(*half(), nn.ReLU(), *half())

    def forward(self, x):
        return x + self.conv_block(x)


class Generator(nn.Module):
    def __init__(self, maps=64, blocks=9):
        super().__init__()
        finish = lambda width: [nn.InstanceNorm2d(width), nn.ReLU()]
        layers = [nn.ReflectionPad2d(3), nn.Conv2d(3, maps, 7), *finish(maps)]
        for width in (maps, 2 * maps):
            layers += [nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), *finish(2 * width)]
        layers += [Residual(4 * maps) for _ in range(blocks)]
        for width in (4 * maps, 2 * maps):
            layers += [nn.ConvTranspose2d(width, width // 2, 3, stride=2, padding=1, output_padding=1), *finish(width // 2)]
        self.model = nn.Sequential(*layers, nn.ReflectionPad2d(3), nn.Conv2d(maps, 3, 7), nn.Tanh())

    def forward(self, image):
        return self.model(image)
