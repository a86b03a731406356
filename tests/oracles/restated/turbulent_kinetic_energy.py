"""A time step of turbulent kinetic energy (Gaspar et al. 1990), as in pytorch/benchmark's
pyhpc_turbulent_kinetic_energy, which is taken from Veros. This version does not write to slices of fields."""
import torch
from torch import nn
from torch.nn.functional import pad

C_EPS, K_H, AB = 0.7, 2000.0, 0.1
IN = slice(2, -2)


def thomas(a, b, c, d):
    """Solves a[i] x[i-1] + b[i] x[i] + c[i] x[i+1] = d[i] along the last dimension."""
    a, b, c, d = (list(x.unbind(-1)) for x in (a, b, c, d))
    for i in range(1, len(a)):
        factor = a[i] / b[i - 1]
        b[i] = b[i] - factor * c[i - 1]
        d[i] = d[i] - factor * d[i - 1]
    x = [d[-1] / b[-1]]
    for i in reversed(range(len(a) - 1)):
        x.insert(0, (d[i] - c[i] * x[0]) / b[i])
    return torch.stack(x, -1)


def superbee(vel, factor, dx, var, mask, axis):
    def part(x, begin, end):
        return x.narrow(axis, begin, x.shape[axis] - begin - end)

    r_plus = (part(var, 3, 0) - part(var, 2, 1)) * part(mask, 2, 1)
    r = (part(var, 2, 1) - part(var, 1, 2)) * part(mask, 1, 2)
    r_minus = (part(var, 1, 2) - part(var, 0, 3)) * part(mask, 0, 3)
    v = part(vel, 1, 2)
    speed = factor * v
    cr = torch.where(v > 0, r_minus, r_plus) / torch.where(r.abs() < 1e-20, torch.full_like(r, 1e-20), r)
    cr = torch.stack([torch.zeros_like(cr), (2 * cr).clamp(max=1), cr.clamp(max=2)]).amax(0)
    return speed * (part(var, 2, 1) + part(var, 1, 2)) / 2 - speed.abs() * (1 - cr + (speed / dx).abs() * cr) * r / 2


class TurbulentKineticEnergy(nn.Module):
    def forward(self, u, v, w, mask_u, mask_v, mask_w, dxt, dxu, dyt, dyu, dzt, dzw, cos_t, cos_u, bottom, kappa, length,
                forcing, surface, tke, dtke):
        now, following, before = tke.unbind(3)
        levels = dzw.numel()
        thickness = torch.cat([dzw[:-1], dzw[-1:] / 2])

        # Vertical mixing, dissipation and forcing.
        ks = (bottom[IN, IN] - 1)[..., None]
        level = torch.arange(levels)
        water = (ks >= 0) & (level >= ks)
        edge = (ks >= 0) & (level == ks)
        kappa = kappa[IN, IN]
        delta = pad((kappa[..., :-1] + kappa[..., 1:]) / 2 / dzt[1:], (0, 1))
        from_above = pad(delta[..., :-1], (1, 0))
        loss = C_EPS * now.clamp(min=0).sqrt()[IN, IN] / length[IN, IN]
        below = -from_above / thickness
        middle = 1 + (delta + from_above) / thickness + loss
        middle[..., 0] = 0
        upper = -delta / dzw
        right = (now + forcing)[IN, IN].clone()
        right[..., -1] += surface[IN, IN] / thickness[-1]
        zero, one = torch.zeros_like(delta), torch.ones_like(delta)
        solution = thomas(torch.where(water & ~edge, below, zero),
                          torch.where(edge, 1 + delta / dzw + loss, torch.where(water, middle, one)),
                          torch.where(water, upper, zero), torch.where(water, right, zero))
        inner = torch.where(water, solution, following[IN, IN])
        top = inner[..., -1]
        correction = pad(torch.where(top < 0, -top * thickness[-1], torch.zeros_like(top)), (2, 2, 2, 2))
        inner = torch.cat([inner[..., :-1], top.clamp(min=0)[..., None]], -1)

        # Lateral diffusion.
        x, y = (lambda a: a[:, None, None]), (lambda a: a[None, :, None])

        def divergence(east, north):
            """Returns the divergence of the fluxes through the faces 1 to -2 of the inner rows and columns."""
            return mask_w[IN, IN] * (east.diff(dim=0) / (y(cos_t[IN]) * x(dxt[IN]))
                                     + north.diff(dim=1) / y(cos_t[IN] * dyt[IN]))

        east = K_H * now.diff(dim=0) / (y(cos_t) * x(dxu[:-1])) * mask_u[:-1]
        north = K_H * now.diff(dim=1) / y(dyu[:-1]) * mask_v[:, :-1] * y(cos_u[:-1])
        inner = inner + divergence(east[1:-1, IN], north[IN, 1:-1])

        # Advection.
        faces = [pad(mask_w[1:] * mask_w[:-1], (0, 0, 0, 0, 0, 1)),
                 pad(mask_w[:, 1:] * mask_w[:, :-1], (0, 0, 0, 1)), pad(mask_w[..., 1:] * mask_w[..., :-1], (0, 1))]
        u, v, w = (field[..., 0] for field in (u, v, w))
        east = superbee(u[:, IN], 1, y(cos_t[IN]) * x(dxt[1:-2]), now[:, IN], faces[0][:, IN], 0)
        north = superbee(v[IN], y(cos_u[1:-2]), y((cos_t * dyt)[1:-2]), now[IN], faces[1][IN], 1)
        up = superbee(pad(w[IN, IN], (1, 1)), 1, dzw[:-1], pad(now[IN, IN], (1, 1)), pad(faces[2][IN, IN], (1, 1)), 2)
        tendency = dtke[..., 0].clone()
        tendency[IN, IN] = -divergence(east, north) - pad(up, (1, 1)).diff(dim=2) / thickness
        following = following.clone()
        following[IN, IN] = inner
        following = following + (1.5 + AB) * tendency - (0.5 + AB) * dtke[..., 2]
        return (torch.stack([now, following, before], 3), torch.stack([tendency, dtke[..., 1], dtke[..., 2]], 3), correction)
