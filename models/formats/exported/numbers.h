#pragma once
#include <string>

#include "models/formats/exported/program.h"

namespace torchstone::formats::exported {

/// The function that computes a number from numbers or from the sizes of a tensor (`_operator.mul`,
/// `torch.ops.aten.sym_size.int`), or that checks one (`torch.ops.aten._assert_scalar.default`); nullptr for any other
/// target. Division and remainder round as Python's do. The functions throw std::invalid_argument for values of other
/// kinds, for a division by zero and for an assertion that fails.
NumberFunction number_function(const std::string& target);

}  // namespace torchstone::formats::exported
