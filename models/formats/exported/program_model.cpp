#include "models/formats/exported/program_model.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "models/core/tree.h"
#include "models/formats/script_inputs.h"

namespace torchstone::formats::exported {
namespace {

using Source = ProgramInput::Source;

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

std::pair<std::string, std::string> parts_of(const std::string& name) {
  const auto dot = name.rfind('.');
  return dot == std::string::npos ? std::pair(std::string(), name)
                                  : std::pair(name.substr(0, dot), name.substr(dot + 1));
}

torch::nn::Module& child_of(torch::nn::Module& module, const std::string& path) {
  if (path.empty()) return module;
  const auto dot = path.find('.');
  const std::string name = path.substr(0, dot);
  const auto children = module.named_children();
  auto child = children.contains(name) ? children[name] : nullptr;
  if (!child) child = module.register_module(name, std::make_shared<torch::nn::Module>(name));
  return child_of(*child, dot == std::string::npos ? "" : path.substr(dot + 1));
}

void require_names(const ProgramTensors& tensors) {
  std::set<std::string> leaves, modules;
  for (const auto* group : {&tensors.state, &tensors.constants}) {
    for (const auto& [name, stored] : *group) {
      constexpr size_t longest = 2000;
      const bool empty_part =
          name.empty() || name.starts_with('.') || name.ends_with('.') || name.find("..") != std::string::npos;
      if (empty_part || name.size() > longest || !leaves.insert(name).second)
        throw std::invalid_argument(
            fmt::format("a tensor named \"{}\" (expected a dotted name, each once)", name.substr(0, 200)));
      for (auto module = parts_of(name).first; !module.empty(); module = parts_of(module).first) modules.insert(module);
    }
  }
  for (const auto& name : leaves) {
    if (modules.contains(name)) throw std::invalid_argument(fmt::format("{} is a tensor and a module", name));
  }
}

/// Returns only the tensors of an output with other values: None and numbers have no loss.
c10::IValue without_others(const c10::IValue& output) {
  const auto all = leaves(output);
  if (std::ranges::all_of(all, [](const Leaf& leaf) { return is_tensor(leaf.value); })) return output;
  return c10::List<torch::Tensor>(flatten(output));
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

ProgramModel::ProgramModel(std::shared_ptr<const Program> program, ProgramTensors tensors, SampleInputs samples,
                           std::string loss, bool training)
    : program_(std::move(program)), samples_(std::move(samples)), loss_(std::move(loss)) {
  placement_.dtype = program_->dtype;
  placement_.training = training;
  require_names(tensors);
  // Parameters keep the program's order, because optimizers process them in order. Unused tensors come last.
  std::vector<std::string> order;
  for (const auto& input : program_->inputs)
    if (input.source != Source::user) order.push_back(input.name);
  for (const auto& [name, stored] : tensors.state) order.push_back(name);
  std::set<std::string> added;
  for (const auto& name : order)
    if (const auto stored = tensors.state.find(name); stored != tensors.state.end() && added.insert(name).second)
      add(name, stored->second);
  for (const auto& [name, stored] : tensors.constants) {
    add(name, {stored.tensor});
    outside_.insert(name);
  }
  for (const auto& input : program_->inputs) {
    if (input.source == Source::user) {
      state_.emplace_back(nullptr, "");
      continue;
    }
    if (!tensors.state.contains(input.name) && !tensors.constants.contains(input.name))
      throw std::invalid_argument(fmt::format("the program takes {}, which the archive lacks", input.name));
    const auto [path, name] = parts_of(input.name);
    state_.emplace_back(&child_of(*this, path), name);
    if (input.source == Source::constant) constants_[input.name] = tensors.constants[input.name].tensor;
  }
}

void ProgramModel::add(const std::string& name, const StoredTensor& stored) {
  const auto [path, last] = parts_of(name);
  auto& module = child_of(*this, path);
  if (stored.parameter)
    module.register_parameter(last, stored.tensor, stored.requires_grad);
  else
    module.register_buffer(last, stored.tensor);
}

c10::IValue ProgramModel::forward(const torchstone::Tensors& inputs) {
  std::vector<c10::IValue> values;
  size_t leaf = 0, next = 0;
  placement_.device = inputs.empty() ? placement_.device : inputs[0].device();
  for (const auto& [module, name] : state_) {
    if (module) {
      const auto* parameter = module->named_parameters(/*recurse=*/false).find(name);
      values.emplace_back(parameter ? *parameter : module->named_buffers(/*recurse=*/false)[name]);
      continue;
    }
    const auto& sample = samples_.leaves[leaf++];
    values.push_back(sample.isTensor() ? c10::IValue(inputs.at(next++)) : sample);
  }
  return tree_of(program_->out_spec, run_program(*program_, values, placement_));
}

TensorNames ProgramModel::tensor_order() const {
  TensorNames names;
  for (const auto& input : program_->inputs) {
    if (input.source == Source::parameter) names.parameters.push_back(input.name);
    if (input.source == Source::buffer) names.buffers.push_back(input.name);
    if (input.source == Source::constant) names.constants.push_back(input.name);
  }
  return names;
}

torchstone::Tensors ProgramModel::example_inputs(const ModelOptions& options) const {
  torchstone::Tensors inputs;
  const bool resized = samples_.batch_can_change && options.batch_size != samples_.batch;
  if (resized && (options.batch_size < samples_.batches.least || options.batch_size > samples_.batches.most))
    throw std::invalid_argument(fmt::format("{} samples, the program takes {} to {}", options.batch_size,
                                            samples_.batches.least, samples_.batches.most));
  for (size_t i = 0; i < samples_.leaves.size(); ++i) {
    const auto& leaf = samples_.leaves[i];
    if (!leaf.isTensor()) continue;
    auto input = leaf.toTensor();
    if (resized && input.dim() > 0) input = with_size(input, 0, options.batch_size);
    const auto& sizes = program_->user_sizes[i];
    for (size_t d = 0; d < sizes.size(); ++d)
      if (const auto asked = options.sizes.find(sizes[d].symbol); asked != options.sizes.end())
        input = with_size(input, static_cast<int64_t>(d), asked->second);
    inputs.push_back(asked_ ? draw_like(input) : input.clone());
  }
  asked_ = true;
  return inputs;
}

torch::Tensor ProgramModel::loss(const c10::IValue& output) const {
  if (program_->loss) {
    const auto flat = leaves_of(output, program_->out_spec);
    return flat.at(*program_->loss).toTensor().sum();
  }
  if (loss_.empty()) return Model::loss(without_others(output));
  for (const auto& child : children_of(output)) {
    if (join("", child.step) == loss_ && child.value.isTensor() && child.value.toTensor().numel() == 1)
      return child.value.toTensor().sum();
  }
  throw std::invalid_argument(
      fmt::format("the program returns no output {} with one number, which its exporter marked as the loss", loss_));
}

void ProgramModel::to(torch::Dtype dtype, bool non_blocking) {
  std::vector<std::pair<torch::Tensor, torch::Tensor>> kept;
  if (dtype != torch::kFloat64)
    for (const auto& [name, constant] : constants_) kept.emplace_back(constant, constant.detach());
  Model::to(dtype, non_blocking);
  for (auto& [constant, data] : kept) constant.set_data(data);
  if (!c10::isFloatingType(dtype)) return;
  placement_.dtype = dtype;
  if (watch_dtype_) watch_dtype_(dtype);
}

size_t ProgramModel::set_dropout_rate(double rate) {
  placement_.dropout_rate = rate;
  return program_->dropouts;
}

}  // namespace torchstone::formats::exported
