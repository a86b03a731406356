#pragma once
#include <torchstone/model.h>

namespace torchstone {

/// A model of token indices: one or several inputs [N, tokens], int64 below the vocabulary's size.
class TokenModel : public Model {
 public:
  TokenModel(int64_t vocabulary, int64_t tokens, size_t inputs = 1)
      : vocabulary_(vocabulary), tokens_(tokens), inputs_(inputs) {}
  Tensors example_inputs(const ModelOptions& options) const override {
    Tensors all;
    for (size_t i = 0; i < inputs_; ++i) {
      all.push_back(torch::randint(vocabulary_, {options.batch_size, tokens_}, torch::kInt64));
    }
    return all;
  }
  /// Tables of places and types (`position_ids`) are no state.
  bool in_state_dict(const std::string& name) const override { return !name.ends_with("_ids"); }

 private:
  int64_t vocabulary_, tokens_;
  size_t inputs_;
};

/// A child that holds a weight which another module holds too, such as a head tied to the word embedding.
inline std::shared_ptr<torch::nn::Module> tied(const torch::Tensor& weight) {
  auto module = std::make_shared<torch::nn::Module>();
  module->register_parameter("weight", weight);
  return module;
}

}  // namespace torchstone
