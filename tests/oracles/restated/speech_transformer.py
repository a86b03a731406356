"""Speech-Transformer (Dong et al. 2018) of kaituoxu/Speech-Transformer, as in pytorch/benchmark."""
import math

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

IGNORED = -1


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.w_qs, self.w_ks, self.w_vs = (nn.Linear(width, width) for _ in range(3))
        self.fc, self.layer_norm, self.heads = nn.Linear(width, width), nn.LayerNorm(width), heads
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, source, hidden):
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for y in (self.w_qs(x), self.w_ks(source), self.w_vs(source)))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        weights = self.dropout(scores.masked_fill(hidden[:, None], float("-inf")).softmax(-1))
        return self.layer_norm(x + self.dropout(self.fc((weights @ v).transpose(1, 2).flatten(2))))


class FeedForward(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.w_1, self.w_2, self.layer_norm = nn.Linear(width, hidden), nn.Linear(hidden, width), nn.LayerNorm(width)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.layer_norm(x + self.dropout(self.w_2(self.w_1(x).relu())))


class Layer(nn.Module):
    def __init__(self, width, heads, hidden, decodes):
        super().__init__()
        self.slf_attn = Attention(width, heads)
        if decodes:
            self.enc_attn = Attention(width, heads)
        self.pos_ffn = FeedForward(width, hidden)

    def forward(self, x, kept, hidden, source=None, hidden_source=None):
        x = self.slf_attn(x, x, hidden) * kept
        if source is not None:
            x = self.enc_attn(x, source, hidden_source) * kept
        return self.pos_ffn(x) * kept


class Places(nn.Module):
    def __init__(self, width, longest=5000):
        super().__init__()
        angles = torch.arange(longest).float()[:, None] * torch.exp(torch.arange(0, width, 2).float()
                                                                    * -(math.log(10000.0) / width))
        self.register_buffer("pe", torch.stack([angles.sin(), angles.cos()], -1).reshape(1, longest, width))

    def forward(self, x):
        return self.pe[:, :x.shape[1]]


class Encoder(nn.Module):
    def __init__(self, features, width, heads, hidden, layers):
        super().__init__()
        self.linear_in, self.layer_norm_in = nn.Linear(features, width), nn.LayerNorm(width)
        self.positional_encoding, self.dropout = Places(width), nn.Dropout(0.1)
        self.layer_stack = nn.ModuleList(Layer(width, heads, hidden, False) for _ in range(layers))

    def forward(self, frames, is_frame):
        x = self.dropout(self.layer_norm_in(self.linear_in(frames)) + self.positional_encoding(frames))
        for layer in self.layer_stack:
            x = layer(x, is_frame[..., None].float(), ~is_frame[:, None])
        return x


class Decoder(nn.Module):
    def __init__(self, vocabulary, width, heads, hidden, layers):
        super().__init__()
        self.start, self.end, self.scale = vocabulary - 2, vocabulary - 1, math.sqrt(width)
        self.tgt_word_emb = nn.Embedding(vocabulary, width)
        self.positional_encoding, self.dropout = Places(width), nn.Dropout(0.1)
        self.layer_stack = nn.ModuleList(Layer(width, heads, hidden, True) for _ in range(layers))
        self.tgt_word_prj = nn.Linear(width, vocabulary, bias=False)
        self.tgt_word_prj.weight = self.tgt_word_emb.weight

    def forward(self, words, encoded, is_frame):
        rows = [row[row != IGNORED] for row in words]
        mark = lambda number: words.new_tensor([number])
        given = pad_sequence([torch.cat([mark(self.start), row]) for row in rows], True, self.end)
        wanted = pad_sequence([torch.cat([row, mark(self.end)]) for row in rows], True, IGNORED)
        kept = given != self.end
        count = given.shape[1]
        hidden = ~kept[:, None] | torch.ones(count, count, dtype=torch.bool).triu(1)
        x = self.dropout(self.tgt_word_emb(given) * self.scale + self.positional_encoding(given))
        for layer in self.layer_stack:
            x = layer(x, kept[..., None].float(), hidden, encoded, ~is_frame[:, None])
        return self.tgt_word_prj(x), wanted


class SpeechTransformer(nn.Module):
    def __init__(self, features=320, vocabulary=4233, width=512, heads=8, hidden=2048, layers=6):
        super().__init__()
        self.encoder = Encoder(features, width, heads, hidden, layers)
        self.decoder = Decoder(vocabulary, width, heads, hidden, layers)

    def forward(self, frames, lengths, words):
        is_frame = torch.arange(frames.shape[1]) < lengths[:, None]
        return self.decoder(words, self.encoder(frames, is_frame), is_frame)
