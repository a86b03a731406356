// Planted faults in one layer. Each backend replaces the program's first linear layer with another operator and
// compiles the result with TorchScript. In training, autograd differentiates the replacement.
#include <torch/library.h>
#include <torch/script.h>

#include "fixtures/backends/backend_registry.h"

namespace torchstone::layer_faults {
namespace {

using at::Scalar;
using torch::Tensor;

/// Leaves out the last term of the sums in channel 0. A linear layer calls addmm(bias, input, weight.t(), 1, 1).
Tensor without_a_term(const Tensor& bias, const Tensor& input, const Tensor& weight, const Scalar&, const Scalar&) {
  const auto terms = torch::ones_like(weight);
  terms[-1][0].zero_();
  return torch::addmm(bias, input, weight * terms);
}

/// Accumulates the products sequentially in float16.
Tensor with_float16_sums(const Tensor& bias, const Tensor& input, const Tensor& weight, const Scalar&, const Scalar&) {
  const auto rows = input.to(torch::kFloat), columns = weight.to(torch::kFloat);
  auto sum = torch::zeros({1}, rows.options().dtype(torch::kHalf));
  for (int64_t i = 0; i < columns.size(0); ++i)
    sum = (sum + rows.select(1, i).unsqueeze(1) * columns.select(0, i)).to(torch::kHalf);
  return sum.to(input.scalar_type()) + bias;
}

TORCH_LIBRARY(torchstone_faults, library) {
  library.def("without_a_term(Tensor bias, Tensor input, Tensor weight, Scalar beta, Scalar alpha) -> Tensor",
              &without_a_term);
  library.def("with_float16_sums(Tensor bias, Tensor input, Tensor weight, Scalar beta, Scalar alpha) -> Tensor",
              &with_float16_sums);
}

/// Returns a copy of the program with this operator in place of the first linear layer. The copy shares the tensors.
torch::jit::Module with_other_linear(const torch::jit::Module& program, const std::string& name) {
  torch::jit::Module changed = program.clone(/*inplace=*/true);
  for (auto* node : changed.get_method("forward").graph()->nodes()) {
    if (node->kind() != c10::aten::addmm) continue;
    node->replaceWithNewSymbol(c10::Symbol::fromQualString(name));
    node->destroy();
    return changed;
  }
  throw CompileError("planted: the program has no linear layer");
}

class OtherLinear : public Backend {
 public:
  explicit OtherLinear(std::string name) : name_(std::move(name)) {}
  std::optional<std::string> unsupported(const Case&) const override { return std::nullopt; }
  std::unique_ptr<Compiled> compile(Captured captured, const Case& c) const override {
    captured.module = with_other_linear(captured.module, name_);
    Case plain = c;
    plain.backend = {"torchscript", {}};
    return backend_named("torchscript").compile(std::move(captured), plain);
  }

 private:
  std::string name_;
};

bool plant(const std::string& name, const std::string& by) {
  return register_backend(name, std::make_unique<OtherLinear>("torchstone_faults::" + by), __FILE__, __LINE__);
}

[[maybe_unused]] const bool planted =
    plant("fault_missing_term", "without_a_term") && plant("fault_float16_sum", "with_float16_sums");

}  // namespace
}  // namespace torchstone::layer_faults
