// Planted faults in training steps. Each backend trains with TorchScript and spoils one thing before or after a call.
// One backend lets eager compute the gradients.
#include <mutex>

#include <ATen/Context.h>

#include "fixtures/backends/backend_registry.h"
#include "fixtures/capture/eager_run.h"
#include "fixtures/core/case.h"
#include "models/core/model_registry.h"
#include "tests/own_backward.h"

namespace torchstone::training_faults {
namespace {

/// The tensors of the model that a compiled step reads and writes.
struct State {
  std::map<std::string, torch::Tensor> tensors;
  std::map<std::string, torch::Tensor> captured;  ///< their values when the step was compiled
  std::map<std::string, torch::Tensor> called;    ///< their values when the current call began

  torch::Tensor& gradient(const std::string& name) const { return tensors.at(name).mutable_grad(); }
  void put_back(const std::map<std::string, torch::Tensor>& values, const std::vector<std::string>& names) const {
    for (const auto& name : names) torch::Tensor(tensors.at(name)).copy_(values.at(name));
  }
};

std::map<std::string, torch::Tensor> values_of(const std::map<std::string, torch::Tensor>& tensors) {
  std::map<std::string, torch::Tensor> values;
  for (const auto& [name, tensor] : tensors) values[name] = tensor.detach().clone();
  return values;
}

using Spoil = std::function<void(const State&)>;
const Spoil nothing = [](const State&) {};

class SpoiledStep : public Compiled {
 public:
  SpoiledStep(std::unique_ptr<Compiled> step, State state, Spoil before, Spoil after)
      : step_(std::move(step)), state_(std::move(state)), before_(std::move(before)), after_(std::move(after)) {}

 protected:
  c10::IValue execute(const Tensors& inputs) override {
    spoil(before_);
    state_.called = values_of(state_.tensors);
    auto loss = step_->run(inputs);
    spoil(after_);
    return loss;
  }

 private:
  void spoil(const Spoil& how) const {
    const torch::NoGradGuard no_grad;
    how(state_);
  }

  std::unique_ptr<Compiled> step_;
  State state_;
  Spoil before_, after_;
};

class SpoiledTraining : public Backend {
 public:
  SpoiledTraining(Spoil before, Spoil after) : before_(std::move(before)), after_(std::move(after)) {}
  std::optional<std::string> unsupported(const Case& c) const override {
    if (c.mode != Mode::training) return "a fault of training";
    return std::nullopt;
  }
  std::unique_ptr<Compiled> compile(Captured program, const Case& c) const override {
    const State state{program.constants, values_of(program.constants), {}};
    Case plain = c;
    plain.backend = {"torchscript", {}};
    return std::make_unique<SpoiledStep>(backend_named("torchscript").compile(std::move(program), plain), state,
                                         before_, after_);
  }

 private:
  Spoil before_, after_;
};

/// Takes the loss from TorchScript, but the gradients from an eager copy of the model. The copy starts from the same
/// generator state, so it uses the same random numbers.
class EagersGradients : public Compiled {
 public:
  EagersGradients(std::unique_ptr<Compiled> step, std::shared_ptr<Model> model, const Captured& captured)
      : step_(std::move(step)), model_(std::move(model)), constants_(captured.constants), mode_(captured.mode) {}

 protected:
  c10::IValue execute(const Tensors& inputs) override {
    auto generator = at::globalContext().defaultGenerator(inputs.at(0).device());
    const auto state = [&] {
      const std::lock_guard lock(generator.mutex());
      return generator.get_state();
    }();
    const auto loss = step_->loss_of(inputs).detach();
    call_in_backward([&] {
      {
        const std::lock_guard lock(generator.mutex());
        generator.set_state(state);
      }
      add_gradients(inputs);
    });
    return loss;
  }

 private:
  void add_gradients(const Tensors& inputs) {
    for (auto& parameter : model_->named_parameters()) {
      const torch::NoGradGuard no_grad;
      parameter->copy_(constants_.at(parameter.key()));
      parameter->mutable_grad().reset();
    }
    eager_call(*model_, inputs, mode_);
    for (const auto& parameter : model_->named_parameters())
      constants_.at(parameter.key()).mutable_grad() = parameter->grad();
  }

  std::unique_ptr<Compiled> step_;
  std::shared_ptr<Model> model_;
  std::map<std::string, torch::Tensor> constants_;  ///< the parameters of the case's model
  RunMode mode_;
};

class EagerBackward : public SpoiledTraining {
 public:
  EagerBackward() : SpoiledTraining(nothing, nothing) {}
  std::unique_ptr<Compiled> compile(Captured program, const Case& c) const override {
    const std::shared_ptr<Model> model = find_model(c.model)->make({c.preset, c.mode, c.batch_size});
    model->to(torch::Device(c.device));
    Case plain = c;
    plain.backend = {"torchscript", {}};
    auto step = backend_named("torchscript").compile(program, plain);
    return std::make_unique<EagersGradients>(std::move(step), model, program);
  }
};

/// `fault_gradient_scaled` and `fault_gradient_scaled:factor=1.00002,of=first.weight`: scales one gradient.
class ScaledGradient : public SpoiledTraining {
 public:
  ScaledGradient() : SpoiledTraining(nothing, nothing) {}
  std::unique_ptr<Compiled> compile(Captured program, const Case& c) const override {
    const double factor = std::stod(backend_option(c.backend, "factor", "1.05"));
    const std::string of = backend_option(c.backend, "of", "second.weight");
    const SpoiledTraining scaled(nothing, [factor, of](const State& s) { s.gradient(of).mul_(factor); });
    return scaled.compile(std::move(program), c);
  }
};

bool plant(const std::string& name, const Spoil& before, const Spoil& after) {
  return register_backend(name, std::make_unique<SpoiledTraining>(before, after), __FILE__, __LINE__);
}

const std::vector<std::string> statistics{"norm.running_mean", "norm.running_var"};
const std::vector<std::string> weights{"first.weight", "norm.weight", "second.weight"};

[[maybe_unused]] const bool planted =
    plant("fault_no_training_fault", nothing, nothing) &&
    plant("fault_gradients_swapped", nothing,
          [](const State& s) { std::swap(s.gradient("first.weight"), s.gradient("second.weight")); }) &&
    plant("fault_gradient_missing", nothing, [](const State& s) { s.gradient("norm.weight").reset(); }) &&
    plant("fault_statistics", nothing, [](const State& s) { s.put_back(s.called, statistics); }) &&
    plant(
        "fault_stale_buffer", [](const State& s) { s.put_back(s.captured, statistics); }, nothing) &&
    plant(
        "fault_step_skipped", [](const State& s) { s.put_back(s.captured, weights); }, nothing) &&
    plant(
        "fault_mask", [](const State&) { torch::rand({1}); }, nothing) &&
    register_backend("fault_gradient_scaled", std::make_unique<ScaledGradient>(), __FILE__, __LINE__) &&
    register_backend("fault_eager_backward", std::make_unique<EagerBackward>(), __FILE__, __LINE__);

}  // namespace
}  // namespace torchstone::training_faults
