#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "models/operators/literal.h"

namespace torchstone::operators {

/// A tensor of a log: `T([sizes], dtype)`, `T([sizes], dtype, stride=(…))` or
/// `ST([sizes], dtype, layout, coalesced[, nnz])`.
struct TensorSpec {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  ///< empty: contiguous
  std::string dtype;             ///< a name of dtype_table()
  bool sparse = false;
};
bool is_tensor(const Literal& literal);
/// Throws std::invalid_argument with what was expected.
TensorSpec tensor_spec_of(const Literal& call);

struct DTypeName {
  const char* brief;  ///< in logs: f16
  const char* name;   ///< in torch: float16
};
/// The dtypes that a log may name.
const std::vector<DTypeName>& dtype_table();
/// nullptr for neither `f16` nor `torch.float16`, `th.float16`, `torch.half`.
const DTypeName* find_dtype(const std::string& name);

}  // namespace torchstone::operators
