#include "reports/write/html/document.h"

#include <cstdint>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

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

namespace {

/// "sha256-…" as a content security policy has it, of what the build found for an embedded file.
std::string hash_source(std::string_view hexadecimal) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hexadecimal.substr(i, 2)), nullptr, 16));
  }
  return "'sha256-" + base64(bytes) + "'";
}

std::string policy(bool with_script) {
  return fmt::format("default-src 'none'; style-src {};{} img-src data:; base-uri 'none'; form-action 'none'",
                     hash_source(TORCHSTONE_STYLE_SHA256),
                     with_script ? " script-src " + hash_source(TORCHSTONE_SCRIPT_SHA256) + ";" : "");
}

}  // namespace

std::string document(const std::string& title, const std::string& content, bool with_script) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n<meta http-equiv=Content-Security-Policy "
      "content=\"{}\">\n<meta name=viewport content=\"width=device-width,initial-scale=1\">\n<meta name=color-scheme "
      "content=\"light dark\">\n<meta name=referrer content=no-referrer>\n<link rel=icon href=\"data:,\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}{}</body>\n</html>\n",
      policy(with_script), title, page_style(), content,
      with_script ? fmt::format("<script>{}</script>\n", page_script()) : "");
}

}  // namespace torchstone::html
