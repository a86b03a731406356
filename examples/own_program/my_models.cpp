// A custom test program: Torchstone's main function, linked with these models.
#include <torchstone/model.h>

struct TinyMlp : torchstone::Model {
  torch::nn::Linear hidden = register_module("hidden", torch::nn::Linear(16, 32));
  torch::nn::Linear head = register_module("head", torch::nn::Linear(32, 4));

  c10::IValue forward(const torchstone::Tensors& inputs) override { return head(torch::gelu(hidden(inputs.at(0)))); }

  torchstone::Tensors example_inputs(const torchstone::ModelOptions& options) const override {
    return {torch::randn({options.batch_size, 16})};
  }
};

TORCHSTONE_MODEL(TinyMlp).suite("mine").batch_size(8);
