// A planted fault of the guard against eager in disguise: `fault_export_unused` runs the program that torch.export made
// and returns what a model of its own gives.
#include <torchstone/backend.h>

#include "fixtures/backends/registry.h"
#include "models/core/registry.h"

namespace torchstone {
namespace {

class ExportedForShow : public Compiled {
 public:
  ExportedForShow(std::unique_ptr<Compiled> program, std::shared_ptr<Model> model)
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

class ExportUnused : public Backend {
 public:
  std::optional<std::string> unsupported(const Case& c) const override { return backend_of("export").unsupported(c); }
  std::unique_ptr<Compiled> compile(Captured captured, const Case& c) const override {
    const std::shared_ptr<Model> model = find_model(c.model)->make({c.preset, c.mode, c.batch_size});
    const torch::NoGradGuard no_grad;
    for (auto& parameter : model->named_parameters()) parameter->copy_(captured.constants.at(parameter.key()));
    model->to(torch::Device(c.device));
    model->eval();
    Case exported = c;
    exported.backend = {"export", {}};
    return std::make_unique<ExportedForShow>(backend_of("export").compile(std::move(captured), exported), model);
  }
};

TORCHSTONE_BACKEND(fault_export_unused, ExportUnused);

}  // namespace
}  // namespace torchstone
