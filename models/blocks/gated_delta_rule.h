#pragma once
// The gated delta rule: attention by one matrix a head, which maps keys to values. A word reads the matrix, decays it,
// and corrects the value under its key. Paper: Yang, Kautz, Hatamizadeh, "Gated delta networks: improving Mamba2 with
// delta rule", 2025. Original: transformers without kernels (torch_chunk_gated_delta_rule,
// torch_recurrent_gated_delta_rule).
#include <cmath>
#include <limits>
#include <vector>

#include "models/blocks/linear_attention.h"

namespace torchstone {

/// Divides x by its Euclidean norm.
inline torch::Tensor normalized(const torch::Tensor& x) {
  return x * torch::rsqrt((x * x).sum(-1, /*keepdim=*/true) + 1e-6);
}

/// Inputs of the rule, by head and at least float32. Keys and queries are normalized.
struct GatedDeltaRule {
  torch::Tensor query, key, value;  ///< [N, heads, L, D]
  torch::Tensor beta;               ///< the share of a value's error that is corrected [N, heads, L]
  torch::Tensor decay;              ///< logarithm of the factor of the matrix [N, heads, L]

  /// Applies the rule to a prompt in chunks of 64 words. Sets the matrices after it [N, heads, D, D] and returns the
  /// values that the queries read [N, heads, L, D].
  torch::Tensor apply_in_chunks(torch::Tensor& matrices) const {
    constexpr int64_t chunk = 64;
    const auto steps = query.size(2), padding = chunk_padding(steps, chunk);
    const auto padded = [&](const torch::Tensor& x) {
      return torch::constant_pad_nd(
          x, x.dim() == 4 ? std::vector<int64_t>{0, 0, 0, padding} : std::vector<int64_t>{0, padding});
    };
    const auto chunks = [&](const torch::Tensor& x) { return x.reshape({x.size(0), x.size(1), -1, chunk, x.size(3)}); };
    const auto all_keys = padded(key), share = padded(beta).unsqueeze(-1);
    const auto new_keys = chunks(all_keys * share), new_values = chunks(padded(value) * share);
    const auto keys = chunks(all_keys), queries = chunks(padded(query * (1 / scale())));
    const auto decays = padded(decay).reshape({decay.size(0), decay.size(1), -1, chunk}).cumsum(3);

    // Inside each chunk: the corrections of its words, as the solution of a triangular system.
    const auto later = torch::ones({chunk, chunk}, queries.options().dtype(torch::kBool)).triu(1);
    const auto between =
        (decays.unsqueeze(4) - decays.unsqueeze(3)).masked_fill(later, -std::numeric_limits<double>::infinity()).exp();
    const auto system = new_keys.matmul(keys.transpose(-1, -2)) * between;
    const auto scores = queries.matmul(keys.transpose(-1, -2)) * between;
    const auto solve = [&](const torch::Tensor& right) {
      return at::linalg_solve_triangular(system, right, /*upper=*/false, /*left=*/true, /*unitriangular=*/true);
    };
    const auto decayed_keys = new_keys * decays.exp().unsqueeze(-1);
    const auto corrections = solve(new_values), known_keys = solve(decayed_keys);

    // From chunk to chunk.
    auto state = torch::zeros({value.size(0), value.size(1), keys.size(4), value.size(3)}, corrections.options());
    auto outputs = torch::zeros_like(corrections);
    const auto decayed_queries = queries * decays.exp().unsqueeze(-1);
    const auto kept_keys = keys * (decays.slice(3, -1) - decays).exp().unsqueeze(-1);
    const auto of_chunk = decays.select(3, -1).exp().unsqueeze(-1).unsqueeze(-1);
    for (int64_t i = 0; i < corrections.size(2); ++i) {
      const auto change = corrections.select(2, i) - known_keys.select(2, i).matmul(state);
      outputs.select(2, i).copy_(decayed_queries.select(2, i).matmul(state) + scores.select(2, i).matmul(change));
      state = state * of_chunk.select(2, i) + kept_keys.select(2, i).transpose(-1, -2).matmul(change);
    }
    matrices = state;
    return outputs.reshape({value.size(0), value.size(1), -1, value.size(3)}).slice(2, 0, steps);
  }

  /// Applies the rule to one word. Returns the value that the query reads [N, heads, 1, D], and updates the matrices.
  torch::Tensor apply_once(torch::Tensor& matrices) const {
    const auto asked = (query / scale()).select(2, 0), place = key.select(2, 0).unsqueeze(-1);
    auto outputs = torch::zeros_like(value);
    const auto decayed = matrices.to(value.scalar_type()) * decay.select(2, 0).exp().unsqueeze(-1).unsqueeze(-1);
    const auto known = (decayed * place).sum(-2);
    const auto change = (value.select(2, 0) - known) * beta.select(2, 0).unsqueeze(-1);
    const auto next = decayed + place * change.unsqueeze(-2);
    outputs.select(2, 0).copy_((next * asked.unsqueeze(-1)).sum(-2));
    matrices = next.to(matrices.scalar_type());
    return outputs;
  }

 private:
  /// Returns the divisor of the queries.
  double scale() const { return std::sqrt(static_cast<double>(query.size(-1))); }
};

}  // namespace torchstone
