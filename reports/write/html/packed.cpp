#include "reports/write/html/packed.h"

#include <cstdint>
#include <stdexcept>

#ifdef TORCHSTONE_ZLIB
#include <zlib.h>
#endif

namespace torchstone::html {
namespace {

#ifdef TORCHSTONE_ZLIB
std::string gzipped(const std::string& text) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16, memory_level = 8;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib cannot begin to compress");
  }
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int ended = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (ended != Z_STREAM_END) throw std::runtime_error("zlib did not finish");
  return out;
}
#endif

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve(bytes.size() / 3 * 4 + 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](size_t k) {
      return i + k < bytes.size() ? static_cast<uint32_t>(static_cast<unsigned char>(bytes[i + k])) : 0u;
    };
    const uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    out += digits[group >> 18];
    out += digits[group >> 12 & 63];
    out += i + 1 < bytes.size() ? digits[group >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? digits[group & 63] : '=';
  }
  return out;
}

DataFile data_file(const std::string& text) {
#ifdef TORCHSTONE_ZLIB
  return {"data:application/gzip;base64," + base64(gzipped(text)), ".gz"};
#else
  return {"data:application/json;base64," + base64(text), ""};
#endif
}

}  // namespace torchstone::html
