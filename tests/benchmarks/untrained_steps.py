#!/usr/bin/env python3
"""untrained_steps.py [--csv FILE]: makes two training steps of untrained networks in eval mode.

Prints for each step the loss, the largest gradient norm, and the median error of the gradients relative to float64.
Does so for each kind of batch-norm statistics (fixtures/checks/subject/model_preparation.h) and each learning rate.
Needs only torch: the networks are restated here as in the zoo. The inputs are two images of 64 × 64 pixels."""
import argparse
import copy
import csv
import sys

import torch
from torch import nn

COLUMNS = ["model", "statistics", "learning rate", "loss 1", "loss 2", "gradient 1", "gradient 2", "error 1", "error 2"]


def norm_after(convolution):
    return [convolution, nn.BatchNorm2d(convolution.out_channels)]


class Residual(nn.Module):
    def __init__(self, body, shortcut, act):
        super().__init__()
        self.body, self.shortcut, self.act = nn.Sequential(*body), nn.Sequential(*shortcut), act

    def forward(self, x):
        return self.act(self.body(x) + self.shortcut(x))


def resnet(depths, bottleneck_base=0):
    expansion = 4 if bottleneck_base else 1
    layers, before = [*norm_after(nn.Conv2d(3, 64, 7, 2, 3, bias=False)), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for stage, depth in enumerate(depths):
        width = 64 << stage
        after, inner = expansion * width, width * bottleneck_base // 64
        for i in range(depth):
            stride = 2 if stage and not i else 1
            shortcut = [] if before == after and stride == 1 else norm_after(nn.Conv2d(before, after, 1, stride, bias=False))
            if bottleneck_base:
                body = [*norm_after(nn.Conv2d(before, inner, 1, bias=False)), nn.ReLU(),
                        *norm_after(nn.Conv2d(inner, inner, 3, stride, 1, bias=False)), nn.ReLU(),
                        *norm_after(nn.Conv2d(inner, after, 1, bias=False))]
            else:
                body = [*norm_after(nn.Conv2d(before, width, 3, stride, 1, bias=False)), nn.ReLU(),
                        *norm_after(nn.Conv2d(width, width, 3, 1, 1, bias=False))]
            layers.append(Residual(body, shortcut, nn.ReLU()))
            before = after
    return classified(layers, nn.Linear(before, 1000))


def mobilenet_v2():
    layers, before = [*norm_after(nn.Conv2d(3, 32, 3, 2, 1, bias=False)), nn.ReLU6()], 32
    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, width, depth, first_stride in stages:
        for i in range(depth):
            stride, inner = 1 if i else first_stride, before * expansion
            body = [] if expansion == 1 else [*norm_after(nn.Conv2d(before, inner, 1, bias=False)), nn.ReLU6()]
            body += [*norm_after(nn.Conv2d(inner, inner, 3, stride, 1, groups=inner, bias=False)), nn.ReLU6(),
                     *norm_after(nn.Conv2d(inner, width, 1, bias=False))]
            layers += body if stride == 2 or before != width else [Residual(body, [], nn.Identity())]
            before = width
    layers += [*norm_after(nn.Conv2d(before, 1280, 1, bias=False)), nn.ReLU6()]
    return classified(layers, narrow(nn.Linear(1280, 1000)))


def repvgg_deployed():
    layers, before = [nn.Conv2d(3, 64, 3, 2, 1), nn.ReLU()], 64
    for depth, width in [(2, 96), (4, 192), (14, 384), (1, 1408)]:
        for i in range(depth):
            layers += [nn.Conv2d(before, width, 3, 1 if i else 2, 1), nn.ReLU()]
            before = width
    return classified(layers, narrow(nn.Linear(before, 1000)))


def narrow(linear):
    nn.init.normal_(linear.weight, 0, 0.01)
    nn.init.zeros_(linear.bias)
    return linear


def classified(layers, linear):
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), linear)
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    return model


def fill_statistics(model, images, statistics):
    """Does the same as fill_batch_statistics() in model_preparation.cpp."""
    norms = [layer for layer in model.modules() if isinstance(layer, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = 1.0
        norm.train()
    with torch.no_grad():
        model(images)
    for norm in norms:
        norm.eval()
        if statistics == "layer":
            norm.running_var.fill_((norm.running_var + norm.running_mean.square()).mean().item())
            norm.running_mean.zero_()
        else:
            norm.running_var.copy_(torch.lerp(norm.running_var, norm.running_var.mean(), 0.1))
            norm.running_var.masked_fill_(norm.running_var == 0, 1)


def two_steps(model, images, rate):
    """Returns the loss and gradients of each step. The loss is the mean of the output, as in upstream's harness."""
    optimizer, steps = torch.optim.Adam(model.parameters(), lr=rate), []
    for _ in range(2):
        optimizer.zero_grad()
        loss = model(images).mean()
        loss.backward()
        steps.append((loss.item(), [p.grad.clone() for p in model.parameters()]))
        optimizer.step()
    return steps


def measure(make, statistics, rate):
    torch.manual_seed(1)
    model = make().eval()
    torch.manual_seed(2)
    images = torch.randn(2, 3, 64, 64)
    if statistics in ("channels", "layer"):
        fill_statistics(model, images, statistics)
    steps = two_steps(copy.deepcopy(model), images, rate)
    exact = two_steps(copy.deepcopy(model).double(), images.double(), rate)
    norms = [max(g.double().norm().item() for g in gradients) for _, gradients in steps]
    errors = [torch.stack([(g.double() - e).norm() / e.norm() for g, e in zip(gradients, reference)]).median().item()
              for (_, gradients), (_, reference) in zip(steps, exact)]
    return [f"{number:.2g}" for number in [loss for loss, _ in steps] + norms + errors]


MODELS = {
    "resnet34": lambda: resnet([3, 4, 6, 3]),
    "wide_resnet50_2": lambda: resnet([3, 4, 6, 3], 128),
    "resnet152": lambda: resnet([3, 8, 36, 3], 64),
    "mobilenet_v2": mobilenet_v2,
    "repvgg_a2_deployed": repvgg_deployed,
}
ROWS = [(model, statistics, rate) for model in list(MODELS)[:3]
        for rate in (0.01, 1e-4) for statistics in ("initial", "channels", "layer")]
ROWS += [("mobilenet_v2", "initial", 0.01), ("mobilenet_v2", "layer", 0.01)]
ROWS += [("repvgg_a2_deployed", "none", rate) for rate in (0.01, 1e-3)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--csv", help="file to write (default: standard output)")
    file = parser.parse_args().csv
    with open(file, "w", newline="", encoding="utf-8") if file else sys.stdout as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for model, statistics, rate in ROWS:
            writer.writerow([model, statistics, f"{rate:g}", *measure(MODELS[model], statistics, rate)])
            out.flush()


if __name__ == "__main__":
    main()
