"""NMS and RoIAlign as in torchvision's CPU kernels (torchvision/csrc/ops/cpu), for a torchvision without its
library."""
import torch


def nms(boxes, scores, threshold):
    order = scores.sort(stable=True, descending=True).indices
    x1, y1, x2, y2 = boxes.detach()[order].unbind(1)
    areas = (x2 - x1) * (y2 - y1)
    dropped = torch.zeros_like(order, dtype=torch.bool)
    kept = []
    for i in range(len(order)):
        if dropped[i]:
            continue
        kept.append(i)
        width = (torch.minimum(x2[i], x2[i + 1:]) - torch.maximum(x1[i], x1[i + 1:])).clamp(min=0)
        height = (torch.minimum(y2[i], y2[i + 1:]) - torch.maximum(y1[i], y1[i + 1:])).clamp(min=0)
        common = width * height
        dropped[i + 1:] |= common / (areas[i] + areas[i + 1:] - common) > threshold
    return order[torch.tensor(kept, dtype=torch.int64)]


def corners(places, cells):
    """Returns the two cells around each position on one axis, and their weights, which are 0 outside the map."""
    inside = (places >= -1) & (places <= cells)
    clamped = places.clamp(0, cells - 1)
    low = clamped.floor().long()
    high = (low + 1).clamp(max=cells - 1)
    rest = clamped - low
    return ((low, (1 - rest) * inside), (high, rest * inside))


def roi_align(features, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    rows, columns = (output_size, output_size) if isinstance(output_size, int) else output_size
    assert not aligned
    pooled = []
    for box in boxes:
        x1, y1, x2, y2 = (box[1:] * spatial_scale).unbind()
        width, height = (x2 - x1).clamp(min=1) / columns, (y2 - y1).clamp(min=1) / rows
        across = sampling_ratio if sampling_ratio > 0 else int(width.ceil())
        down = sampling_ratio if sampling_ratio > 0 else int(height.ceil())
        x = x1 + (torch.arange(columns)[:, None] + (torch.arange(across) + 0.5) / across) * width
        y = y1 + (torch.arange(rows)[:, None] + (torch.arange(down) + 0.5) / down) * height
        image = features[int(box[0])]
        total = 0
        for row, row_weight in corners(y.flatten(), image.shape[1]):
            for column, column_weight in corners(x.flatten(), image.shape[2]):
                total = total + image[:, row][:, :, column] * (row_weight[:, None] * column_weight).to(image.dtype)
        pooled.append(total.view(-1, rows, down, columns, across).mean((2, 4)))
    return torch.stack(pooled) if pooled else features.new_empty((0, features.shape[1], rows, columns))
