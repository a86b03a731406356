"""The network of MAML on Omniglot (Finn et al. 2017), as in pytorch/benchmark."""
from torch import nn


def network(width=64, **norm):
    layers = []
    for before in (1, width, width):
        layers += [nn.Conv2d(before, width, 3), nn.BatchNorm2d(width, affine=True, **norm), nn.ReLU(inplace=True),
                   nn.MaxPool2d(2, 2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(width, 5))
