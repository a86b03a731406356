"""Speaker encoder of mozilla/TTS (Wan et al. 2017), as in pytorch/benchmark."""
from torch import nn
from torch.nn.functional import normalize


class ProjectedLSTM(nn.Module):
    """LSTM with a linear projection after it. torch's proj_size is different, because it feeds the projection back."""

    def __init__(self, inputs, width, projection):
        super().__init__()
        self.lstm = nn.LSTM(inputs, width, batch_first=True)
        self.linear = nn.Linear(width, projection, bias=False)

    def forward(self, frames):
        return self.linear(self.lstm(frames)[0])


class SpeakerEncoder(nn.Module):
    def __init__(self, mels=40, width=768, projection=256, depth=3):
        super().__init__()
        inputs = [mels] + [projection] * (depth - 1)
        self.layers = nn.Sequential(*(ProjectedLSTM(n, width, projection) for n in inputs))

    def forward(self, frames):
        return normalize(self.layers(frames)[:, -1], p=2, dim=1)
