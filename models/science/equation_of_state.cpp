// Equation of state of sea water: how dynamic enthalpy changes with temperature, a long chain of pointwise operations.
// Paper: IOC, SCOR and IAPSO, "The international thermodynamic equation of seawater", 2010 (density in 48 terms).
// Original: pytorch/benchmark pyhpc_equation_of_state (from Häfner's pyhpc-benchmarks). Input, float64: salinity in
// g/kg and temperature in degrees Celsius [S, S, D], pressure in dbar [1, 1, D] → [S, S, D], with S = ⌈2 ∛N⌉ and
// D = ⌈∛N / 4⌉ of the batch size N (1,048,576: [204, 204, 26]); no parameters. Upstream writes the derivative
// out. Here it is computed with dual numbers. mini is full.
#include "models/blocks/ocean.h"

namespace torchstone::equation_of_state {
namespace {

/// A value and its derivative with respect to temperature.
struct Dual {
  torch::Tensor value, slope;
};
Dual operator+(const Dual& a, const Dual& b) { return {a.value + b.value, a.slope + b.slope}; }
Dual operator-(const Dual& a, const Dual& b) { return {a.value - b.value, a.slope - b.slope}; }
Dual operator*(const Dual& a, const Dual& b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
Dual operator/(const Dual& a, const Dual& b) {
  const auto ratio = a.value / b.value;
  return {ratio, (a.slope - ratio * b.slope) / b.value};
}
/// Multiplies by a `factor` that does not depend on temperature.
template <class Number>
Dual operator*(const Number& factor, const Dual& a) {
  return {a.value * factor, a.slope * factor};
}
Dual log1p(const Dual& a) { return {torch::log(1 + a.value), a.slope / (1 + a.value)}; }
Dual sqrt(const Dual& a) {
  const auto root = torch::sqrt(a.value);
  return {root, 0.5 * a.slope / root};
}

/// Returns the sum of coefficient i times temperature to the power of i.
Dual polynomial(const torch::Tensor& t, const std::vector<double>& coefficients) {
  Dual sum{torch::full_like(t, coefficients.back()), torch::zeros_like(t)};
  for (size_t i = coefficients.size() - 1; i-- > 0;) {
    sum.slope = sum.slope * t + sum.value;
    sum.value = sum.value * t + coefficients[i];
  }
  return sum;
}

/// Returns the dynamic enthalpy in J/kg: the integral of the specific volume (a0 + a1 p + a2 p^2 + a3 p^3) / (b0 + 2 b1
/// p + b2 p^2).
Dual enthalpy(const torch::Tensor& salinity, const torch::Tensor& t, const torch::Tensor& p) {
  const auto root = torch::sqrt(salinity);
  const auto a0 =
      polynomial(t, {1.0, 2.775927747785646e-3, -2.349607444135925e-5, 1.119513357486743e-6, 6.743689325042773e-10}) +
      salinity * (polynomial(t, {-7.521448093615448e-3, -2.764306979894411e-5, 1.262937315098546e-7,
                                 9.527875081696435e-10, -1.811147201949891e-11}) +
                  salinity * polynomial(t, {5.419326551148740e-6}) +
                  root * polynomial(t, {-3.303308871386421e-5, 3.801564588876298e-7, -7.672876869259043e-9,
                                        -4.634182341116144e-11, 2.681097235569143e-12}));
  const auto a1 =
      polynomial(t, {-2.742185394906099e-5, -3.212746477974189e-7, 3.191413910561627e-9, -1.931012931541776e-12}) +
      salinity * polynomial(t, {-1.105097577149576e-7, 6.211426728363857e-10});
  const auto a2 = polynomial(t, {-1.119011592875110e-10, -1.941660213148725e-11, -1.864826425365600e-14}) +
                  salinity * polynomial(t, {0, 1.119522344879478e-14});
  const auto a3 = polynomial(t, {-1.200507748551599e-15, 6.057902487546866e-17});
  const auto b0 = polynomial(t, {9.998420897506056e2, 2.839940833161907, -3.147759265588511e-2, 1.181805545074306e-3}) +
                  salinity * (polynomial(t, {-6.698001071123802, -2.986498947203215e-2, 2.327859407479162e-4}) +
                              root * polynomial(t, {-3.988822378968490e-2, 5.095422573880500e-4, -1.426984671633621e-5,
                                                    1.645039373682922e-7}));
  const auto b1 = 0.5 * (polynomial(t, {-2.233269627352527e-2, -3.436090079851880e-4, 3.726050720345733e-6}) +
                         salinity * polynomial(t, {-1.806789763745328e-4, 6.876837219536232e-7}));
  const auto b2 = polynomial(t, {-3.087032500374211e-7, -1.988366587925593e-8, -1.061519070296458e-11}) +
                  salinity * polynomial(t, {1.550932729220080e-10});

  const auto share = a3 / b2;
  const auto m = a0 + b0 * (2.0 * share * b1 - a2) / b2;
  const auto n = a1 + (4.0 * share * b1 * b1 - a3 * b0 - 2.0 * a2 * b1) / b2;
  const auto half_width = sqrt(b1 * b1 - b0 * b2);
  const auto low = b1 - half_width, high = b1 + half_width;
  const auto linear = (p * (a2 - 2.0 * share * b1 + 0.5 * (p * a3))) / b2;
  const auto even = 0.5 * (n / b2 * log1p(p * (2.0 * b1 + p * b2) / b0));
  const auto odd =
      0.5 * ((m * b2 - n * b1) / (b2 * half_width) * log1p(2.0 * (p * b2) * half_width / (low * (high + p * b2))));
  return 1e4 * (linear + even + odd);  // 1 dbar = 10^4 Pa
}

class EquationOfState : public Model {
 public:
  c10::IValue forward(const Tensors& inputs) override {
    return enthalpy(inputs.at(0), inputs.at(1), inputs.at(2)).slope;
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    const auto [side, depth] = ocean::grid_size(options.batch_size);
    auto salinity = ocean::uniform({side, side, depth}, 0.01, 10);
    auto temperature = ocean::uniform({side, side, depth}, -12, 20);
    return {salinity, temperature, ocean::uniform({1, 1, depth}, 0, 1000)};
  }
};

TORCHSTONE_MODEL(
    pyhpc_equation_of_state, .family = "equation_of_state", .suites = {"torchbench"}, .train_batch = 1'048'576,
    .eval_batch = 1'048'576,
    .make = [](const ModelOptions&) -> std::shared_ptr<Model> { return std::make_shared<EquationOfState>(); });

}  // namespace
}  // namespace torchstone::equation_of_state
