"""Equation of state of sea water with 48 terms (IOC et al. 2010), as in pytorch/benchmark's pyhpc_equation_of_state.
Computes the derivative of the dynamic enthalpy with respect to temperature, here by forward-mode differentiation."""
import torch
from torch import nn

# The coefficients in each row belong to increasing powers of the temperature.
A0, A0_S, A0_ROOT = ([1.0, 2.775927747785646e-3, -2.349607444135925e-5, 1.119513357486743e-6, 6.743689325042773e-10],
                     [-7.521448093615448e-3, -2.764306979894411e-5, 1.262937315098546e-7, 9.527875081696435e-10,
                      -1.811147201949891e-11],
                     [-3.303308871386421e-5, 3.801564588876298e-7, -7.672876869259043e-9, -4.634182341116144e-11,
                      2.681097235569143e-12])
A0_SS = 5.419326551148740e-6
A1, A1_S = ([-2.742185394906099e-5, -3.212746477974189e-7, 3.191413910561627e-9, -1.931012931541776e-12],
            [-1.105097577149576e-7, 6.211426728363857e-10])
A2, A2_S = [-1.119011592875110e-10, -1.941660213148725e-11, -1.864826425365600e-14], [0, 1.119522344879478e-14]
A3 = [-1.200507748551599e-15, 6.057902487546866e-17]
B0, B0_S, B0_ROOT = ([9.998420897506056e2, 2.839940833161907, -3.147759265588511e-2, 1.181805545074306e-3],
                     [-6.698001071123802, -2.986498947203215e-2, 2.327859407479162e-4],
                     [-3.988822378968490e-2, 5.095422573880500e-4, -1.426984671633621e-5, 1.645039373682922e-7])
B1, B1_S = ([-2.233269627352527e-2, -3.436090079851880e-4, 3.726050720345733e-6],
            [-1.806789763745328e-4, 6.876837219536232e-7])
B2, B2_S = [-3.087032500374211e-7, -1.988366587925593e-8, -1.061519070296458e-11], 1.550932729220080e-10


def enthalpy(s, t, p):
    def poly(row):
        return sum(c * t**i for i, c in enumerate(row))

    root = torch.sqrt(s)
    a0 = poly(A0) + s * (poly(A0_S) + A0_SS * s + root * poly(A0_ROOT))
    a1 = poly(A1) + s * poly(A1_S)
    a2 = poly(A2) + s * poly(A2_S)
    a3 = poly(A3)
    b0 = poly(B0) + s * (poly(B0_S) + root * poly(B0_ROOT))
    b1 = (poly(B1) + s * poly(B1_S)) / 2
    b2 = poly(B2) + s * B2_S
    m = a0 + (2 * a3 * b0 * b1 / b2 - a2 * b0) / b2
    n = a1 + (4 * a3 * b1**2 / b2 - a3 * b0 - 2 * a2 * b1) / b2
    d = torch.sqrt(b1**2 - b0 * b2)
    return 1e4 * (p * (a2 - 2 * a3 * b1 / b2 + a3 * p / 2) / b2
                  + n / (2 * b2) * torch.log(1 + p * (2 * b1 + b2 * p) / b0)
                  + (m * b2 - n * b1) / (2 * b2 * d) * torch.log(1 + 2 * b2 * p * d / ((b1 - d) * (b1 + d + b2 * p))))


class EquationOfState(nn.Module):
    def forward(self, salinity, temperature, pressure):
        _, slope = torch.func.jvp(lambda t: enthalpy(salinity, t, pressure), (temperature,),
                                  (torch.ones_like(temperature),))
        return slope
