#pragma once
#include <exception>
#include <string>

namespace torchstone::formats {

/// The first line of an error's message: LibTorch's messages end with a C++ stack.
inline std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

}  // namespace torchstone::formats
