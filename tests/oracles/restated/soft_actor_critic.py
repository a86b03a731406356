"""Stochastic actor of soft actor-critic (Haarnoja et al. 2018), as in pytorch/benchmark."""
import torch
from torch import nn


class StochasticActor(nn.Module):
    def __init__(self, state=3, action=1, width=1024, log_std=(-10.0, 2.0)):
        super().__init__()
        self.fc1 = nn.Linear(state, width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, 2 * action)
        self.low, self.high = log_std

    def forward(self, state):
        hidden = torch.relu(self.fc2(torch.relu(self.fc1(state))))
        mean, raw = self.fc3(hidden).chunk(2, dim=1)
        share = (torch.tanh(raw) + 1) / 2
        return mean, torch.exp(self.low + (self.high - self.low) * share)
