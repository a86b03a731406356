"""Deep learning recommendation model (Naumov et al. 2019) with the sizes of pytorch/benchmark's dlrm and the paper's
sigmoid at the end."""
import torch
from torch import nn


def perceptron(widths):
    layers = []
    for before, after in zip(widths, widths[1:]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers)


class Recommender(nn.Module):
    def __init__(self, rows=1_000_000, bottom=(512, 512, 64), top=(1024, 1024, 1024, 1), tables=8):
        super().__init__()
        self.emb_l = nn.ModuleList(nn.EmbeddingBag(rows, bottom[-1], mode="sum") for _ in range(tables))
        self.bot_l = perceptron(bottom)
        self.top_l = perceptron((bottom[-1] + tables * (tables + 1) // 2, *top))
        self.top_l[-1] = nn.Sigmoid()

    def forward(self, dense, begins, entries):
        dense = self.bot_l(dense)
        features = [dense] + [table(bag, begin) for table, bag, begin in zip(self.emb_l, entries, begins)]
        dots = torch.einsum("nic,njc->nij", torch.stack(features, 1), torch.stack(features, 1))
        rows = [dots[:, i, j] for i in range(len(features)) for j in range(i)]
        return self.top_l(torch.cat([dense, torch.stack(rows, 1)], 1))
