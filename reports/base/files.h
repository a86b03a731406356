#pragma once
#include <filesystem>
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

/// A case's name as a file name: [A-Za-z0-9_.-], `+` for `/`, %XX for the rest; long ones are cut and get a hash.
std::string case_file_name(const std::string& name);

}  // namespace torchstone
