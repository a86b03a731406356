#pragma once
#include <string>
#include <string_view>

namespace torchstone {

/// The text of html/style.css and of html/script.js, which are part of the library.
std::string_view page_style();
std::string_view page_script();

}  // namespace torchstone

namespace torchstone::html {

/// RFC 4648, with padding.
std::string base64(std::string_view bytes);

/// A file as a data: address, compressed by gzip where the build found zlib.
struct DataFile {
  std::string address;
  std::string suffix;  ///< to the file's name: ".gz" or nothing
};
DataFile data_file(const std::string& text);

/// A whole page around `content` (markup), with the style of the library and, where asked for, its script. It allows
/// itself these, by their hashes, and nothing else: no request, no inline handler. `title` is markup too.
std::string document(const std::string& title, const std::string& content, bool with_script);

}  // namespace torchstone::html
