#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torchstone::operators {

/// A value in the notation of operator logs: a subset of Python's literals, names of dtypes, and tensors as shapes.
struct Literal {
  enum class Kind { none, boolean, integer, number, text, name, list, tuple, dict, call };
  Kind kind = Kind::none;
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;
  std::string text{};            ///< of a text, a name (`f16`, `torch.strided`) or a call (`T`)
  std::vector<Literal> items{};  ///< of a list, a tuple; positional arguments of a call
  std::vector<std::pair<std::string, Literal>> entries{};  ///< of a dict; named arguments of a call
};

/// what() says what was found and what was expected; `column` is 1-based.
struct LiteralError : std::runtime_error {
  LiteralError(size_t error_column, const std::string& what) : std::runtime_error(what), column(error_column) {}
  size_t column;
};

/// Parses the whole text. Throws LiteralError, also for more than 64 nested brackets.
Literal parse_literal(std::string_view text);
/// Returns the notation of a literal: parse_literal(to_text(x)) is x.
std::string to_text(const Literal& literal);

/// A tensor of a log: `T([sizes], dtype)`, `T([sizes], dtype, stride=(…))` or
/// `ST([sizes], dtype, layout, coalesced[, nnz])`.
struct TensorSpec {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  ///< empty: contiguous
  std::string dtype;             ///< a name of dtype_table()
  bool sparse = false;
};
bool is_tensor(const Literal& literal);
/// Returns the tensor that a call describes. Throws std::invalid_argument with what was expected.
TensorSpec tensor_spec_of(const Literal& call);

struct DTypeName {
  const char* brief;  ///< in logs: f16
  const char* name;   ///< in torch: float16
};
/// Returns the dtypes that a log may name.
const std::vector<DTypeName>& dtype_table();
/// Finds `f16`, `torch.float16`, `th.float16` or `torch.half`. Returns nullptr for any other name.
const DTypeName* find_dtype(const std::string& name);

}  // namespace torchstone::operators
