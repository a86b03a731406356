import torch

from .config import DRQConfig


class Actor(torch.nn.Module):
    def __init__(self, observations, actions, hidden_dim, hidden_depth, log_std_bounds):
        super().__init__()
        assert hidden_dim == DRQConfig.hidden_dim
        self.trunk = torch.nn.Linear(observations[0][0], actions[0])

    def forward(self, observations):
        return torch.distributions.Normal(self.trunk(observations.mean((2, 3))), 1.0)
