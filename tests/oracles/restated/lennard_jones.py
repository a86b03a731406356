"""Tanh network of pytorch/benchmark's lennard_jones. It is a plain Sequential, so the names of its tensors are
numbers."""
from torch import nn


def network(width=16, hidden=4):
    layers = [nn.Linear(1, width), nn.Tanh()]
    for _ in range(hidden - 1):
        layers += [nn.Linear(width, width), nn.Tanh()]
    return nn.Sequential(*layers, nn.Linear(width, 1))
