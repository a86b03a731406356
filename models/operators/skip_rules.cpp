#include "models/operators/skip_rules.h"

#include <vector>

namespace torchstone::operators {
namespace {

struct Rule {
  std::vector<std::string> parts;  ///< of the name
  const char* reason;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table{
      {{"embedding", "pool2d_with_indices_backward", "pool3d_with_indices_backward", "max_unpool", "aten._index_put",
        "aten.scatter."},
       "its indices cannot be drawn at random"},
      {{"aten.gather.default", "nll_loss", "aten.index", "aten.scatter_", "masked_fill_.Scalar"},
       "upstream has no inputs for it"},
      {{"_unsafe_view"}, "it computes nothing"},
      {{"convolution"}, "upstream leaves convolutions out"},
      {{"aten.native_dropout.", "aten.dropout", "aten.bernoulli", "aten.rand", "aten.normal", "aten.uniform",
        "aten.exponential", "aten.multinomial", "aten.rrelu_with_noise."},
       "it draws random numbers, which no two compilers draw alike"},
      {{"aten.empty", "aten.new_empty"}, "it returns memory as it finds it"}};
  return table;
}

}  // namespace

std::optional<std::string> operator_skip_reason(const std::string& name) {
  for (const auto& rule : rules())
    for (const auto& part : rule.parts)
      if (name.find(part) != std::string::npos) return rule.reason;
  return std::nullopt;
}

}  // namespace torchstone::operators
