#pragma once
#include <filesystem>
#include <string>

namespace torchstone {

constexpr size_t mebibyte = size_t{1} << 20;

/// The whole file. Throws ReportError with the path, before any memory is taken, for one of more than `most` bytes, and
/// for what is no regular file: a device or a pipe may never end.
std::string read_at_most(const std::filesystem::path& path, size_t most);

}  // namespace torchstone
