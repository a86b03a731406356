#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace torchstone::formats {

/// Throws std::runtime_error "PATH: why": a file of the user's that cannot be taken.
[[noreturn]] inline void refuse(const std::filesystem::path& path, const std::string& why) {
  throw std::runtime_error(fmt::format("{}: {}", path.string(), why));
}

}  // namespace torchstone::formats
