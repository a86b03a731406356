#!/usr/bin/env python3
"""save_model.py LIBRARY FOLDER: saves a traced model with the operator of shifted_relu.cpp, and its inputs."""
import pathlib
import sys

import torch

torch.ops.load_library(sys.argv[1])


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)

    def forward(self, x):
        return torch.ops.torchstone_test.shifted_relu(self.linear(x), 0.5)


folder = pathlib.Path(sys.argv[2])
torch.manual_seed(0)
inputs = torch.randn(2, 8)
torch.jit.trace(Net().eval().requires_grad_(False), inputs).save(folder / "library.pt")
torch.save([inputs], folder / "inputs.pt")
