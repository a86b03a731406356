#include "models/operators/operator_call.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <ATen/TracerMode.h>
#include <fmt/format.h>
#include <torch/csrc/jit/frontend/tracer.h>

namespace torchstone::operators {

namespace tracer = torch::jit::tracer;

torch::jit::Value* traced_value(torch::jit::Graph& graph, const c10::IValue& value) {
  if (value.isTensor()) return tracer::getValueTrace(value);
  if (!value.isTensorList()) return graph.insertConstant(value);
  std::vector<torch::jit::Value*> items;
  for (const at::Tensor& tensor : value.toTensorList()) items.push_back(tracer::getValueTrace(tensor));
  return graph.insertNode(graph.createList(c10::TensorType::get(), items))->output();
}

namespace {

std::optional<c10::OperatorHandle> lookup(const std::string& name) {
  const size_t first = name.find('.'), last = name.rfind('.');
  const std::string space = name.substr(0, first), base = name.substr(first + 1, last - first - 1);
  std::string overload = name.substr(last + 1);
  if (overload == "default") overload.clear();
  return c10::Dispatcher::singleton().findSchema({space + "::" + base, overload});
}

const Literal* find_named(const LoggedInput& input, const std::string& name) {
  for (const auto& [key, value] : input.named.entries)
    if (key == name) return &value;
  return nullptr;
}

OperatorCall bind(const std::string& name, const LoggedInput& input) {
  const auto found = lookup(name);
  if (!found) throw std::invalid_argument(fmt::format("operator {} does not exist in torch {}", name, TORCH_VERSION));
  OperatorCall call{*found, {}, {}};
  const auto& schema = call.operation.schema();
  size_t positional = 0, named = 0;
  for (const auto& argument : schema.arguments()) {
    const bool is_positional = !argument.kwarg_only() && positional < input.positional.items.size();
    const Literal* value = is_positional ? &input.positional.items[positional++] : find_named(input, argument.name());
    if (!is_positional && value) ++named;
    if (!value && !argument.default_value())
      throw std::invalid_argument(fmt::format("the argument {} is missing ({})", argument.name(), name));
    try {
      call.arguments.push_back(value ? bind_literal(*value, argument.real_type(), argument.N(), call.tensors)
                                     : *argument.default_value());
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("argument {} of {}: {}", argument.name(), name, error.what()));
    }
  }
  if (positional < input.positional.items.size() || named < input.named.entries.size())
    throw std::invalid_argument(fmt::format("{} positional and {} named arguments are more than {} takes",
                                            input.positional.items.size(), input.named.entries.size(), name));
  return call;
}

/// Puts real tensors, dtype and device into the bound arguments.
class Filler {
 public:
  Filler(const Tensors& tensors, torch::ScalarType dtype, torch::Device device)
      : tensors_(tensors), dtype_(dtype), device_(device) {}

  c10::IValue fill(const c10::IValue& value, const c10::TypePtr& type) {
    if (value.isNone()) return value;
    if (type->kind() == c10::TypeKind::OptionalType)
      return fill(value, type->expectRef<c10::OptionalType>().getElementType());
    if (value.isTensor()) return value.toTensor().defined() ? value : c10::IValue(tensors_.at(next_++));
    if (type->kind() == c10::TypeKind::ScalarTypeType && at::isFloatingType(value.toScalarType()))
      return static_cast<int64_t>(dtype_);
    if (type->kind() == c10::TypeKind::DeviceObjType) return device_;
    if (type->kind() != c10::TypeKind::ListType) return value;
    const auto& element = type->expectRef<c10::ListType>().getElementType();
    c10::impl::GenericList filled(plain_element(element));
    for (const auto& item : value.toListRef()) filled.push_back(fill(item, element));
    return filled;
  }

 private:
  const Tensors& tensors_;
  torch::ScalarType dtype_;
  torch::Device device_;
  size_t next_ = 0;
};

/// Returns the same numbers in channels-last order where the tensor has four or five dimensions.
torch::Tensor in_channels_last(const torch::Tensor& tensor) {
  if (tensor.dim() == 4) return tensor.contiguous(at::MemoryFormat::ChannelsLast);
  return tensor.dim() == 5 ? tensor.contiguous(at::MemoryFormat::ChannelsLast3d) : tensor;
}

std::map<std::string, OperatorFacts>& all_facts() {
  static std::map<std::string, OperatorFacts> facts;
  return facts;
}

class OperatorModel : public Model {
 public:
  OperatorModel(std::string name, LoggedInput input, OperatorLayout layout)
      : name_(std::move(name)), input_(std::move(input)), layout_(layout) {}

  c10::IValue forward(const Tensors& inputs) override { return call_operator(call(), inputs, dtype_, device_); }

  Tensors example_inputs(const ModelOptions&) const override {
    Tensors inputs;
    for (const auto& spec : call().tensors) {
      const auto tensor = random_tensor(spec);
      inputs.push_back(layout_ == OperatorLayout::channels_last ? in_channels_last(tensor) : tensor);
    }
    return inputs;
  }

  void to(torch::Dtype dtype, bool non_blocking) override {
    dtype_ = dtype;
    Model::to(dtype, non_blocking);
  }
  void to(torch::Device device, bool non_blocking) override {
    device_ = device;
    Model::to(device, non_blocking);
  }
  using Model::to;

 private:
  const OperatorCall& call() const {
    if (!call_) call_ = bind_call(name_, input_);
    return *call_;
  }

  std::string name_;
  LoggedInput input_;
  OperatorLayout layout_;
  torch::Dtype dtype_ = torch::kFloat32;
  torch::Device device_ = torch::kCPU;
  mutable std::optional<OperatorCall> call_;
};

}  // namespace

void call_boxed(const c10::OperatorHandle& operation, torch::jit::Stack& stack) {
  const bool masked = std::ranges::any_of(stack, [](const c10::IValue& value) { return value.isBoolList(); });
  if (!masked || !tracer::isTracing()) return operation.callBoxed(stack);
  auto& graph = *tracer::getTracingState()->graph;
  std::vector<torch::jit::Value*> arguments;
  for (const auto& value : stack) arguments.push_back(traced_value(graph, value));
  {
    const at::tracer::impl::NoTracerDispatchMode untraced;
    operation.callBoxed(stack);
  }
  const auto kind = c10::Symbol::fromQualString(operation.schema().name());
  auto* node = graph.insertNode(graph.create(kind, arguments, stack.size()));
  for (size_t i = 0; i < stack.size(); ++i) {
    if (stack[i].isTensor() && stack[i].toTensor().defined()) tracer::setValueTrace(stack[i], node->output(i));
  }
}

bool has_kernel(const std::string& name, torch::Device device) {
  const auto found = lookup(name);
  return !found || found->hasComputedKernelForDispatchKey(c10::computeDispatchKey(std::nullopt, std::nullopt, device));
}

OperatorCall bind_call(const std::string& name, const LoggedInput& input) {
  try {
    return bind(name, input);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}:{}: {}", input.file, input.line, error.what()));
  }
}

c10::IValue call_operator(const OperatorCall& call, const Tensors& tensors, torch::ScalarType dtype,
                          torch::Device device) {
  Filler filler(tensors, dtype, device);
  torch::jit::Stack stack;
  const auto& arguments = call.operation.schema().arguments();
  for (size_t i = 0; i < arguments.size(); ++i)
    stack.push_back(filler.fill(call.arguments[i], arguments[i].real_type()));
  call_boxed(call.operation, stack);
  if (stack.size() == 1) return stack.front();
  return c10::ivalue::Tuple::create(std::move(stack));
}

ModelInfo operator_model_info(const std::string& name, const LoggedInput& input, size_t index, OperatorLayout layout) {
  ModelInfo info;
  info.name = fmt::format("{}.{}{}", name, index, layout == OperatorLayout::channels_last ? "_channels_last" : "");
  info.family = name;
  info.suites = {"operators"};
  info.train_batch = info.eval_batch = 1;
  info.fixed_batch = true;
  info.not_trained = "operators of a log run forward only, as in upstream's operatorbench: no input has a gradient";
  info.make = [name, input, layout](const ModelOptions&) -> std::shared_ptr<Model> {
    return std::make_shared<OperatorModel>(name, input, layout);
  };
  info.facts = [model = info.name] {
    const OperatorFacts& facts = all_facts().at(model);
    return ModelFacts{.notes = {{"arguments", facts.arguments}, {"logged_at", facts.logged_at}},
                      .metrics = {{"logged_calls", static_cast<double>(facts.count)}},
                      .operator_name = facts.name};
  };
  info.unsupported = [name](const std::string& device) -> std::optional<std::string> {
    if (has_kernel(name, torch::Device(device))) return std::nullopt;
    return fmt::format("{} has no kernel for {}", name, device);
  };
  all_facts()[info.name] = {name, fmt::format("({}, {})", to_text(input.positional), to_text(input.named)), input.count,
                            fmt::format("{}:{}", input.file, input.line)};
  return info;
}

const OperatorFacts* operator_facts(const std::string& model) {
  const auto found = all_facts().find(model);
  return found == all_facts().end() ? nullptr : &found->second;
}

}  // namespace torchstone::operators
