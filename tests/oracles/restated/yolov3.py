"""YOLOv3 with spatial pyramid pooling (Redmon, Farhadi 2018), the Darknet of pytorch/benchmark: yolov3-spp.cfg as rows."""
import math

import torch
from torch import nn

ANCHORS = ((10, 13), (16, 30), (33, 23), (30, 61), (62, 45), (59, 119), (116, 90), (156, 198), (373, 326))


def rows_of(depths, width):
    """Returns the sections of the configuration: (kind, values…). Negative sources are relative to the row itself."""
    rows, last_of_stage = [("conv", width, 3, 1)], []
    for stage, depth in enumerate(depths):
        channels = 2 * width << stage
        rows.append(("conv", channels, 3, 2))
        for _ in range(depth):
            rows += [("conv", channels // 2, 1, 1), ("conv", channels, 3, 1), ("shortcut", -3)]
        last_of_stage.append(len(rows) - 1)

    def alternate(channels, count):
        return [("conv", channels if i % 2 == 0 else 2 * channels, 1 if i % 2 == 0 else 3, 1) for i in range(count)]

    deep = 16 * width
    rows += alternate(deep, 3)
    rows += [("pool", 5), ("route", -2), ("pool", 9), ("route", -4), ("pool", 13), ("route", -1, -3, -5, -6)]
    rows += alternate(deep, 4) + [("predict",), ("yolo", 2)]
    for level in (1, 0):
        channels = 4 * width << level
        rows += [("route", -4), ("conv", channels, 1, 1), ("upsample",), ("route", -1, last_of_stage[2 + level])]
        rows += alternate(channels, 6) + [("predict",), ("yolo", level)]
    return rows


class Route(nn.Module):
    def __init__(self, sources):
        super().__init__()
        self.sources = sources

    def forward(self, x, kept):
        maps = [kept[source] for source in self.sources]
        return torch.cat(maps, 1) if len(maps) > 1 else maps[0]


class Shortcut(Route):
    def forward(self, x, kept):
        return x + kept[self.sources[0]]


class Boxes(nn.Module):
    """Decodes boxes from the map of one scale: offsets from the cell, sizes as multiples of the anchors,
    probabilities."""

    def __init__(self, level, classes):
        super().__init__()
        self.stride = 8 << level
        anchors = torch.tensor(ANCHORS[3 * level:3 * level + 3], dtype=torch.float32)
        self.values = classes + 5
        self.anchors = (anchors / self.stride).view(1, 3, 1, 1, 2)

    def forward(self, x):
        batch, _, height, width = x.shape
        raw = x.view(batch, 3, self.values, height, width).permute(0, 1, 3, 4, 2).contiguous()
        if self.training:
            return raw
        rows, columns = torch.meshgrid([torch.arange(height), torch.arange(width)], indexing="ij")
        cells = torch.stack((columns, rows), 2).view(1, 1, height, width, 2).float()
        boxes = raw.clone()
        boxes[..., :2] = torch.sigmoid(boxes[..., :2]) + cells
        boxes[..., 2:4] = torch.exp(boxes[..., 2:4]) * self.anchors
        boxes[..., :4] *= self.stride
        torch.sigmoid_(boxes[..., 4:])
        return boxes.view(batch, -1, self.values), raw


class Darknet(nn.Module):
    def __init__(self, depths=(1, 2, 8, 8, 4), width=32, classes=80):
        super().__init__()
        self.module_list = nn.ModuleList()
        channels, kept = [], set()
        for i, (kind, *values) in enumerate(rows_of(depths, width)):
            before = channels[-1] if channels else 3
            sources = [i + value if value < 0 else value for value in values] if kind in ("route", "shortcut") else []
            kept.update(sources)
            out = before
            if kind in ("conv", "predict"):
                out, size, stride = values or (3 * (classes + 5), 1, 1)
                module = nn.Sequential()
                module.add_module("Conv2d", nn.Conv2d(before, out, size, stride, size // 2, bias=kind == "predict"))
                if kind == "conv":
                    module.add_module("BatchNorm2d", nn.BatchNorm2d(out, momentum=0.03, eps=1e-4))
                    module.add_module("activation", nn.LeakyReLU(0.1, inplace=True))
            elif kind == "pool":
                module = nn.MaxPool2d(values[0], 1, (values[0] - 1) // 2)
            elif kind == "upsample":
                module = nn.Upsample(scale_factor=2)
            elif kind == "route":
                module, out = Route(sources), sum(channels[source] for source in sources)
            elif kind == "shortcut":
                module = Shortcut(sources)
            else:
                module = Boxes(values[0], classes)
                bias = self.module_list[-1].Conv2d.bias.data.view(3, -1)
                bias[:, 4] -= 4.5
                bias[:, 5:] += math.log(0.6 / (classes - 0.99))
            self.module_list.append(module)
            channels.append(out)
        self.kept = kept

    def forward(self, x):
        kept, found = {}, []
        for i, module in enumerate(self.module_list):
            if isinstance(module, Boxes):
                found.append(module(x))
            else:
                x = module(x, kept) if isinstance(module, Route) else module(x)
            if i in self.kept:
                kept[i] = x
        if self.training:
            return found
        boxes, raw = zip(*found)
        return torch.cat(boxes, 1), raw
