"""Demucs (Défossez et al. 2019) with pytorch/benchmark's wrapper."""
import torch
from torch import nn
from torch.nn import functional


class TwoWayLSTM(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lstm = nn.LSTM(width, width, num_layers=2, bidirectional=True)
        self.linear = nn.Linear(2 * width, width)

    def forward(self, x):
        time_first, _ = self.lstm(x.permute(2, 0, 1))
        return self.linear(time_first).permute(1, 2, 0)


class Waveforms(nn.Module):
    def __init__(self, channels, depth, sources=4, stereo=2):
        super().__init__()
        widths = [stereo] + [channels << i for i in range(depth)]
        self.encoder, self.decoder = nn.ModuleList(), nn.ModuleList()
        for before, width in zip(widths, widths[1:]):
            self.encoder.append(nn.Sequential(nn.Conv1d(before, width, 8, stride=4), nn.ReLU(),
                                              nn.Conv1d(width, 2 * width, 1), nn.GLU(dim=1)))
        for before, width in reversed(list(zip([sources * stereo] + widths[1:], widths[1:]))):
            layers = [nn.Conv1d(width, 2 * width, 3), nn.GLU(dim=1), nn.ConvTranspose1d(width, before, 8, stride=4)]
            last = len(self.decoder) == depth - 1
            self.decoder.append(nn.Sequential(*layers, *([] if last else [nn.ReLU()])))
        self.lstm = TwoWayLSTM(widths[-1])
        self.shape = sources, stereo

    def forward(self, x):
        kept = []
        for encode in self.encoder:
            x = encode(x)
            kept.append(x)
        x = self.lstm(x)
        for decode in self.decoder:
            skip = kept.pop()
            surplus = skip.shape[-1] - x.shape[-1]
            x = decode(x + functional.pad(skip, (-(surplus // 2), surplus // 2 - surplus)))
        return x.unflatten(1, self.shape)


class Demucs(nn.Module):
    def __init__(self, channels=64, depth=6, shift=44100):
        super().__init__()
        self.model = Waveforms(channels, depth)
        self.shift = shift

    def forward(self, streams):
        sources = streams[:, 1:]
        length = sources.shape[-1] - self.shift
        if self.training:
            first = torch.randint(self.shift, [*sources.shape[:2], 1, 1]).expand(-1, -1, sources.shape[2], -1)
            sources = sources.gather(3, first + torch.arange(length))
        else:
            sources = sources[..., :length]
        return sources, self.model(sources.sum(dim=1))
