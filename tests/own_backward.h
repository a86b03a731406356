#pragma once
#include <functional>
#include <utility>

#include <torch/torch.h>

namespace torchstone {

/// An autograd node whose backward calls a function. A compiled step has such a node too.
class OwnBackward : public torch::autograd::Function<OwnBackward> {
  struct Held : torch::CustomClassHolder {
    explicit Held(std::function<void()> what) : call(std::move(what)) {}
    std::function<void()> call;
  };

 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& value,
                               const std::function<void()>& what) {
    context->saved_data["what"] = c10::IValue::make_capsule(c10::make_intrusive<Held>(what));
    return value.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const torch::AutoGradMode grad(true);
    static_cast<Held&>(*context->saved_data["what"].toCapsule()).call();
    return {gradients.at(0), torch::Tensor()};
  }
};

/// Calls `what` from a backward pass of autograd, with gradient recording enabled.
inline void call_in_backward(const std::function<void()>& what) {
  const torch::AutoGradMode grad(true);
  OwnBackward::apply(torch::zeros({}, torch::requires_grad()), what).backward();
}

}  // namespace torchstone
