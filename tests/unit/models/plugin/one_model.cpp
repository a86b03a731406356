// Plug-in with one model, for tests of load_plugin.
#include <torchstone/model.h>

namespace {

class Doubler : public torchstone::Model {
 public:
  c10::IValue forward(const torchstone::Tensors& inputs) override { return inputs.at(0) * 2; }
  torchstone::Tensors example_inputs(const torchstone::ModelOptions& options) const override {
    return {torch::randn({options.batch_size, 3})};
  }
};

TORCHSTONE_MODEL(
    plugin_doubler, .family = "plugin", .suites = {"plugin"}, .eval_batch = 2,
    .make = [](const torchstone::ModelOptions&) -> std::shared_ptr<torchstone::Model> {
      return std::make_shared<Doubler>();
    });

}  // namespace
