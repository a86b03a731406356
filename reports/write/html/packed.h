#pragma once
#include <string>
#include <string_view>

namespace torchstone::html {

/// RFC 4648, with padding.
std::string base64(std::string_view bytes);

/// A file as a data: address, compressed by gzip where the build found zlib.
struct DataFile {
  std::string address;
  std::string suffix;  ///< to the file's name: ".gz" or nothing
};
DataFile data_file(const std::string& text);

}  // namespace torchstone::html
