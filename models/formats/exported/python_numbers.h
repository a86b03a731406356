#pragma once
/// Python's arithmetic on the numbers of a program; used by numbers.cpp alone.
#include <cmath>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <torch/torch.h>

#include "models/core/tree.h"

namespace torchstone::formats::exported::numbers {

using c10::IValue;
using Arguments = std::vector<IValue>;

inline const IValue& at(const Arguments& arguments, size_t index) {
  if (index >= arguments.size()) throw std::invalid_argument(fmt::format("argument {} is missing", index));
  return arguments[index];
}

inline bool is_whole(const IValue& value) { return value.isInt() || value.isBool(); }

inline int64_t integer(const Arguments& arguments, size_t index) {
  const IValue& value = at(arguments, index);
  if (value.isInt()) return value.toInt();
  if (value.isBool()) return value.toBool() ? 1 : 0;
  throw std::invalid_argument(fmt::format("argument {} is {}, expected an integer", index, describe(value)));
}

inline double number(const Arguments& arguments, size_t index) {
  const IValue& value = at(arguments, index);
  return value.isDouble() ? value.toDouble() : static_cast<double>(integer(arguments, index));
}

inline const torch::Tensor& tensor(const Arguments& arguments) {
  if (!at(arguments, 0).isTensor()) throw std::invalid_argument("argument 0 is no tensor");
  return arguments[0].toTensor();
}

inline bool truth(const IValue& value) {
  if (value.isBool()) return value.toBool();
  if (value.isInt()) return value.toInt() != 0;
  if (value.isDouble()) return value.toDouble() != 0;
  if (value.isTensor() && value.toTensor().numel() == 1) return value.toTensor().is_nonzero();
  throw std::invalid_argument(fmt::format("{} is neither true nor false", describe(value)));
}

[[noreturn]] inline void overflow() { throw std::invalid_argument("an integer overflows 64 bits"); }

using Whole = bool (*)(int64_t, int64_t, int64_t*);
using Real = double (*)(double, double);

/// Integers by `whole`, which returns whether it overflowed, and floats by `real`.
template <Whole whole, Real real>
IValue arithmetic(const Arguments& a) {
  if (!is_whole(at(a, 0)) || !is_whole(at(a, 1))) return real(number(a, 0), number(a, 1));
  int64_t result = 0;
  if (whole(integer(a, 0), integer(a, 1), &result)) overflow();
  return result;
}

inline bool add(int64_t a, int64_t b, int64_t* sum) { return __builtin_add_overflow(a, b, sum); }
inline bool subtract(int64_t a, int64_t b, int64_t* difference) { return __builtin_sub_overflow(a, b, difference); }
inline bool multiply(int64_t a, int64_t b, int64_t* product) { return __builtin_mul_overflow(a, b, product); }
inline double add(double a, double b) { return a + b; }
inline double subtract(double a, double b) { return a - b; }
inline double multiply(double a, double b) { return a * b; }

inline bool floor_divide(int64_t a, int64_t b, int64_t* quotient) {
  if (b == 0) throw std::invalid_argument("a division by zero");
  if (b == -1) return __builtin_sub_overflow(int64_t{0}, a, quotient);
  *quotient = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  return false;
}
inline double floor_divide(double a, double b) { return std::floor(a / b); }

inline bool modulo(int64_t a, int64_t b, int64_t* remainder) {
  int64_t quotient = 0;
  if (floor_divide(a, b, &quotient)) return true;
  *remainder = b == -1 ? 0 : a - quotient * b;
  return false;
}
inline double modulo(double a, double b) { return a - std::floor(a / b) * b; }

inline IValue power(const Arguments& a) {
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

inline IValue divide(const Arguments& a) {
  if (number(a, 1) == 0) throw std::invalid_argument("a division by zero");
  return number(a, 0) / number(a, 1);
}

inline IValue whole_part(const Arguments& a) {
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

/// Numbers are compared as integers where both are.
template <typename Compare>
IValue compared(const Arguments& a, Compare compare) {
  if (is_whole(at(a, 0)) && is_whole(at(a, 1))) return compare(integer(a, 0), integer(a, 1));
  return compare(number(a, 0), number(a, 1));
}

}  // namespace torchstone::formats::exported::numbers
