#include "models/formats/script_batch.h"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "models/core/tree.h"

namespace torchstone::formats {

Tensors with_samples(const Tensors& inputs, int64_t samples) {
  Tensors changed;
  std::optional<int64_t> of_file;
  for (const auto& input : inputs) {
    if (input.dim() == 0) {
      changed.push_back(input);
      continue;
    }
    of_file = of_file.value_or(input.size(0));
    if (input.size(0) != *of_file || *of_file == 0)
      throw std::invalid_argument(fmt::format("input {} has the sizes {}, another first dimension than {}",
                                              changed.size(), fmt::streamed(input.sizes()), *of_file));
    changed.push_back(input.index_select(0, torch::arange(samples).remainder(*of_file)));
  }
  if (!of_file) throw std::invalid_argument("no input has a dimension");
  return changed;
}

std::string why_not_followed(const c10::IValue& with_file, int64_t of_file, const c10::IValue& with_asked,
                             int64_t asked) {
  const auto before = flatten(with_file), after = flatten(with_asked);
  bool followed = false;
  for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (before[i].sizes() == after[i].sizes()) continue;
    std::vector<int64_t> expected = before[i].sizes().vec();
    if (!expected.empty()) expected[0] = expected[0] * asked / of_file;
    if (after[i].sizes() != at::IntArrayRef(expected))
      return fmt::format("output {} has the sizes {} with {} samples and {} with {}", i,
                         fmt::streamed(before[i].sizes()), of_file, fmt::streamed(after[i].sizes()), asked);
    followed = true;
  }
  if (before.size() != after.size())
    return fmt::format("{} outputs with {} samples and {} with {}", before.size(), of_file, after.size(), asked);
  return followed ? ""
                  : fmt::format("no output depends on the number of samples: output 0 stays {}",
                                before.empty() ? "empty" : fmt::format("{}", fmt::streamed(before[0].sizes())));
}

}  // namespace torchstone::formats
