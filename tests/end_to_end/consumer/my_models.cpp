// A model in ten lines, compiled against the installed package and loaded with --torchstone_plugin.
#include <models/core/model.h>
#include <models/core/registry.h>

struct TinyMlp : torchstone::Model {
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(16, 32)),
                    head = register_module("head", torch::nn::Linear(32, 4));
  c10::IValue forward(const torchstone::Tensors& inputs) override { return head(torch::gelu(hidden(inputs.at(0)))); }
  torchstone::Tensors example_inputs(const torchstone::ModelOptions& options) const override {
    return {torch::randn({options.batch_size, 16})};
  }
};

TORCHSTONE_MODEL(
    tiny_mlp, .family = "mlp", .suites = {"torchbench"}, .train_batch = 8, .eval_batch = 8,
    .make = [](const torchstone::ModelOptions&) -> std::shared_ptr<torchstone::Model> {
      return std::make_shared<TinyMlp>();
    });
