"""LLaMA as in pytorch/benchmark: it starts at position 1, has no mask, and writes in place to a cache of fixed size.

The caches are buffers outside the state_dict here, and plain attributes in pytorch/benchmark. Keys and values reach the
scores through the cache, which is written without gradients. Their weights therefore have requires_grad=False here.
"""
import torch
from torch import nn
from torch.nn import functional as F

START = 1  # the position of the first word


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).type_as(x) * self.weight


def rotated(x, turns):
    """Applies rotary embeddings: neighbouring elements form a complex number, which is rotated according to its
    position."""
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turns[None, :, None]).flatten(3).type_as(x)


class Attention(nn.Module):
    def __init__(self, width, heads, longest_batch, longest):
        super().__init__()
        self.heads = heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(width, width, bias=False) for _ in range(4))
        for layer in (self.wk, self.wv):
            layer.weight.requires_grad_(False)
        for name in ("cache_k", "cache_v"):
            self.register_buffer(name, torch.zeros(longest_batch, longest, heads, width // heads), persistent=False)

    def forward(self, x, turns):
        batch, length, width = x.shape
        end = START + length
        query, key, value = (layer(x).view(batch, length, self.heads, -1) for layer in (self.wq, self.wk, self.wv))
        query, key = rotated(query, turns), rotated(key, turns)
        with torch.no_grad():
            self.cache_k[:batch, START:end] = key
            self.cache_v[:batch, START:end] = value
        keys, values = self.cache_k[:batch, :end].transpose(1, 2), self.cache_v[:batch, :end].transpose(1, 2)
        scores = query.transpose(1, 2) @ keys.transpose(2, 3) / (width // self.heads) ** 0.5
        shares = F.softmax(scores.float(), dim=-1).type_as(query)
        return self.wo((shares @ values).transpose(1, 2).reshape(batch, length, width))


class FeedForward(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.w1, self.w2 = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False)
        self.w3 = nn.Linear(width, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Layer(nn.Module):
    def __init__(self, width, heads, hidden, longest_batch, longest):
        super().__init__()
        self.attention, self.attention_norm = Attention(width, heads, longest_batch, longest), RmsNorm(width)
        self.feed_forward, self.ffn_norm = FeedForward(width, hidden), RmsNorm(width)

    def forward(self, x, turns):
        x = x + self.attention(self.attention_norm(x), turns)
        return x + self.feed_forward(self.ffn_norm(x))


class Llama(nn.Module):
    def __init__(self, width=512, layers=8, heads=8, hidden=1536, words=32, longest_batch=32, longest=1024):
        super().__init__()
        self.tok_embeddings = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Layer(width, heads, hidden, longest_batch, longest) for _ in range(layers))
        self.norm, self.output = RmsNorm(width), nn.Linear(width, words, bias=False)
        head = width // heads
        angles = torch.outer(torch.arange(2 * longest), 1 / 10000 ** (torch.arange(0, head, 2).float() / head))
        self.turns = torch.polar(torch.ones_like(angles), angles)

    def forward(self, ids):
        x = self.tok_embeddings(ids)
        turns = self.turns[START:START + ids.shape[1]]
        for layer in self.layers:
            x = layer(x, turns)
        return self.output(self.norm(x)[:, -1]).float()
