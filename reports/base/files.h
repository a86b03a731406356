#pragma once
#include <filesystem>
#include <string>

namespace torchstone {

/// The file is either the old one or the whole new one, also after a crash: written aside in the same folder, synced,
/// renamed. Makes missing folders. Throws std::system_error with the path and the system's words.
void write_atomically(const std::filesystem::path& path, const std::string& text);
/// Throws std::system_error with the path.
std::string read_text(const std::filesystem::path& path);

/// A case's name as a file name: [A-Za-z0-9_.-], `+` for `/`, %XX for the rest; long ones are cut and get a hash.
std::string case_file_name(const std::string& name);

}  // namespace torchstone
