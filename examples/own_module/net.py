# torchstone --torchstone_only=path:net.py,class:Net
import torch


class Net(torch.nn.Sequential):
    def __init__(self):
        super().__init__(torch.nn.Linear(16, 64), torch.nn.GELU(), torch.nn.Linear(64, 4))

    def get_example_inputs(self):
        return (torch.randn(8, 16),)
