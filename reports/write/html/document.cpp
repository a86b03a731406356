#include "reports/write/html/document.h"

#include <string_view>

#include <fmt/format.h>

#include "reports/write/html/assets.h"
#include "reports/write/html/packed.h"

namespace torchstone::html {
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
