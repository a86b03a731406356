// Sample inputs of an exported program, and the sizes of theirs that may vary.
#include <algorithm>
#include <optional>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "models/core/tree.h"
#include "models/formats/exported/program_model.h"

namespace torchstone::formats::exported {
namespace {

/// torch.export writes numbers of about this size for "no limit".
constexpr int64_t no_limit = int64_t{1} << 40;

/// Returns the symbol that is the first dimension of all tensors and no other dimension; empty without such a symbol.
std::string batch_symbol(const Program& program) {
  std::string symbol;
  for (const auto& sizes : program.user_sizes) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      const InputSize& size = sizes[i];
      if (size.expression) return "";
      if (i == 0 && !size.symbol.empty() && symbol.empty()) symbol = size.symbol;
      if (i == 0 && size.symbol != symbol) return "";
      if (i > 0 && !symbol.empty() && size.symbol == symbol) return "";
    }
  }
  return symbol;
}

/// Returns the range of a symbol as a dimension that varies: from 2 to the program's limit. Eager must be able to run
/// there, so the range ends at 1024 or four times the exported size, whichever is larger. Without a limit in the
/// program it ends at four times that size. Returns nothing if fewer than three sizes remain.
std::optional<ModelDimension> dimension_of(const std::string& symbol, int64_t size, const Range& range) {
  constexpr int64_t times = 4, affordable = 1024;
  const bool limited = range.most < no_limit;
  const int64_t least = std::max<int64_t>(range.least, 2),
                most = limited ? std::min(range.most, std::max(affordable, times * size)) : times * size;
  if (most - least < 2 || size < least || size > most) return std::nullopt;
  return ModelDimension{symbol, size, least, most, 1};
}

/// Returns the names in an expression: s1 and s12 for "2*s1 + s12".
std::set<std::string> names_in(const std::string& expression) {
  static const std::regex name("[A-Za-z_][A-Za-z_0-9]*");
  return {std::sregex_token_iterator(expression.begin(), expression.end(), name), {}};
}

/// Returns the symbols that are sizes of tensors, without the batch's. Symbols in expressions cannot vary freely.
std::vector<ModelDimension> dimensions_of(const SampleInputs& samples, const Program& program) {
  std::map<std::string, int64_t> sizes;
  std::set<std::string> in_expressions;
  for (size_t i = 0; i < program.user_sizes.size(); ++i) {
    for (size_t d = 0; d < program.user_sizes[i].size(); ++d) {
      const InputSize& size = program.user_sizes[i][d];
      if (size.expression) in_expressions.merge(names_in(size.symbol));
      if (!size.expression && !size.symbol.empty() && size.symbol != samples.symbol)
        sizes.try_emplace(size.symbol, samples.leaves[i].toTensor().size(static_cast<int64_t>(d)));
    }
  }
  std::vector<ModelDimension> dimensions;
  for (const auto& [symbol, size] : sizes) {
    const auto range = program.ranges.find(symbol);
    if (in_expressions.contains(symbol)) continue;
    if (auto one = dimension_of(symbol, size, range == program.ranges.end() ? Range{} : range->second))
      dimensions.push_back(std::move(*one));
  }
  return dimensions;
}

void require_sizes(const std::vector<InputSize>& expected, const torch::Tensor& found, size_t index,
                   const std::string& record) {
  bool fits = static_cast<size_t>(found.dim()) == expected.size();
  for (size_t i = 0; fits && i < expected.size(); ++i)
    fits = !expected[i].symbol.empty() || expected[i].hint == found.size(static_cast<int64_t>(i));
  if (!fits)
    throw std::invalid_argument(
        fmt::format("{}: the sizes of input {}, {}, differ from the program's", record, index, describe(found)));
}

}  // namespace

SampleInputs read_sample_inputs(Archive& archive, const std::string& name, const Program& program) {
  const std::string record = fmt::format("data/sample_inputs/{}.pt", name);
  if (!archive.has(record) || archive.bytes(record).second == 0)
    throw std::invalid_argument(
        fmt::format("{}: no sample inputs (torch.export.save writes those that torch.export.export was given; "
                    "exported_program.example_inputs must not be None)",
                    record));
  SampleInputs samples{leaves_of(archive.saved(record), program.in_spec)};
  bool first = true;
  for (size_t i = 0; i < samples.leaves.size(); ++i) {
    const auto& leaf = samples.leaves[i];
    if (!leaf.isTensor()) {
      if (!program.user_sizes[i].empty())
        throw std::invalid_argument(fmt::format("{}: input {} is {}, expected a tensor", record, i, describe(leaf)));
      continue;
    }
    require_sizes(program.user_sizes[i], leaf.toTensor(), i, record);
    if (first && leaf.toTensor().dim() > 0) samples.batch = std::max<int64_t>(leaf.toTensor().size(0), 1);
    first = first && leaf.toTensor().dim() == 0;
  }
  samples.symbol = batch_symbol(program);
  samples.batch_can_change = !samples.symbol.empty();
  if (const auto range = program.ranges.find(samples.symbol); range != program.ranges.end())
    samples.batches = range->second;
  samples.dimensions = dimensions_of(samples, program);
  return samples;
}

}  // namespace torchstone::formats::exported
