// Planted faults in programs with dynamic sizes. Each backend compiles with TorchScript, which bakes no size of these
// models into the program. The backend then fails at some sizes.
#include <fmt/format.h>

#include "fixtures/backends/backend_registry.h"
#include "models/core/tree.h"

namespace torchstone::dynamic_faults {
namespace {

/// Computes a backend's answer for an input [n, …] from the right one. `compiled` is the case that the program was
/// compiled for. May throw.
using Answer =
    std::function<torch::Tensor(const torch::Tensor& right, const torch::Tensor& input, const Case& compiled)>;

/// A model with inputs [n, length, 8], in which both the batch size and the length are dynamic.
class Texts : public Model {
 public:
  Texts() { linear_ = register_module("linear", torch::nn::Linear(8, 8)); }
  c10::IValue forward(const Tensors& inputs) override { return linear_(inputs.at(0)).tanh().mean(1); }
  Tensors example_inputs(const ModelOptions& options) const override {
    return {torch::randn({options.batch_size, options.size_of("length", usual), 8})};
  }
  std::vector<ModelDimension> dimensions() const override { return {{"length", usual, shortest, longest}}; }
  static constexpr int64_t usual = 16, shortest = 4, longest = 32;

 private:
  torch::nn::Linear linear_{nullptr};
};
TORCHSTONE_MODEL(
    texts, .family = "fault", .suites = {"faults"}, .train_batch = 4, .eval_batch = 4,
    .make = [](const ModelOptions&) -> std::shared_ptr<Model> { return std::make_shared<Texts>(); });

class ProgramOfSizes : public Compiled {
 public:
  ProgramOfSizes(std::unique_ptr<Compiled> program, Tensors example, Case c, Answer answer)
      : program_(std::move(program)), example_(std::move(example)), case_(std::move(c)), answer_(std::move(answer)) {
    program_->set_checked(false);
  }

 protected:
  c10::IValue execute(const Tensors& inputs) override {
    const auto& input = inputs.at(0);
    if (input.dim() != example_.at(0).dim()) throw std::invalid_argument("planted: another rank");
    if (input.scalar_type() != example_.at(0).scalar_type()) throw std::invalid_argument("planted: another dtype");
    return map_tensors(program_->run(inputs), [&](const torch::Tensor& t) { return answer_(t, input, case_); });
  }

 private:
  std::unique_ptr<Compiled> program_;
  Tensors example_;
  Case case_;
  Answer answer_;
};

class DynamicFault : public Backend {
 public:
  explicit DynamicFault(Answer answer) : answer_(std::move(answer)) {}
  std::optional<std::string> unsupported(const Case&) const override { return std::nullopt; }
  bool is_dynamic() const override { return true; }
  std::unique_ptr<Compiled> compile(Captured program, const Case& c) const override {
    Case torchscript = c;
    torchscript.backend = {"torchscript", {}};
    Tensors example = program.example;
    return std::make_unique<ProgramOfSizes>(backend_named("torchscript").compile(std::move(program), torchscript),
                                            std::move(example), c, answer_);
  }

 private:
  Answer answer_;
};

void refuse_outside(int64_t n, const Case& c) {
  if (c.dynamic != Dynamic::off && (n < c.dynamic_range.minimum || n > c.dynamic_range.maximum))
    throw std::invalid_argument(fmt::format("planted: {} is outside of {}", n, to_string(c.dynamic_range)));
}

torch::Tensor right(const torch::Tensor& answer, const torch::Tensor& input, const Case& c) {
  refuse_outside(input.size(0), c);
  return answer;
}

/// Divides a mean by the batch size at compile time, whatever the batch size of the input.
torch::Tensor baked(const torch::Tensor& answer, const torch::Tensor& input, const Case& c) {
  refuse_outside(input.size(0), c);
  return answer * (static_cast<double>(input.size(0)) / static_cast<double>(c.batch_size));
}

/// Is wrong at the maximum of the range only, like a fit that fails far from its samples.
torch::Tensor misfit(const torch::Tensor& answer, const torch::Tensor& input, const Case& c) {
  refuse_outside(input.size(0), c);
  return input.size(0) == c.dynamic_range.maximum ? answer * 1.05 : answer;
}

/// Throws for every batch size other than the one at compile time.
torch::Tensor one_size(const torch::Tensor& answer, const torch::Tensor& input, const Case& c) {
  if (input.size(0) != c.batch_size)
    throw std::invalid_argument(fmt::format("planted: compiled for {} alone", c.batch_size));
  return answer;
}

/// Answers outside its range too, where it should throw.
torch::Tensor unbounded(const torch::Tensor& answer, const torch::Tensor&, const Case&) { return answer; }

/// Answers correctly, and throws if the length or the batch size is out of range.
torch::Tensor right_length(const torch::Tensor& answer, const torch::Tensor& input, const Case& c) {
  if (input.size(1) < Texts::shortest || input.size(1) > Texts::longest)
    throw std::invalid_argument(fmt::format("planted: a length of {}", input.size(1)));
  return right(answer, input, c);
}

/// Divides a mean by the length at compile time, whatever the length of the input.
torch::Tensor baked_length(const torch::Tensor& answer, const torch::Tensor& input, const Case& c) {
  return right_length(answer, input, c) * (static_cast<double>(input.size(1)) / static_cast<double>(Texts::usual));
}

bool register_dynamic(const char* name, Answer answer) {
  return register_backend(name, std::make_unique<DynamicFault>(std::move(answer)), __FILE__, __LINE__);
}

[[maybe_unused]] const bool registered =
    register_dynamic("fault_dynamic_none", right) && register_dynamic("fault_dynamic_baked", baked) &&
    register_dynamic("fault_dynamic_misfit", misfit) && register_dynamic("fault_dynamic_one_size", one_size) &&
    register_dynamic("fault_dynamic_unbounded", unbounded) && register_dynamic("fault_dynamic_lengths", right_length) &&
    register_dynamic("fault_dynamic_baked_length", baked_length);

}  // namespace
}  // namespace torchstone::dynamic_faults
