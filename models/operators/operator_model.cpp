#include "models/operators/operator_model.h"

#include <map>

#include <fmt/format.h>

#include "models/operators/operator_call.h"

namespace torchstone::operators {
namespace {

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

ModelInfo operator_model_info(const std::string& name, const LoggedInput& input, size_t index, OperatorLayout layout) {
  ModelInfo info;
  info.name = fmt::format("{}.{}{}", name, index, layout == OperatorLayout::channels_last ? "_channels_last" : "");
  info.family = name;
  info.suites = {"operators"};
  info.train_batch = info.eval_batch = 1;
  info.fixed_batch = true;
  info.not_trained =
      "operators of a log are run forward alone, as by upstream's operatorbench: no input has a gradient";
  info.make = [name, input, layout](const ModelOptions&) -> std::shared_ptr<Model> {
    return std::make_shared<OperatorModel>(name, input, layout);
  };
  info.facts = [model = info.name] {
    const OperatorFacts& facts = all_facts().at(model);
    return ModelFacts{{{"operator", facts.name}, {"arguments", facts.arguments}, {"logged_at", facts.origin}},
                      {{"logged_calls", static_cast<double>(facts.count)}}};
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
