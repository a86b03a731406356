#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace torchstone {

/// What a written file survives. Only a synced one survives a power cut; syncing takes milliseconds.
enum class Durability { synced, until_reboot };

/// Writes a temporary file in the same folder and renames it: a reader sees the old file or the whole new one, also
/// after a crash of this process. Makes missing folders. `mode` is who may read it, less the umask. Throws
/// std::system_error with the path and the system's words.
void write_atomically(const std::filesystem::path& path, std::string_view text,
                      Durability durability = Durability::synced, mode_t mode = 0666);
/// Throws std::system_error with the path.
std::string read_text(const std::filesystem::path& path);
/// Empty where `path` is no regular file (a link is none). Of a file that cannot be read it is the empty text.
std::optional<std::string> first_line_of(const std::filesystem::path& path);

/// Any text as one component of a path, which every file that is named after a case, a suite or a backend has:
/// [A-Za-z0-9_.-], `slash` for `/`, %XX for the rest and for a dot in front. Of more than 200 bytes the rest is a hash,
/// so that different texts have different names and any extension fits into the 255 bytes that file systems allow.
std::string case_file_name(const std::string& name, char slash = '+');

}  // namespace torchstone
