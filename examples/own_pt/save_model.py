#!/usr/bin/env python3
"""save_model.py FOLDER: saves a traced model and inputs for it, which Torchstone judges without a line of C++:

    python save_model.py .
    torchstone --torchstone_only=my.pt --torchstone_inputs=inputs.pt
"""
import pathlib
import sys

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.head = torch.nn.Linear(8, 16), torch.nn.Linear(16, 3)

    def forward(self, x):
        return self.head(torch.relu(self.hidden(x))).softmax(-1)


folder = pathlib.Path(sys.argv[1])
torch.manual_seed(0)
inputs = torch.randn(4, 8)
torch.jit.trace(Net().eval(), inputs).save(folder / "my.pt")  # or torch.jit.script(…).save(…)
torch.save([inputs], folder / "inputs.pt")  # the positional arguments of forward, in a list
