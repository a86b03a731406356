#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace torchstone::formats::pickle {

static_assert(std::endian::native == std::endian::little, "a pickle holds little-endian numbers");

/// Reads the bytes of a pickle from front to back. Every function throws std::invalid_argument when too few are left.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  size_t position() const { return position_; }

  std::string_view take(uint64_t size);
  /// Up to the next line break, which is passed over.
  std::string line();
  /// A little-endian integer.
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  /// A two's complement integer of `size` bytes. Throws std::invalid_argument above 8.
  int64_t integer(uint64_t size);
  /// A big-endian IEEE 754 double.
  double big_endian_double();

 private:
  std::string_view bytes_;
  size_t position_ = 0;
};

}  // namespace torchstone::formats::pickle
