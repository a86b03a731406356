#pragma once
#include <optional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "models/operators/literal.h"
#include "models/operators/tensor_spec.h"

namespace torchstone::operators {

/// Converts a literal of a log to the type that an operator's schema asks for. `length` is the `2` of `int[2]`, where a
/// single number stands for all. Tensors are appended to `tensors` and are undefined in the returned value. Throws
/// std::invalid_argument when the literal does not fit the type, or is a sparse tensor.
c10::IValue bind_literal(const Literal& literal, const c10::TypePtr& type, std::optional<int32_t> length,
                         std::vector<TensorSpec>& tensors);

/// The element type of a list for the dispatcher, which takes symbolic sizes as plain integers.
c10::TypePtr plain_element(const c10::TypePtr& element);

/// The dtype of a name without "torch." ("float32"); throws std::invalid_argument for any other name.
torch::ScalarType scalar_type_of(const std::string& name);

}  // namespace torchstone::operators
