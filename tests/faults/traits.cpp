// Healthy models with traits that are rare in model zoos. They have unusual input dtypes or output containers, random
// numbers in evaluation, shared parameters, no parameters, or a state that changes with every call.
#include <functional>

#include <torchstone/model.h>

namespace torchstone::traits_faults {
namespace {

using torch::Tensor;

class Trait : public Model {
 public:
  using Forward = std::function<c10::IValue(Trait&, const Tensor&)>;
  using Input = std::function<Tensor(int64_t batch)>;
  Trait(Forward forward, Input input) : forward_(std::move(forward)), input_(std::move(input)) {}
  c10::IValue forward(const Tensors& inputs) override { return forward_(*this, inputs.at(0)); }
  Tensors example_inputs(const ModelOptions& options) const override { return {input_(options.batch_size)}; }

  torch::nn::Linear linear = register_module("linear", torch::nn::Linear(8, 8));
  Tensor calls = register_buffer("calls", torch::zeros({1}));

 private:
  Forward forward_;
  Input input_;
};

/// A model without parameters and buffers.
class Nothing : public Model {
 public:
  c10::IValue forward(const Tensors& inputs) override { return inputs.at(0).sin() + inputs.at(0); }
  Tensors example_inputs(const ModelOptions& options) const override { return {torch::randn({options.batch_size, 8})}; }
};

bool add(const char* name, std::function<std::shared_ptr<Model>(const ModelOptions&)> make) {
  return register_model(ModelInfo{.name = name,
                                  .family = "trait",
                                  .suites = {"faults"},
                                  .train_batch = 4,
                                  .eval_batch = 4,
                                  .make = std::move(make)},
                        __FILE__, __LINE__);
}

bool add_trait(
    const char* name, const Trait::Forward& forward, const Trait::Input& input = [](int64_t batch) {
      return torch::randn({batch, 8});
    }) {
  return add(name, [=](const ModelOptions&) { return std::make_shared<Trait>(forward, input); });
}

c10::IValue list_of_two(Trait& t, const Tensor& x) { return c10::List<Tensor>({t.linear(x), x.tanh()}); }

c10::IValue dict_of_two(Trait& t, const Tensor& x) {
  c10::Dict<std::string, Tensor> answer;
  answer.insert("mapped", t.linear(x));
  answer.insert("bent", x.tanh());
  return answer;
}

/// Uses random numbers in evaluation mode too.
c10::IValue random(Trait& t, const Tensor& x) { return t.linear(x) + torch::rand_like(x); }

/// Counts calls in a buffer and scales the answer by the count, so every call returns another answer.
c10::IValue counting(Trait& t, const Tensor& x) {
  t.calls.add_(1);
  return t.linear(x) * t.calls;
}

c10::IValue shared(Trait& t, const Tensor& x) { return t.linear(t.linear(x).relu()); }

c10::IValue words(Trait& t, const Tensor& ids) { return torch::embedding(t.linear->weight, ids).tanh(); }

c10::IValue mapped(Trait& t, const Tensor& x) { return t.linear(x).sigmoid(); }

[[maybe_unused]] const bool registered =
    add_trait("gives_a_list", list_of_two) && add_trait("gives_a_dict", dict_of_two) &&
    add_trait("draws_in_evaluation", random) && add_trait("counts_its_calls", counting) &&
    add_trait("shares_parameters", shared) &&
    add_trait("takes_int32", words,
              [](int64_t batch) {
                return torch::randint(8, {batch, 5}, torch::kInt32);
              }) &&
    add_trait("takes_float64", mapped,
              [](int64_t batch) {
                return torch::randn({batch, 8}, torch::kFloat64);
              }) &&
    add("has_no_parameters", [](const ModelOptions&) { return std::make_shared<Nothing>(); });

}  // namespace
}  // namespace torchstone::traits_faults
