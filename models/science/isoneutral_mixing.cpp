// Isoneutral mixing of an ocean: slopes of surfaces of equal density on a grid [X, Y, Z], and how much tracers diffuse
// along them, as sums over the corners of each cell's faces.
// Papers: Griffies et al., "Isoneutral diffusion in a z-coordinate ocean model", 1998; Danabasoglu, McWilliams,
// "Sensitivity of the global ocean circulation to parameterizations of mesoscale tracer transports", 1995 (tapering).
// Original: pytorch/benchmark pyhpc_isoneutral_mixing (Veros by Häfner et al., from pyhpc-benchmarks). Inputs, float64:
// 23 fields, named below and in GridInputs, X = Y = ⌈2 ∛N⌉ and Z = ⌈∛N / 4⌉ of the batch size N (1,048,576:
// [204, 204, 26]) → three diffusivities [X, Y, Z] and four slopes [X, Y, Z, 2, 2]; no parameters. The original writes
// into its inputs; here into copies. Upstream's fields are normally distributed, so that almost all slopes are too
// steep to count. Here the sizes are those of an ocean. mini: N is 1200 times the batch size, because a grid of a few
// cells has no inner ones (4: [34, 34, 5]).
#include <functional>

#include "models/blocks/basic_layers.h"
#include "models/blocks/ocean.h"

namespace torchstone::isoneutral_mixing {
namespace {

using ocean::along_x, ocean::along_y, ocean::cut, ocean::inner, ocean::random_mask, ocean::steps, ocean::uniform;
using enum ocean::GridInputs<1>::Field;

constexpr double steepest_diffusivity = 50.0;                // m^2/s, along slopes that are too steep to follow
constexpr double critical_slope = 1e-3, slope_width = 1e-3;  // of the tapering
enum Input : size_t {
  // 1 for water [X, Y, Z]
  mask_t,
  // mask_u to cos_u: GridInputs
  // now, next and before [X, Y, Z, 3]
  salinity = grid_end,
  temperature,
  // heights [Z]
  height,
  // diffusivity along surfaces of equal density [X, Y, Z]
  along,
  // the results before, whose edges stay: diffusivities [X, Y, Z] and slopes [X, Y, Z, 2, 2] at the eastern, northern
  // and upper faces
  k_east,
  k_north,
  k_top,
  slope_east,
  slope_north,
  slope_top_x,
  slope_top_y,
  count
};

/// Returns the cells on one side of the faces that border inner cells along `axis`: 0 west or south, 1 east or north.
torch::Tensor beside_faces(const torch::Tensor& x, int64_t axis, int64_t side) {
  return cut(cut(x, axis, 1 + side, side - 2), 1 - axis, 2, -2);
}
/// Returns the faces on one side of the inner cells along `axis`, of a field or a vector: 0 west or south, 1 east or
/// north.
torch::Tensor at_cells(const torch::Tensor& x, int64_t axis, int64_t side) { return cut(x, axis, 1 + side, side - 3); }

/// The change of density with temperature and salinity, or gradients of both.
struct Pair {
  torch::Tensor temperature, salinity;
  Pair map(const std::function<torch::Tensor(const torch::Tensor&)>& function) const {
    return {function(temperature), function(salinity)};
  }
};
/// Returns the gradient of density.
torch::Tensor dot(const Pair& change, const Pair& gradient) {
  return change.temperature * gradient.temperature + change.salinity * gradient.salinity;
}

/// A slope, and the share of the mixing that follows it.
struct Slope {
  torch::Tensor value, taper;
};
Slope slope_of(const torch::Tensor& sideways, const torch::Tensor& upwards) {
  const auto value = -sideways / (upwards.clamp_max(0) - 1e-20);
  return {value, 0.5 * (1.0 + torch::tanh((-value.abs() + critical_slope) / slope_width))};
}

/// The nonlinear equation of state of Vallis, "Atmospheric and oceanic fluid dynamics", 2006: the derivatives of
/// density.
Pair density_changes(const Tensors& in, const torch::Tensor& t) {
  constexpr double density = 1024, expansion = 1.67e-4, thermal_expansion = 1e-5, compression = 1.1e-8 * 9.81;
  const auto depth = -in[height].abs();
  const auto by_temperature =
      -(thermal_expansion * (t - (283.0 - 273.15)) + expansion * (1 - compression * depth * density)) * density;
  return {in[mask_t] * by_temperature, in[mask_t] * (0.78e-3 * density * torch::ones_like(t))};
}

/// Returns differences of cells along an axis, at the face behind each cell; 0 at the last.
torch::Tensor gradient(const torch::Tensor& x, int64_t axis, const torch::Tensor& mask, const torch::Tensor& spacing) {
  auto result = torch::zeros_like(x);
  cut(result, axis, 0, -1).copy_(cut(mask, axis, 0, -1) * steps(x, axis) / spacing);
  return result;
}

class IsoneutralMixing : public Model {
 public:
  /// `cells` is N for a batch size of 1.
  explicit IsoneutralMixing(int64_t cells) : cells_(cells) {}

  c10::IValue forward(const Tensors& in) override {
    Tensors results;
    for (auto i = static_cast<size_t>(k_east); i < count; ++i) results.push_back(in[i].clone());
    const auto result = [&](Input i) { return results[i - k_east]; };
    const Pair now{in[temperature].select(3, 0), in[salinity].select(3, 0)};
    const auto change = density_changes(in, now.temperature);
    const auto toward_east = along_x(cut(in[dxu], 0, 0, -1)) * along_y(in[cos_t]);
    const auto toward_north = along_y(cut(in[dyu], 0, 0, -1)), upwards = cut(in[dzw], 0, 0, -1);
    const auto up = now.map([&](const auto& x) { return gradient(x, 2, in[mask_w], upwards); });
    const auto east = now.map([&](const auto& x) { return gradient(x, 0, in[mask_u], toward_east); });
    const auto north = now.map([&](const auto& x) { return gradient(x, 1, in[mask_v], toward_north); });

    mix_sideways(in, 0, in[mask_u], change, east, up, result(k_east), result(slope_east));
    mix_sideways(in, 1, in[mask_v], change, north, up, result(k_north), result(slope_north));
    const auto x = mix_upwards(in, 0, along_x(in[dxu]), change, east, up, result(slope_top_x));
    const auto y = mix_upwards(in, 1, along_y(in[cos_u] * in[dyu]), change, north, up, result(slope_top_y));
    const auto top = inner(result(k_top));
    cut(top, 2, 0, -1)
        .copy_(x / (4 * along_x(cut(in[dxt], 0, 2, -2))) +
               y / (4 * along_y(cut(in[dyt], 0, 2, -2)) * along_y(cut(in[cos_t], 0, 2, -2))));
    top.select(2, -1).zero_();
    return c10::ivalue::Tuple::create(std::vector<c10::IValue>(results.begin(), results.end()));
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    const auto [side, depth] = ocean::grid_size(options.batch_size * cells_);
    const std::vector<int64_t> cells = {side, side, depth}, moments = {side, side, depth, 3};
    Tensors all(count);
    all[mask_t] = random_mask(cells);
    for (const auto i : {mask_u, mask_v, mask_w}) all[i] = random_mask(cells);
    for (const auto i : {dxt, dxu, dyt, dyu}) all[i] = uniform({side}, 5e4, 2e5);
    for (const auto i : {dzt, dzw}) all[i] = uniform({depth}, 50, 200);
    for (const auto i : {cos_t, cos_u}) all[i] = uniform({side}, 0.5, 1);
    all[salinity] = uniform(moments, 34, 36);
    all[temperature] = uniform(moments, -2, 20);
    all[height] = uniform({depth}, -5000, 0);
    all[along] = uniform(cells, 0, 2000);
    for (const auto i : {k_east, k_north, k_top}) all[i] = torch::zeros(cells, torch::kFloat64);
    for (const auto i : {slope_east, slope_north, slope_top_x, slope_top_y})
      all[i] = torch::zeros({side, side, depth, 2, 2}, torch::kFloat64);
    return all;
  }

 private:
  /// Writes the diffusivity and the slopes at the faces along a horizontal axis. Each face has four corners: above and
  /// below, in both of its cells.
  static void mix_sideways(const Tensors& in, int64_t axis, const torch::Tensor& mask, const Pair& change,
                           const Pair& sideways, const Pair& up, const torch::Tensor& diffusivity,
                           const torch::Tensor& slopes) {
    const auto before = beside_faces(in[along], axis, 0), after = beside_faces(in[along], axis, 1);
    auto local = torch::empty_like(before);
    cut(local, 2, 1)
        .copy_(0.25 * (cut(before, 2, 1) + cut(before, 2, 0, -1) + cut(after, 2, 1) + cut(after, 2, 0, -1)));
    local.select(2, 0).copy_(0.5 * (before.select(2, 0) + after.select(2, 0)));
    auto sum = torch::zeros_like(local);
    const auto depth = local.size(2);
    for (int64_t above = 0; above < 2; ++above) {  // 1: by the density at a level's upper face, 0: at its lower face
      const auto first = 1 - above;
      const auto faces = [&](const torch::Tensor& x) { return cut(beside_faces(x, axis, 0), 2, first); };
      const auto open = faces(mask);
      for (int64_t side = 0; side < 2; ++side) {
        const auto here = change.map([&](const auto& x) { return cut(beside_faces(x, axis, side), 2, first); });
        const auto vertical =
            up.map([&](const auto& x) { return cut(beside_faces(x, axis, side), 2, 0, depth - first); });
        const auto slope = slope_of(dot(here, sideways.map(faces)), dot(here, vertical));
        cut(sum, 2, first)
            .add_(cut(in[dzw], 0, 0, depth - first) * open *
                  (cut(local, 2, first) * slope.taper).clamp_min(steepest_diffusivity));
        faces(slopes.select(4, above).select(3, side)).copy_(slope.taper * slope.value * open);
      }
    }
    beside_faces(diffusivity, axis, 0).copy_(sum / (4.0 * in[dzt]));
  }

  /// Writes the slopes along a horizontal axis at the upper faces of cells. Returns the sum over each face's four
  /// corners of diffusivity times the slope's square, weighted by the `lengths` of the cells' sides.
  static torch::Tensor mix_upwards(const Tensors& in, int64_t axis, const torch::Tensor& lengths, const Pair& change,
                                   const Pair& sideways, const Pair& up, const torch::Tensor& slopes) {
    const auto depth = in[dzw].size(0);
    const auto faces = [](const torch::Tensor& x) { return cut(inner(x), 2, 0, -1); };
    const auto vertical = up.map(faces);
    auto sum = torch::zeros_like(vertical.temperature);
    for (int64_t above = 0; above < 2; ++above) {
      const auto level = [&](const torch::Tensor& x) { return cut(x, 2, above, depth - 1 + above); };
      const auto here = change.map([&](const auto& x) { return level(inner(x)); });
      for (int64_t side = 0; side < 2; ++side) {
        const auto beside =
            sideways.map([&](const auto& x) { return level(cut(at_cells(x, axis, side), 1 - axis, 2, -2)); });
        const auto slope = slope_of(dot(here, beside), dot(here, vertical));
        sum.add_(at_cells(lengths, axis, side) * faces(in[along]) * slope.taper * slope.value.pow(2) *
                 faces(in[mask_w]));
        faces(slopes.select(4, above).select(3, side)).copy_(slope.taper * slope.value * faces(in[mask_w]));
      }
    }
    return sum;
  }

  int64_t cells_;
};

TORCHSTONE_MODEL(pyhpc_isoneutral_mixing, .family = "isoneutral_mixing", .suites = {"torchbench"},
                 .train_batch = 1'048'576, .eval_batch = 1'048'576, .make = by_preset<IsoneutralMixing>(1, 1200));

}  // namespace
}  // namespace torchstone::isoneutral_mixing
