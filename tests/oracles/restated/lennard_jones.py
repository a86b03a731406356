"""Tanh network of pytorch/benchmark's lennard_jones: a bare Sequential, so its names are numbers."""
from torch import nn


def network(width=16, hidden=4):
    layers = [nn.Linear(1, width), nn.Tanh()]
    for _ in range(hidden - 1):
        layers += [nn.Linear(width, width), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(width, 1))
