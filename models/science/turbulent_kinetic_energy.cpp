// Turbulent kinetic energy of an ocean, one time step on a grid [X, Y, Z]. It computes vertical mixing by a
// tridiagonal solve, lateral diffusion and advection, mostly as writes to slices.
// Papers: Gaspar, Grégoris, Lefevre, "A simple eddy kinetic energy model for simulations of the oceanic vertical
// mixing", 1990; Sweby, "High resolution schemes using flux limiters", 1984 (superbee). Original: pytorch/benchmark
// pyhpc_turbulent_kinetic_energy (Veros by Häfner et al., from pyhpc-benchmarks). Inputs, float64 and one int64: 21
// fields of a grid of 204 x 204 x 26, named below and in GridInputs → (tke and dtke [X, Y, Z, 3], surface correction
// [X, Y]); no parameters. Upstream's spacings, cosines, mixing and its lengths are normally distributed, so that some
// divisors are almost 0 and dominate the result. Here they are in [0.5, 2). mini: 30 x 30 x 4.
#include "models/blocks/basic_layers.h"
#include "models/blocks/ocean.h"

namespace torchstone::turbulent_kinetic_energy {
namespace {

using ocean::along_x, ocean::along_y, ocean::cut, ocean::inner, ocean::steps;
using enum ocean::GridInputs<3>::Field;

constexpr double dissipation_rate = 0.7, lateral_mixing = 2000.0, adams_bashforth_offset = 0.1;  // time steps are 1
enum Input : size_t {
  // velocities [X, Y, Z, 3]
  u,
  v,
  w,
  // mask_u to cos_u: GridInputs
  // first level of water, from 1 on; 0: land [X, Y]
  bottom = grid_end,
  // [X, Y, Z], and at the surface [X, Y]
  mixing,
  mixing_length,
  forcing,
  surface_forcing,
  // now, next and before [X, Y, Z, 3]
  tke,
  dtke
};

/// Solves tridiagonal systems along the last axis (Thomas); overwrites diagonal and right side.
torch::Tensor solve(const torch::Tensor& lower, const torch::Tensor& diagonal, const torch::Tensor& upper,
                    const torch::Tensor& right) {
  const auto n = lower.size(2);
  const auto at = [](const torch::Tensor& x, int64_t i) { return x.select(2, i); };
  for (int64_t i = 1; i < n; ++i) {
    const auto factor = at(lower, i) / at(diagonal, i - 1);
    at(diagonal, i).sub_(factor * at(upper, i - 1));
    at(right, i).sub_(factor * at(right, i - 1));
  }
  auto solution = torch::empty_like(lower);
  at(solution, n - 1).copy_(at(right, n - 1) / at(diagonal, n - 1));
  for (int64_t i = n - 2; i >= 0; --i) {
    at(solution, i).copy_((at(right, i) - at(upper, i) * at(solution, i + 1)) / at(diagonal, i));
  }
  return solution;
}

/// Returns the flux through the faces between cells along an axis, limited so that no new extremes arise. `scale` times
/// velocity is the speed, `spacing` the cells' length, `open` 1 at open faces. The cells at the axis' ends are only
/// neighbours.
torch::Tensor superbee(const torch::Tensor& velocity, const torch::Tensor& scale, const torch::Tensor& spacing,
                       const torch::Tensor& values, const torch::Tensor& open, int64_t axis) {
  const auto rises = steps(values, axis) * cut(open, axis, 0, -1);
  const auto before = cut(rises, axis, 0, -2), here = cut(rises, axis, 1, -1), after = cut(rises, axis, 2);
  const auto towards = cut(velocity, axis, 1, -2), speed = scale * towards, courant = (speed / spacing).abs();
  const auto small = here.abs() < 1e-20;
  const auto ratio = torch::where(towards > 0, before, after) / here.masked_fill(small, 1e-20);
  const auto limit = torch::maximum((2 * ratio).clamp_max(1), ratio.clamp_max(2)).clamp_min(0);
  const auto sum = cut(values, axis, 1, -2) + cut(values, axis, 2, -1);
  return 0.5 * (speed * sum - speed.abs() * (1 - limit + courant * limit) * here);
}

class TurbulentKineticEnergy : public Model {
 public:
  TurbulentKineticEnergy(int64_t side, int64_t depth) : side_(side), depth_(depth) {}

  c10::IValue forward(const Tensors& in) override {
    const auto energy = in[tke].clone(), change = in[dtke].clone();
    const auto now = energy.select(3, 0), next = energy.select(3, 1);
    mix(in, now, next);
    const auto lowest = inner(next).select(2, -1), deepest = in[dzw].select(0, -1);
    auto correction = torch::zeros({side_, side_}, next.options());
    inner(correction).copy_(torch::where(lowest < 0, -0.5 * lowest * deepest, 0.0));
    lowest.clamp_min_(0);
    diffuse(in, now, next);
    advect(in, now, change.select(3, 0));
    next.add_((1.5 + adams_bashforth_offset) * change.select(3, 0) -
              (0.5 + adams_bashforth_offset) * change.select(3, 2));
    return std::make_tuple(energy, change, correction);
  }

  Tensors example_inputs(const ModelOptions&) const override {
    const std::vector<int64_t> sizes = {side_, side_, depth_};
    const auto normal = [](at::IntArrayRef shape) { return torch::randn(shape, torch::kFloat64); };
    const auto positive = [](at::IntArrayRef shape) { return ocean::uniform(shape, 0.5, 2); };
    Tensors all(dtke + 1);
    for (const auto i : {u, v, w, tke, dtke}) all[i] = normal({side_, side_, depth_, 3});
    for (const auto i : {mask_u, mask_v, mask_w}) all[i] = ocean::random_mask(sizes);
    for (const auto i : {dxt, dxu, dyt, dyu, cos_t, cos_u}) all[i] = positive({side_});
    for (const auto i : {dzt, dzw}) all[i] = positive({depth_});
    all[bottom] = torch::randint(depth_, {side_, side_}, torch::kInt64);
    for (const auto i : {mixing, mixing_length}) all[i] = positive(sizes);
    all[forcing] = normal(sizes);
    all[surface_forcing] = normal({side_, side_});
    return all;
  }

 private:
  /// Applies vertical mixing, dissipation and forcing implicitly, to `next` below the surface.
  static void mix(const Tensors& in, const torch::Tensor& now, const torch::Tensor& next) {
    const auto& dz = in[dzw];
    const auto last = 0.5 * dz.select(0, -1);
    const auto loss = dissipation_rate * inner(now.clamp_min(0).sqrt()) / inner(in[mixing_length]);
    const auto mixed = inner(in[mixing]);
    auto delta = torch::zeros_like(mixed), lower = torch::zeros_like(mixed), diagonal = torch::zeros_like(mixed),
         upper = torch::zeros_like(mixed);
    cut(delta, 2, 0, -1).copy_(0.5 * (cut(mixed, 2, 0, -1) + cut(mixed, 2, 1)) / cut(in[dzt], 0, 1));
    const auto above = delta.select(2, -2) / last, middle = cut(dz, 0, 1, -1);
    cut(lower, 2, 1, -1).copy_(-cut(delta, 2, 0, -2) / middle);
    lower.select(2, -1).copy_(-above);
    cut(diagonal, 2, 1, -1).copy_(1 + (cut(delta, 2, 1, -1) + cut(delta, 2, 0, -2)) / middle + cut(loss, 2, 1, -1));
    diagonal.select(2, -1).copy_(1 + above + loss.select(2, -1));
    cut(upper, 2, 0, -1).copy_(-cut(delta, 2, 0, -1) / cut(dz, 0, 0, -1));
    auto right = inner(now) + inner(in[forcing]);
    right.select(2, -1).add_(inner(in[surface_forcing]) / last);

    const auto first = (inner(in[bottom]) - 1).unsqueeze(2);
    const auto level = torch::arange(dz.size(0), first.options());
    const auto edge = first.ge(0).logical_and(level.eq(first)), water = first.ge(0).logical_and(level.ge(first));
    const auto solved = solve(lower * water * edge.logical_not(),
                              torch::where(edge, 1 + delta / dz + loss, torch::where(water, diagonal, 1.0)),
                              upper * water, right * water);
    inner(next).copy_(torch::where(water, solved, inner(next)));
  }

  /// Adds the divergence of lateral mixing.
  static void diffuse(const Tensors& in, const torch::Tensor& now, const torch::Tensor& next) {
    auto east = torch::zeros_like(now), north = torch::zeros_like(now);
    cut(east, 0, 0, -1)
        .copy_(lateral_mixing * steps(now, 0) * cut(in[mask_u], 0, 0, -1) /
               (along_y(in[cos_t]) * along_x(cut(in[dxu], 0, 0, -1))));
    cut(north, 1, 0, -1)
        .copy_(lateral_mixing * steps(now, 1) * cut(in[mask_v], 1, 0, -1) * along_y(cut(in[cos_u], 0, 0, -1)) /
               along_y(cut(in[dyu], 0, 0, -1)));
    inner(next).add_(divergence(in, cut(cut(east, 0, 1, -2), 1, 2, -2), cut(cut(north, 0, 2, -2), 1, 1, -2)));
  }

  /// Writes the tendency by advection.
  static void advect(const Tensors& in, const torch::Tensor& now, const torch::Tensor& tendency) {
    const auto& water = in[mask_w];
    const auto open = [&](int64_t axis) {  // between two cells of water
      auto both = torch::zeros_like(water);
      cut(both, axis, 0, -1).copy_(cut(water, axis, 1) * cut(water, axis, 0, -1));
      return both;
    };
    const auto velocity = [&](Input i) { return in[i].select(3, 0); };
    const auto rows = [](const torch::Tensor& x) { return cut(x, 1, 2, -2); };
    const auto columns = [](const torch::Tensor& x) { return cut(x, 0, 2, -2); };
    const auto padded = [](const torch::Tensor& x) { return torch::constant_pad_nd(inner(x), {1, 1}); };
    const auto one = torch::ones({}, now.options());
    const auto east =
        superbee(rows(velocity(u)), one, along_y(cut(in[cos_t], 0, 2, -2)) * along_x(cut(in[dxt], 0, 1, -2)), rows(now),
                 rows(open(0)), 0);
    const auto north = superbee(columns(velocity(v)), along_y(cut(in[cos_u], 0, 1, -2)),
                                along_y(cut(in[cos_t] * in[dyt], 0, 1, -2)), columns(now), columns(open(1)), 1);
    const auto top = superbee(padded(velocity(w)), one, cut(in[dzw], 0, 0, -1), padded(now), padded(open(2)), 2);
    inner(tendency).copy_(-divergence(in, east, north));
    const auto layers = inner(tendency);
    layers.select(2, 0).sub_(top.select(2, 0) / in[dzw].select(0, 0));
    cut(layers, 2, 1, -1).sub_(steps(top, 2) / cut(in[dzw], 0, 1, -1));
    layers.select(2, -1).add_(top.select(2, -1) / (0.5 * in[dzw].select(0, -1)));
  }

  /// Returns the divergence of fluxes through the inner cells' faces.
  static torch::Tensor divergence(const Tensors& in, const torch::Tensor& east, const torch::Tensor& north) {
    const auto cosines = along_y(cut(in[cos_t], 0, 2, -2));
    return inner(in[mask_w]) * (steps(east, 0) / (cosines * along_x(cut(in[dxt], 0, 2, -2))) +
                                steps(north, 1) / (cosines * along_y(cut(in[dyt], 0, 2, -2))));
  }

  int64_t side_, depth_;
};

TORCHSTONE_MODEL(pyhpc_turbulent_kinetic_energy, .family = "turbulent_kinetic_energy", .suites = {"torchbench"},
                 .train_batch = 1'048'576, .eval_batch = 1'048'576, .fixed_batch = true,
                 .make = by_preset<TurbulentKineticEnergy>(std::tuple(204, 26), std::tuple(30, 4)));

}  // namespace
}  // namespace torchstone::turbulent_kinetic_energy
