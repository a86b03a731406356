// Planted faults, model side: each model is a small linear net that misbehaves in one way.
#include <chrono>
#include <csignal>
#include <functional>
#include <stdexcept>
#include <thread>

#include <torch/csrc/jit/frontend/tracer.h>
#include <torchstone/model.h>

namespace torchstone::models_faults {
namespace {

using Forward = std::function<c10::IValue(torch::nn::Linear&, const torch::Tensor&)>;

class FaultyModel : public Model {
 public:
  explicit FaultyModel(Forward forward) : forward_(std::move(forward)) {
    linear_ = register_module("linear", torch::nn::Linear(8, 8));
  }
  c10::IValue forward(const Tensors& inputs) override { return forward_(linear_, inputs.at(0)); }
  Tensors example_inputs(const ModelOptions& options) const override { return {torch::randn({options.batch_size, 8})}; }

 private:
  Forward forward_;
  torch::nn::Linear linear_{nullptr};
};

bool register_faulty(const char* name, Forward forward) {
  return register_model(ModelInfo{.name = name,
                                  .family = "fault",
                                  .suites = {"faults"},
                                  .train_batch = 4,
                                  .eval_batch = 4,
                                  .make = [forward](const ModelOptions&) -> std::shared_ptr<Model> {
                                    return std::make_shared<FaultyModel>(forward);
                                  }},
                        __FILE__, __LINE__);
}

c10::IValue crash(torch::nn::Linear& linear, const torch::Tensor& x) {
  raise(SIGSEGV);
  return linear(x);
}

c10::IValue hang(torch::nn::Linear& linear, const torch::Tensor& x) {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  return linear(x);
}

c10::IValue allocate(torch::nn::Linear&, const torch::Tensor&) {
  Tensors kept;
  for (;;) kept.push_back(torch::ones({16, 1024, 1024}));
}

/// The branch that the trace takes depends on the sign of the data.
c10::IValue branch(torch::nn::Linear& linear, const torch::Tensor& x) {
  const auto y = linear(x);
  return x.flatten()[0].item<float>() > 0 ? y : y * 2;
}

/// Eager is slow by something that no compiler sees: a compiled program is a hundred times faster.
c10::IValue wait(torch::nn::Linear& linear, const torch::Tensor& x) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return linear(x);
}

/// Memory for 64 of the batch sizes that are tried: the system's killer ends large ones, the allocator refuses others.
c10::IValue hold_few(torch::nn::Linear& linear, const torch::Tensor& x) {
  if (x.size(0) > 600) raise(SIGKILL);
  TORCH_CHECK_WITH(OutOfMemoryError, x.size(0) <= 100, "planted: out of memory");
  return linear(x);
}

c10::IValue random_without_seed(torch::nn::Linear& linear, const torch::Tensor& x) {
  static int call = 0;
  return linear(x) + static_cast<double>(++call);
}

[[maybe_unused]] const bool registered =
    register_faulty(
        "healthy",
        [](torch::nn::Linear& linear, const torch::Tensor& x) -> c10::IValue { return linear(x).relu() + x; }) &&
    // Without a sum, whose order may depend on the size of the batch.
    register_faulty(
        "elementwise",
        [](torch::nn::Linear& linear, const torch::Tensor& x) -> c10::IValue { return x * linear->bias; }) &&
    // A converted program of it has nothing to run.
    register_faulty("unchanged", [](torch::nn::Linear&, const torch::Tensor& x) -> c10::IValue { return x; }) &&
    register_faulty("two_outputs",
                    [](torch::nn::Linear& linear, const torch::Tensor& x) -> c10::IValue {
                      return c10::ivalue::Tuple::create({linear(x), torch::tanh(x)});
                    }) &&
    register_faulty("zero_output",
                    [](torch::nn::Linear& linear, const torch::Tensor& x) -> c10::IValue { return linear(x) * 0; }) &&
    register_faulty("throws",
                    [](torch::nn::Linear&, const torch::Tensor&) -> c10::IValue {
                      throw std::runtime_error("planted: forward throws");
                    }) &&
    register_faulty("segfaults", crash) && register_faulty("hangs", hang) && register_faulty("allocates", allocate) &&
    register_faulty("branches", branch) && register_faulty("not_repeatable", random_without_seed) &&
    register_faulty("waits", wait) && register_faulty("holds_few", hold_few);

/// Healthy: two layers of one shape, statistics and dropout, for the faults of a training step.
class Trainable : public Model {
 public:
  Trainable() {
    first_ = register_module("first", torch::nn::Linear(8, 8));
    norm_ = register_module("norm", torch::nn::BatchNorm1d(8));
    dropout_ = register_module("dropout", torch::nn::Dropout(0.5));
    second_ = register_module("second", torch::nn::Linear(8, 8));
  }
  c10::IValue forward(const Tensors& inputs) override {
    return second_(dropout_(norm_(first_(inputs.at(0))).tanh())).square();
  }
  Tensors example_inputs(const ModelOptions& options) const override { return {torch::randn({options.batch_size, 8})}; }

 private:
  torch::nn::Linear first_{nullptr}, second_{nullptr};
  torch::nn::BatchNorm1d norm_{nullptr};
  torch::nn::Dropout dropout_{nullptr};
};

TORCHSTONE_MODEL(
    trainable, .family = "fault", .suites = {"faults"}, .train_batch = 4, .eval_batch = 4,
    .make = [](const ModelOptions&) -> std::shared_ptr<Model> { return std::make_shared<Trainable>(); });

/// Its factory throws.
[[maybe_unused]] const bool unloadable = register_model(
    ModelInfo{
        .name = "not_loadable",
        .family = "fault",
        .suites = {"faults"},
        .train_batch = 4,
        .eval_batch = 4,
        .make = [](const ModelOptions&) -> std::shared_ptr<Model> { throw std::runtime_error("planted: no weights"); }},
    __FILE__, __LINE__);

/// Healthy: a linear whose sizes can have weights of four bits, and one whose sizes cannot.
class TwoWidths : public Model {
 public:
  TwoWidths() {
    first_ = register_module("first", torch::nn::Linear(64, 32));
    second_ = register_module("second", torch::nn::Linear(32, 10));
  }
  c10::IValue forward(const Tensors& inputs) override { return second_(first_(inputs.at(0)).relu()); }
  Tensors example_inputs(const ModelOptions& options) const override {
    return {torch::randn({options.batch_size, 64})};
  }

 private:
  torch::nn::Linear first_{nullptr}, second_{nullptr};
};

TORCHSTONE_MODEL(
    two_widths, .family = "fault", .suites = {"faults"}, .train_batch = 4, .eval_batch = 4,
    .make = [](const ModelOptions&) -> std::shared_ptr<Model> { return std::make_shared<TwoWidths>(); });

/// Runs eagerly, but the tracer meets an exception.
class Untraceable : public Model {
 public:
  Untraceable() { linear_ = register_module("linear", torch::nn::Linear(8, 8)); }
  c10::IValue forward(const Tensors& inputs) override {
    if (torch::jit::tracer::isTracing()) throw std::runtime_error("planted: cannot be traced");
    return linear_(inputs.at(0));
  }
  Tensors example_inputs(const ModelOptions& options) const override { return {torch::randn({options.batch_size, 8})}; }

 private:
  torch::nn::Linear linear_{nullptr};
};

TORCHSTONE_MODEL(
    untraceable, .family = "fault", .suites = {"faults"}, .train_batch = 4, .eval_batch = 4,
    .make = [](const ModelOptions&) -> std::shared_ptr<Model> { return std::make_shared<Untraceable>(); });

}  // namespace
}  // namespace torchstone::models_faults
