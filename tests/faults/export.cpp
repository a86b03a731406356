// Planted faults for the check that a backend does not secretly run eager. `fault_export_unused` and
// `fault_torchscript_unused` run the real backend's program, discard its result and return that of an eager model.
#include <torchstone/backend.h>

#include "fixtures/backends/backend_registry.h"
#include "models/core/model_registry.h"

namespace torchstone::export_faults {
namespace {

class RunsForShow : public Compiled {
 public:
  RunsForShow(std::unique_ptr<Compiled> program, std::shared_ptr<Model> model)
      : program_(std::move(program)), model_(std::move(model)) {}

 protected:
  c10::IValue execute(const Tensors& inputs) override {
    const torch::NoGradGuard no_grad;
    program_->run(inputs);
    return model_->forward(inputs);
  }

 private:
  std::unique_ptr<Compiled> program_;
  std::shared_ptr<Model> model_;
};

class Unused : public Backend {
 public:
  explicit Unused(std::string name) : name_(std::move(name)) {}
  std::optional<std::string> unsupported(const Case& c) const override { return backend_named(name_).unsupported(c); }
  std::unique_ptr<Compiled> compile(Captured captured, const Case& c) const override {
    const std::shared_ptr<Model> model = find_model(c.model)->make({c.preset, c.mode, c.batch_size});
    const torch::NoGradGuard no_grad;
    for (auto& parameter : model->named_parameters()) parameter->copy_(captured.constants.at(parameter.key()));
    model->to(torch::Device(c.device));
    model->eval();
    Case honest = c;
    honest.backend = {name_, {}};
    return std::make_unique<RunsForShow>(backend_named(name_).compile(std::move(captured), honest), model);
  }

 private:
  std::string name_;
};

[[maybe_unused]] const bool unused =
    register_backend("fault_export_unused", std::make_unique<Unused>("export"), __FILE__, __LINE__) &&
    register_backend("fault_torchscript_unused", std::make_unique<Unused>("torchscript"), __FILE__, __LINE__);

}  // namespace
}  // namespace torchstone::export_faults
