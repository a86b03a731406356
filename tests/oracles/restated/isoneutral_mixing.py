"""Slopes of surfaces of equal density (Griffies et al. 1998), as in pytorch/benchmark's pyhpc_isoneutral_mixing, which
is taken from Veros. Computes the whole field for each corner at once."""
import torch
from torch import nn
from torch.nn.functional import pad

RHO, STEEP = 1024.0, 50.0
IN, FACES = slice(2, -2), slice(1, -2)


def shifted(x, axis, by):
    """Returns x[i + by] at i along an axis, for by = -1, 0 or 1. Values beyond the end are arbitrary."""
    return x.roll(-by, axis)


def slopes(rho_t, rho_s, sideways, upwards):
    (tx, sx), (tz, sz) = sideways, upwards
    slope = -(rho_t * tx + rho_s * sx) / ((rho_t * tz + rho_s * sz).clamp(max=0) - 1e-20)
    return slope, 0.5 * (1 + torch.tanh((1e-3 - slope.abs()) / 1e-3))


class IsoneutralMixing(nn.Module):
    def forward(self, mask_t, mask_u, mask_v, mask_w, dxt, dxu, dyt, dyu, dzt, dzw, cos_t, cos_u, salinity, temperature,
                height, k_iso, k_11, k_22, k_33, a_east, a_north, a_top_x, a_top_y):
        salinity, temperature = salinity[..., 0], temperature[..., 0]
        x, y = (lambda a: a[:, None, None]), (lambda a: a[None, :, None])
        rho_t = mask_t * -RHO * (1e-5 * (temperature - 9.85) + 1.67e-4 * (1 + 1.1e-8 * 9.81 * RHO * height.abs()))
        rho_s = mask_t * 0.78e-3 * RHO

        def gradients(mask, spacing, axis):
            ends = [0, 0] * (2 - axis) + [0, 1]
            size = mask.shape[axis] - 1
            return [pad(field.diff(dim=axis), ends) * mask / spacing * (torch.arange(size + 1) < size).view(
                [-1 if i == axis else 1 for i in range(3)]) for field in (temperature, salinity)]

        east = gradients(mask_u, x(dxu) * y(cos_t), 0)
        north = gradients(mask_v, y(dyu), 1)
        up = gradients(mask_w, dzw, 2)
        levels = torch.arange(dzw.numel())

        def beside(axis, mask, sideways, diffusivity, out):
            """Computes the eastern or northern faces. The lowest level has no corners below it."""
            at_levels = [k_iso, shifted(k_iso, axis, 1)]
            mean = sum(k + shifted(k, 2, -1) for k in at_levels) / 4
            mean = torch.where(levels > 0, mean, sum(at_levels) / 2)
            total, corners = 0, []
            for kr in range(2):
                exists = levels >= 1 - kr
                for ip in range(2):
                    vertical = [shifted(shifted(g, 2, kr - 1), axis, ip) for g in up]
                    slope, taper = slopes(shifted(rho_t, axis, ip), shifted(rho_s, axis, ip), sideways, vertical)
                    weight = shifted(dzw, 0, kr - 1) * mask * exists
                    total = total + weight * (mean * taper).clamp(min=STEEP)
                    corners.append(torch.where(exists, taper * slope * mask, out[..., ip, kr]))
            place = (FACES, IN) if axis == 0 else (IN, FACES)
            diffusivity, out = diffusivity.clone(), out.clone()
            diffusivity[place] = (total / (4 * dzt))[place]
            out[place] = torch.stack(corners, -1).unflatten(-1, (2, 2)).transpose(-1, -2)[place]
            return diffusivity, out

        def above(axis, lengths, sideways, out):
            """Computes the upper faces of all levels except the highest."""
            total, out = 0, out.clone()
            for kr in range(2):
                for ip in range(2):
                    beside_it = [shifted(shifted(g, 2, kr), axis, ip - 1) for g in sideways]
                    slope, taper = slopes(shifted(rho_t, 2, kr), shifted(rho_s, 2, kr), beside_it, up)
                    total = total + shifted(lengths, axis, ip - 1) * k_iso * taper * slope**2 * mask_w
                    out[IN, IN, :-1, ip, kr] = (taper * slope * mask_w)[IN, IN, :-1]
            return total, out

        k_11, a_east = beside(0, mask_u, east, k_11, a_east)
        k_22, a_north = beside(1, mask_v, north, k_22, a_north)
        sum_x, a_top_x = above(0, x(dxu), east, a_top_x)
        sum_y, a_top_y = above(1, y(cos_u * dyu), north, a_top_y)
        k_33 = k_33.clone()
        k_33[IN, IN] = pad((sum_x / (4 * x(dxt)) + sum_y / (4 * y(dyt * cos_t)))[IN, IN, :-1], (0, 1))
        return k_11, k_22, k_33, a_east, a_north, a_top_x, a_top_y
