#pragma once
// Parts that the networks of diffusion models share, with the names of diffusers.
#include <cmath>
#include <utility>

#include "models/blocks/basic_layers.h"

namespace torchstone {

/// Returns cosines and sines of each noise step at falling frequencies: [N] → [N, width]. Computes in float32, like the
/// originals (get_timestep_embedding), and casts the result.
inline torch::Tensor step_waves(const torch::Tensor& steps, int64_t width, torch::Dtype dtype) {
  const auto half = width / 2;
  const auto places = torch::arange(half, steps.options().dtype(torch::kFloat32));
  const auto frequencies = torch::exp(-std::log(10000.0) * places / half);
  const auto angles = steps.unsqueeze(1).to(torch::kFloat32) * frequencies.unsqueeze(0);
  return torch::cat({angles.cos(), angles.sin()}, -1).to(dtype);
}

/// Returns linear_2(silu(linear_1(x))) (TimestepEmbedding and PixArtAlphaTextProjection).
inline Chain condition_mlp(int64_t in, int64_t out) {
  return chain({{"linear_1", nn::Linear(in, out)}, {"act", activation(Act::silu)}, {"linear_2", nn::Linear(out, out)}});
}

/// Returns the part of a transformer block that works on each token alone. `first` maps the width to four times it.
/// The dropout drops nothing. It gives the last layer the original's index.
template <class First>
Chain feed_forward(int64_t width, First first) {
  return chain({{"net", Chain(std::move(first), nn::Dropout(0.0), nn::Linear(4 * width, width))}});
}

}  // namespace torchstone
