#include "models/formats/script_inputs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include "models/core/tree.h"
#include "models/formats/model_file.h"
#include "models/formats/pickle/pickle.h"

namespace torchstone::formats {
namespace {

namespace jit = torch::jit;

/// Returns the operator in "Unknown builtin op: torchvision::nms."; empty for any other error.
std::string unknown_operator(const std::string& message) {
  constexpr std::string_view start = "Unknown builtin op: ";
  const size_t begin = message.find(start);
  if (begin == std::string::npos) return "";
  const std::string rest = message.substr(begin + start.size());
  const size_t end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:");
  return rest.substr(0, end);
}

c10::TypePtr without_none(const c10::TypePtr& type) {
  const auto optional = type->cast<c10::OptionalType>();
  return optional ? optional->getElementType() : type;
}

std::string names_of(const std::vector<c10::Argument>& arguments) {
  std::vector<std::string> names;
  for (size_t i = 1; i < arguments.size(); ++i) names.push_back(arguments[i].name());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Returns the value of an argument of `forward`: the given one, with integers converted for a float, or the default.
c10::IValue value_for(const c10::Argument& argument, const c10::IValue* given, size_t index) {
  if (given == nullptr) {
    if (argument.default_value()) return *argument.default_value();
    throw std::invalid_argument(fmt::format("there is no element [{}] for the argument {} of forward ({}{})", index,
                                            argument.name(), argument.type()->repr_str(),
                                            argument.type()->cast<c10::OptionalType>() ? "; None is possible" : ""));
  }
  if (given->isInt() && without_none(argument.type())->kind() == c10::TypeKind::FloatType)
    return static_cast<double>(given->toInt());
  if (!given->type()->isSubtypeOf(*argument.type()))
    throw std::invalid_argument(fmt::format("element [{}] is {}, but the argument {} of forward is {}", index,
                                            describe(*given), argument.name(), argument.type()->repr_str()));
  return *given;
}

}  // namespace

jit::Module load_script(const std::string& path) {
  const std::string expected = "a TorchScript module as torch.jit.save writes it";
  if (!std::filesystem::is_regular_file(path)) refuse(path, "no such file");
  std::ifstream stream(path, std::ios::binary);
  std::string start(4, '\0');
  if (!stream.read(start.data(), 4) || start != "PK\3\4") refuse(path, "not a zip archive; expected " + expected);
  try {
    caffe2::serialize::PyTorchStreamReader archive(path);
    require_possible_sizes(archive, std::filesystem::file_size(path));
    auto script = jit::load(path, torch::kCPU);
    if (!script.find_method("forward"))
      throw std::invalid_argument("the module has no method forward (expected one: the program that is judged)");
    return script;
  } catch (const std::invalid_argument& error) {
    refuse(path, error.what());
  } catch (const std::exception& error) {
    if (const auto name = unknown_operator(error.what()); !name.empty())
      refuse(path, fmt::format("needs the operator {}, which LibTorch lacks: --torchstone_library=FILE.so loads "
                               "a library of operators",
                               name));
    refuse(path, fmt::format("expected {}, not a state_dict, a pickled model or a truncated file ({})", expected,
                             first_line(error)));
  }
}

std::vector<c10::IValue> load_inputs(const std::string& path) {
  const auto value = read_pt(path);
  if (!value.isTensor() && !value.isTuple() && !value.isList())
    refuse(path, fmt::format("holds a {}, expected a list or tuple of tensors", describe(value)));
  std::vector<c10::IValue> inputs;
  for (const auto& element : value.isTensor() ? std::vector<Child>{{"", value}} : children_of(value)) {
    const c10::IValue& input = element.value;
    if (!input.isTensor() && !input.isNone() && !input.isScalar() && !input.isString())
      refuse(path, fmt::format("element {} is {}, expected a tensor, None, a number or a string", element.step,
                               describe(input)));
    inputs.push_back(input);
  }
  if (std::ranges::none_of(inputs, [](const c10::IValue& input) { return input.isTensor(); }))
    refuse(path, "holds no tensor");
  return inputs;
}

void fix_arguments(const jit::Module& module, const std::vector<c10::IValue>& arguments) {
  auto& function = jit::toGraphFunction(module.get_method("forward").function());
  const c10::FunctionSchema schema = function.getSchema();
  const auto& expected = schema.arguments();  // starts with the module
  if (arguments.size() + 1 > expected.size())
    throw std::invalid_argument(fmt::format("{} elements, but forward takes {}: {}", arguments.size(),
                                            expected.size() - 1, names_of(expected)));
  auto& graph = *function.graph();
  const jit::WithInsertPoint start(graph.block()->nodes().front());
  std::vector<c10::Argument> kept{expected[0]};
  for (size_t i = 1, input = 1; i < expected.size(); ++i) {
    const auto value = value_for(expected[i], i <= arguments.size() ? &arguments[i - 1] : nullptr, i - 1);
    jit::Value* taken = graph.inputs()[input];
    if (value.isTensor()) {
      const auto type = without_none(taken->type());
      taken->setType(type);  // decides "is not None"
      kept.emplace_back(expected[i].name(), type);
      ++input;
    } else {
      taken->replaceAllUsesWith(graph.insertConstant(value));
      graph.eraseInput(input);
    }
  }
  function.setSchema(schema.cloneWithArguments(std::move(kept)));
  function.clear_optimized_graphs();
}

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
      throw std::invalid_argument(fmt::format("input {} has the sizes {}, expected the first dimension {}",
                                              changed.size(), fmt::streamed(input.sizes()), *of_file));
    changed.push_back(with_size(input, 0, samples));
  }
  if (!of_file) throw std::invalid_argument("no input has a dimension");
  return changed;
}

std::string why_not_scaled(const c10::IValue& recorded_output, int64_t recorded, const c10::IValue& requested_output,
                           int64_t requested) {
  const auto before = flatten(recorded_output), after = flatten(requested_output);
  bool scaled = false;
  for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (before[i].sizes() == after[i].sizes()) continue;
    std::vector<int64_t> expected = before[i].sizes().vec();
    if (!expected.empty()) expected[0] = expected[0] * requested / recorded;
    if (after[i].sizes() != at::IntArrayRef(expected))
      return fmt::format("output {} has the sizes {} with {} samples and {} with {}", i,
                         fmt::streamed(before[i].sizes()), recorded, fmt::streamed(after[i].sizes()), requested);
    scaled = true;
  }
  if (before.size() != after.size())
    return fmt::format("{} outputs with {} samples and {} with {}", before.size(), recorded, after.size(), requested);
  return scaled ? ""
                : fmt::format("no output depends on the number of samples: output 0 stays {}",
                              before.empty() ? "empty" : fmt::format("{}", fmt::streamed(before[0].sizes())));
}

torch::Tensor draw_like(const torch::Tensor& example) {
  if (example.numel() == 0) return example.clone();
  if (example.is_floating_point() && example.isfinite().all().item<bool>()) {
    const auto values = example.to(torch::kDouble);
    const double mean = values.mean().item<double>();
    const double spread = (values - mean).square().mean().sqrt().item<double>();
    const double deviation = spread > 0 ? spread : mean == 0 ? 1 : std::abs(mean);
    return (mean + torch::randn_like(values) * deviation).to(example.scalar_type());
  }
  return example.flatten().index_select(0, torch::randperm(example.numel())).view(example.sizes());
}

torch::Tensor with_size(const torch::Tensor& example, int64_t dimension, int64_t size) {
  return example.index_select(dimension, torch::arange(size).remainder(example.size(dimension)));
}

}  // namespace torchstone::formats
