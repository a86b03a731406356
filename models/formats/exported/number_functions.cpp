// Python's arithmetic on the numbers of a program.
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <torch/torch.h>

#include "models/core/tree.h"
#include "models/formats/exported/graph_reader.h"

namespace torchstone::formats::exported {
namespace numbers {  // add, number, tensor … are common names
namespace {

using c10::IValue;
using Arguments = std::vector<IValue>;

const IValue& at(const Arguments& arguments, size_t index) {
  if (index >= arguments.size()) throw std::invalid_argument(fmt::format("argument {} is missing", index));
  return arguments[index];
}

bool is_whole(const IValue& value) { return value.isInt() || value.isBool(); }

int64_t integer(const Arguments& arguments, size_t index) {
  const IValue& value = at(arguments, index);
  if (value.isInt()) return value.toInt();
  if (value.isBool()) return value.toBool() ? 1 : 0;
  throw std::invalid_argument(fmt::format("argument {} is {}, expected an integer", index, describe(value)));
}

double number(const Arguments& arguments, size_t index) {
  const IValue& value = at(arguments, index);
  return value.isDouble() ? value.toDouble() : static_cast<double>(integer(arguments, index));
}

const torch::Tensor& tensor(const Arguments& arguments) {
  if (!at(arguments, 0).isTensor()) throw std::invalid_argument("argument 0 is not a tensor");
  return arguments[0].toTensor();
}

bool truth(const IValue& value) {
  if (value.isBool()) return value.toBool();
  if (value.isInt()) return value.toInt() != 0;
  if (value.isDouble()) return value.toDouble() != 0;
  if (value.isTensor() && value.toTensor().numel() == 1) return value.toTensor().is_nonzero();
  throw std::invalid_argument(fmt::format("{} is neither true nor false", describe(value)));
}

[[noreturn]] void overflow() { throw std::invalid_argument("an integer overflows 64 bits"); }

using Whole = bool (*)(int64_t, int64_t, int64_t*);
using Real = double (*)(double, double);

/// Computes integers with `whole`, which returns whether it overflowed, and floats with `real`.
template <Whole whole, Real real>
IValue arithmetic(const Arguments& a) {
  if (!is_whole(at(a, 0)) || !is_whole(at(a, 1))) return real(number(a, 0), number(a, 1));
  int64_t result = 0;
  if (whole(integer(a, 0), integer(a, 1), &result)) overflow();
  return result;
}

bool add(int64_t a, int64_t b, int64_t* sum) { return __builtin_add_overflow(a, b, sum); }
bool subtract(int64_t a, int64_t b, int64_t* difference) { return __builtin_sub_overflow(a, b, difference); }
bool multiply(int64_t a, int64_t b, int64_t* product) { return __builtin_mul_overflow(a, b, product); }
double add(double a, double b) { return a + b; }
double subtract(double a, double b) { return a - b; }
double multiply(double a, double b) { return a * b; }

bool floor_divide(int64_t a, int64_t b, int64_t* quotient) {
  if (b == 0) throw std::invalid_argument("division by zero");
  if (b == -1) return __builtin_sub_overflow(int64_t{0}, a, quotient);
  *quotient = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  return false;
}
double floor_divide(double a, double b) { return std::floor(a / b); }

bool modulo(int64_t a, int64_t b, int64_t* remainder) {
  int64_t quotient = 0;
  if (floor_divide(a, b, &quotient)) return true;
  *remainder = b == -1 ? 0 : a - quotient * b;
  return false;
}
double modulo(double a, double b) { return a - std::floor(a / b) * b; }

IValue power(const Arguments& a) {
  if (!is_whole(at(a, 0)) || !is_whole(at(a, 1)) || integer(a, 1) < 0) return std::pow(number(a, 0), number(a, 1));
  constexpr int64_t most = 64;  // times 2; 0, 1 and -1 never overflow
  const int64_t base = integer(a, 0), exponent = integer(a, 1);
  if (base == 0 || base == 1) return exponent == 0 ? int64_t{1} : base;
  if (base == -1) return exponent % 2 == 0 ? int64_t{1} : int64_t{-1};
  if (exponent > most) overflow();
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i)
    if (multiply(result, base, &result)) overflow();
  return result;
}

IValue divide(const Arguments& a) {
  if (number(a, 1) == 0) throw std::invalid_argument("division by zero");
  return number(a, 0) / number(a, 1);
}

IValue whole_part(const Arguments& a) {
  const double value = number(a, 0);
  if (!(std::abs(value) < 0x1p62)) overflow();
  return is_whole(a[0]) ? IValue(integer(a, 0)) : IValue(static_cast<int64_t>(value));
}

template <bool left>
IValue shift(const Arguments& a) {
  const int64_t value = integer(a, 0), bits = integer(a, 1);
  if (bits < 0 || bits > 62) throw std::invalid_argument("a shift by less than 0 or more than 62 bits");
  int64_t shifted = value >> bits;
  if (left && multiply(value, int64_t{1} << bits, &shifted)) overflow();
  return shifted;
}

/// Compares two integers as integers, and all other pairs as floats.
template <typename Compare>
IValue compare(const Arguments& a) {
  if (is_whole(at(a, 0)) && is_whole(at(a, 1))) return Compare()(integer(a, 0), integer(a, 1));
  return Compare()(number(a, 0), number(a, 1));
}

/// Combines the bits of two integers, or two booleans to a boolean.
template <typename Combine>
IValue bitwise(const Arguments& a) {
  const int64_t bits = Combine()(integer(a, 0), integer(a, 1));
  return a[0].isBool() && a[1].isBool() ? IValue(bits != 0) : IValue(bits);
}

IValue nothing(const Arguments&) { return {}; }

IValue assert_true(const Arguments& a) {
  if (truth(at(a, 0))) return {};
  const bool has_message = a.size() > 1 && a[1].isString();
  throw std::invalid_argument(has_message ? a[1].toStringRef() : "an assertion of the program fails");
}

const std::map<std::string, NumberFunction> functions = {
    {"_operator.add", arithmetic<add, add>},
    {"_operator.sub", arithmetic<subtract, subtract>},
    {"_operator.mul", arithmetic<multiply, multiply>},
    {"_operator.floordiv", arithmetic<floor_divide, floor_divide>},
    {"_operator.mod", arithmetic<modulo, modulo>},
    {"_operator.truediv", divide},
    {"_operator.pow", power},
    {"_operator.lshift", shift<true>},
    {"_operator.rshift", shift<false>},
    {"_operator.neg",
     [](const Arguments& a) -> IValue {
       return arithmetic<subtract, subtract>({IValue(int64_t{0}), at(a, 0)});
     }},
    {"_operator.pos", [](const Arguments& a) { return at(a, 0); }},
    {"_operator.and_", bitwise<std::bit_and<>>},
    {"_operator.or_", bitwise<std::bit_or<>>},
    {"_operator.eq", compare<std::equal_to<>>},
    {"_operator.ne", compare<std::not_equal_to<>>},
    {"_operator.lt", compare<std::less<>>},
    {"_operator.le", compare<std::less_equal<>>},
    {"_operator.gt", compare<std::greater<>>},
    {"_operator.ge", compare<std::greater_equal<>>},
    {"math.trunc", whole_part},
    {"torch.sym_int", whole_part},
    {"torch.sym_float", [](const Arguments& a) -> IValue { return number(a, 0); }},
    {"torch.sym_not", [](const Arguments& a) -> IValue { return !truth(at(a, 0)); }},
    {"torch.sym_ite", [](const Arguments& a) { return truth(at(a, 0)) ? at(a, 1) : at(a, 2); }},
    {"torch.sym_max", [](const Arguments& a) { return compare<std::greater<>>(a).toBool() ? a[0] : a[1]; }},
    {"torch.sym_min", [](const Arguments& a) { return compare<std::less<>>(a).toBool() ? a[0] : a[1]; }},
    {"torch._sym_sqrt", [](const Arguments& a) -> IValue { return std::sqrt(number(a, 0)); }},
    {"torch.ops.aten.sym_size.int", [](const Arguments& a) -> IValue { return tensor(a).size(integer(a, 1)); }},
    {"torch.ops.aten.sym_stride.int", [](const Arguments& a) -> IValue { return tensor(a).stride(integer(a, 1)); }},
    {"torch.ops.aten.sym_numel.default", [](const Arguments& a) -> IValue { return tensor(a).numel(); }},
    {"torch.ops.aten.sym_storage_offset.default",
     [](const Arguments& a) -> IValue { return tensor(a).storage_offset(); }},
    {"torch.ops.aten._assert_scalar.default", assert_true},
    // Dtypes and devices follow the model, and a check of values on the device would wait for it.
    {"torch.ops.aten._assert_tensor_metadata.default", nothing},
    {"torch.ops.aten._assert_async.msg", nothing},
    {"torch.ops.aten._assert_async.default", nothing},
    {"torch.ops.aten.sym_constrain_range.default", nothing},
    {"torch.ops.aten.sym_constrain_range_for_size.default", nothing},
};

}  // namespace
}  // namespace numbers

NumberFunction number_function(const std::string& target) {
  const auto found = numbers::functions.find(target);
  return found == numbers::functions.end() ? nullptr : found->second;
}

}  // namespace torchstone::formats::exported
