#pragma once
#include <cstddef>
#include <string_view>

namespace torchstone {

/// A model whose dropout rates stand in a program rather than in options of its modules.
class DropoutRates {
 public:
  virtual ~DropoutRates() = default;
  /// Gives each dropout of the program that drops now and then, in training, this rate. Returns how many there are.
  virtual size_t set_dropout_rate(double rate) = 0;
};

/// Whether a dropout of this rate draws: none and all are no draws.
constexpr bool is_dropout_rate(double rate) { return rate > 0 && rate < 1; }

/// A rate with which a dropout draws its mask and drops nothing (upstream's for Hugging Face,
/// benchmarks/dynamo/huggingface.py).
constexpr double rate_of_no_drops = 1e-30;

/// Whether an operator's argument is a dropout rate: `p` of aten::dropout and its like, `dropout_p` of
/// aten::scaled_dot_product_attention, `dropout` of aten::lstm.
constexpr bool names_dropout_rate(std::string_view op, std::string_view argument) {
  return argument == "dropout" || argument == "dropout_p" ||
         (argument == "p" && op.find("dropout") != std::string_view::npos);
}

}  // namespace torchstone
