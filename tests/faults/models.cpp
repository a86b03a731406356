// Planted faults in models. Each model is a small linear net that misbehaves in one way.
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

/// Branches on the sign of the data, so a trace records only one of the two branches.
c10::IValue branch(torch::nn::Linear& linear, const torch::Tensor& x) {
  const auto y = linear(x);
  return x.flatten()[0].item<float>() > 0 ? y : y * 2;
}

/// Sleeps in forward. A compiled program does not contain the sleep and is about a hundred times faster.
c10::IValue wait(torch::nn::Linear& linear, const torch::Tensor& x) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return linear(x);
}

/// Simulates limited memory: among the batch sizes tried (powers of two), 64 is the largest that fits. SIGKILL ends the
/// largest ones, as the kernel's OOM killer would. The others throw OutOfMemoryError, as the allocator would.
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
    // Has no sum, because the order of a summation may depend on the batch size.
    register_faulty(
        "elementwise",
        [](torch::nn::Linear& linear, const torch::Tensor& x) -> c10::IValue { return x * linear->bias; }) &&
    // Returns its input, so a converted program has no operator to run.
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

/// A healthy model for the faults of a training step: two layers of the same shape, batch norm and dropout.
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

/// A model whose factory throws.
[[maybe_unused]] const bool unloadable = register_model(
    ModelInfo{
        .name = "not_loadable",
        .family = "fault",
        .suites = {"faults"},
        .train_batch = 4,
        .eval_batch = 4,
        .make = [](const ModelOptions&) -> std::shared_ptr<Model> { throw std::runtime_error("planted: no weights"); }},
    __FILE__, __LINE__);

/// A healthy model with two linear layers. Only the first has sizes that four-bit quantisation supports.
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

/// Runs eagerly, but throws while it is traced.
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
