// The interpreter of exported programs.
#include <memory>
#include <optional>
#include <vector>

#include <ATen/ScalarOps.h>
#include <ATen/autocast_mode.h>
#include <ATen/record_function.h>
#include <fmt/format.h>
#include <torch/torch.h>

#include "models/formats/exported/pt2_program.h"
#include "models/formats/model_file.h"
#include "models/formats/python_place.h"

namespace torchstone::formats::exported {
namespace {

using c10::IValue;
using Stack = std::vector<IValue>;

/// Sets grad mode or autocast for a region, and restores it on destruction.
class Region {
 public:
  explicit Region(bool grad_mode) : grad_(std::in_place, grad_mode) {}
  Region(c10::DeviceType device, std::optional<c10::ScalarType> dtype, bool on, bool cache)
      : device_(device),
        on_(at::autocast::is_autocast_enabled(device)),
        cache_(at::autocast::is_autocast_cache_enabled()),
        dtype_(at::autocast::get_autocast_dtype(device)) {
    at::autocast::set_autocast_enabled(device, on);
    if (dtype) at::autocast::set_autocast_dtype(device, *dtype);
    at::autocast::set_autocast_cache_enabled(cache && cache_);
    at::autocast::increment_nesting();
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() {
    if (grad_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, on_);
    at::autocast::set_autocast_dtype(device_, dtype_);
    at::autocast::set_autocast_cache_enabled(cache_);
  }

 private:
  std::optional<c10::AutoGradMode> grad_;
  c10::DeviceType device_ = c10::kCPU;
  bool on_ = false, cache_ = false;
  c10::ScalarType dtype_ = c10::kFloat;
};

/// The open regions. They end in reverse order, also when a step throws.
struct Regions {
  std::vector<std::unique_ptr<Region>> open;
  ~Regions() {
    while (!open.empty()) open.pop_back();
  }
};

/// One run of a program, with the values of its slots.
class Run {
 public:
  Run(const Program& program, const Placement& placement)
      : placement_(placement), values_(static_cast<size_t>(program.slots)) {}

  IValue& value(int slot) { return values_[static_cast<size_t>(slot)]; }

  IValue of(const Argument& argument) {
    switch (argument.kind) {
      case Argument::Kind::device:
        return placement_.device;
      case Argument::Kind::dtype:
        return static_cast<int64_t>(placement_.dtype);
      case Argument::Kind::dropout_rate:
        return placement_.dropout_rate ? IValue(*placement_.dropout_rate) : argument.constant;
      case Argument::Kind::constant:
        return converted(argument.constant, argument.as);
      case Argument::Kind::slot:
        return converted(value(argument.slot), argument.as);
      case Argument::Kind::list:
        break;
    }
    c10::impl::GenericList list(argument.element);
    for (const auto& item : argument.items) list.push_back(of(item));
    return list;
  }

  void run(const Step& step) {
    switch (step.action) {
      case Step::Action::call:
      case Step::Action::number:
        stack_.clear();
        for (const auto& argument : step.arguments) stack_.push_back(of(argument));
        if (step.action == Step::Action::call)
          step.op->callBoxed(&stack_);
        else
          stack_ = {step.number(stack_)};
        store(step);
        break;
      case Step::Action::detach: {
        IValue& result = value(step.results[0].slot) = of(step.arguments[0]);
        if (placement_.training && result.isTensor()) result = result.toTensor().detach();
        break;
      }
      case Step::Action::enter_grad_mode:
        regions_.open.push_back(std::make_unique<Region>(step.arguments[0].constant.toBool()));
        break;
      case Step::Action::enter_autocast:
        regions_.open.push_back(autocast_of(step));
        break;
      case Step::Action::leave:
        regions_.open.pop_back();
    }
    for (const int slot : step.last_uses) value(slot) = IValue();
  }

 private:
  static IValue converted(const IValue& value, Argument::As as) {
    if (as == Argument::As::number && value.isInt()) return static_cast<double>(value.toInt());
    if (as != Argument::As::tensor || !value.isScalar()) return value;
    auto tensor = at::scalar_to_tensor(value.toScalar());
    tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
    return tensor;
  }

  std::unique_ptr<Region> autocast_of(const Step& step) {
    const auto& arguments = step.arguments;
    const auto& dtype = arguments[1].constant;
    return std::make_unique<Region>(
        placement_.device.type(),
        dtype.isInt() ? std::optional(static_cast<c10::ScalarType>(dtype.toInt())) : std::nullopt,
        arguments[2].constant.toBool(), !arguments[3].constant.isBool() || arguments[3].constant.toBool());
  }

  void store(const Step& step) {
    for (size_t i = 0; i < step.results.size(); ++i) {
      const Result& result = step.results[i];
      if (!result.list) {
        if (result.slot >= 0) value(result.slot) = std::move(stack_.at(i));
        continue;
      }
      const auto elements = stack_.at(i).toListRef();
      if (elements.size() != result.elements.size())
        throw std::invalid_argument(fmt::format("the operator returned {} tensors, but {} when the model was exported",
                                                elements.size(), result.elements.size()));
      for (size_t n = 0; n < elements.size(); ++n) value(result.elements[n]) = elements[n];
    }
  }

  Placement placement_;
  std::vector<IValue> values_;
  Stack stack_;
  Regions regions_;
};

}  // namespace

std::vector<IValue> run_program(const Program& program, const std::vector<IValue>& inputs, const Placement& placement) {
  std::string name;  // outlives the scope that it names
  at::RecordFunction scope(at::RecordScope::USER_SCOPE);
  if (scope.isActive()) {
    name = fmt::format("{}{}", scope_of_run, program.location);
    scope.before(std::string_view(name));
  }
  Run run(program, placement);
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    if (program.inputs[i].slot >= 0) run.value(program.inputs[i].slot) = inputs.at(i);
  }
  for (const auto& step : program.steps) {
    const TracedPlace place(step.module, step.source);
    with_context(step.place, [&] { run.run(step); });
  }
  std::vector<IValue> outputs;
  for (const auto& output : program.outputs) outputs.push_back(run.of(output));
  const torch::NoGradGuard no_grad;
  for (const auto& mutation : program.mutations)
    run.value(mutation.target).toTensor().copy_(run.of(mutation.value).toTensor().detach());
  return outputs;
}

}  // namespace torchstone::formats::exported
