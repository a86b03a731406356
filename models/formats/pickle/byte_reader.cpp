#include "models/formats/pickle/byte_reader.h"

#include <stdexcept>

#include <fmt/format.h>

namespace torchstone::formats::pickle {

std::string_view ByteReader::take(uint64_t size) {
  const size_t left = bytes_.size() - position_;
  if (size > left) throw std::invalid_argument(fmt::format("expected {} more bytes, only {} are left", size, left));
  position_ += size;
  return bytes_.substr(position_ - size, size);
}

std::string ByteReader::line() {
  const auto end = bytes_.find('\n', position_);
  if (end == std::string_view::npos) throw std::invalid_argument("expected a line break, reached the end");
  const auto text = take(end - position_);
  take(1);
  return std::string(text);
}

int64_t ByteReader::integer(uint64_t size) {
  const auto bytes = take(size);
  if (size > 8) throw std::invalid_argument(fmt::format("expected an integer of at most 64 bits, got {} bytes", size));
  uint64_t value = !bytes.empty() && (bytes.back() & 0x80) ? ~uint64_t{0} : 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return static_cast<int64_t>(value);
}

double ByteReader::big_endian_double() {
  uint64_t bits = 0;
  for (const char byte : take(sizeof(bits))) bits = bits << 8 | static_cast<uint8_t>(byte);
  return std::bit_cast<double>(bits);
}

}  // namespace torchstone::formats::pickle
