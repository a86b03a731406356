"""Auto-encoder for ratings (Kuchaiev, Ginsburg 2017), as in pytorch/benchmark's nvidia_deeprecommender."""
import torch
from torch import nn
from torch.nn.functional import linear, selu


class AutoEncoder(nn.Module):
    def __init__(self, widths=(197951, 512, 512, 1024)):
        super().__init__()
        pairs = list(zip(widths, widths[1:]))
        self.encode_w = nn.ParameterList(torch.rand(after, before) for before, after in pairs)
        self.encode_b = nn.ParameterList(torch.zeros(after) for _, after in pairs)
        self.decode_w = nn.ParameterList(torch.rand(before, after) for before, after in reversed(pairs))
        self.decode_b = nn.ParameterList(torch.zeros(before) for before, _ in reversed(pairs))
        self.drop = nn.Dropout(0.8)

    def forward(self, ratings):
        x = ratings
        for weight, bias in zip(self.encode_w, self.encode_b):
            x = selu(linear(x, weight, bias))
        x = self.drop(x)
        for weight, bias in zip(self.decode_w, self.decode_b):
            x = selu(linear(x, weight, bias))
        return x
