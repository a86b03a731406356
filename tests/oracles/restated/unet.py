"""U-Net (Ronneberger et al. 2015) in the bilinear variant of milesial/Pytorch-UNet, as in pytorch/benchmark."""
import torch
from torch import nn
from torch.nn.functional import pad


class TwoConvs(nn.Module):
    def __init__(self, inputs, outputs, middle=None):
        super().__init__()
        layers = []
        for before, after in ((inputs, middle or outputs), (middle or outputs, outputs)):
            layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(inplace=True)]
        self.double_conv = nn.Sequential(*layers)

    def forward(self, x):
        return self.double_conv(x)


class Contract(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), TwoConvs(inputs, outputs))

    def forward(self, x):
        return self.maxpool_conv(x)


class Expand(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.conv = TwoConvs(inputs, outputs, inputs // 2)

    def forward(self, x, skip):
        x = self.up(x)
        missing_rows, missing_columns = skip.shape[2] - x.shape[2], skip.shape[3] - x.shape[3]
        left, top = missing_columns // 2, missing_rows // 2
        x = pad(x, [left, missing_columns - left, top, missing_rows - top])
        return self.conv(torch.cat([skip, x], dim=1))


class Head(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x):
        return self.conv(x)


class UNet(nn.Module):
    def __init__(self, width=64, classes=2):
        super().__init__()
        w = width
        self.inc = TwoConvs(3, w)
        self.down1, self.down2 = Contract(w, 2 * w), Contract(2 * w, 4 * w)
        self.down3, self.down4 = Contract(4 * w, 8 * w), Contract(8 * w, 8 * w)
        self.up1, self.up2 = Expand(16 * w, 4 * w), Expand(8 * w, 2 * w)
        self.up3, self.up4 = Expand(4 * w, w), Expand(2 * w, w)
        self.outc = Head(w, classes)

    def forward(self, image):
        a = self.inc(image)
        b = self.down1(a)
        c = self.down2(b)
        d = self.down3(c)
        x = self.up1(self.down4(d), d)
        return self.outc(self.up4(self.up3(self.up2(x, c), b), a))
