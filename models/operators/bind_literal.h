#pragma once
#include <optional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "models/operators/literal.h"
#include "models/operators/tensor_spec.h"

namespace torchstone::operators {

/// What an operator's schema wants, made of what a log says. `length`: the `2` of `int[2]`, where one number stands for
/// all. Tensors are added to `tensors` and stay undefined in the value. Throws std::invalid_argument when the literal
/// is no such thing, or a sparse tensor.
c10::IValue bind_literal(const Literal& literal, const c10::TypePtr& type, std::optional<int32_t> length,
                         std::vector<TensorSpec>& tensors);

/// The element type of such a list: the dispatcher takes symbolic sizes as plain integers.
c10::TypePtr plain_element(const c10::TypePtr& element);

/// By its name without "torch."; throws std::invalid_argument for any other.
torch::ScalarType scalar_type_of(const std::string& name);

}  // namespace torchstone::operators
