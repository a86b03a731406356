#pragma once
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace torchstone {

/// Owns a file descriptor and closes it.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// What a file lacks: "results.json: line 3: expected …", "results.json: results[2].outcome.status: expected …".
class ReportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

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

constexpr size_t mebibyte = size_t{1} << 20;

/// The whole file. Throws ReportError with the path, before any memory is taken, for one of more than `most` bytes, and
/// for what is no regular file: a device or a pipe may never end.
std::string read_at_most(const std::filesystem::path& path, size_t most);

/// A file or folder of the cache could not be made, read or locked; what() names it and the system's reason.
struct CacheError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Makes the folder and its missing parents, for this user alone (mode 0700). Throws CacheError.
void make_folder(const std::filesystem::path& folder);
/// Content of a file; empty optional when it does not exist. Throws CacheError when it exists and cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path);
/// Replaces the file as a whole (write_atomically(), not synced: what the cache holds is checked
/// when it is read) and readable by its owner alone. Throws CacheError (disk full, read-only).
void write_file(const std::filesystem::path& path, std::string_view content);
/// The last `bytes` of a file, for error texts; empty when there is none.
std::string tail_of(const std::filesystem::path& path, size_t bytes = 2000);

/// An advisory lock (flock) on a file that is made if needed; held while the descriptor lives, also by forked children.
/// Empty when another holder is in the way. Throws CacheError when the file cannot be opened.
std::optional<Descriptor> try_lock(const std::filesystem::path& path, bool shared = false);

}  // namespace torchstone
