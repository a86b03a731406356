#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
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

/// Error in the content of a file: "results.json: line 3: expected …", "results.json: results[2].outcome.status:
/// expected …".
class ReportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether a written file also survives a power cut. Syncing takes milliseconds.
enum class Durability { synced, until_reboot };

/// Writes a temporary file in the same folder and renames it. A reader sees the old file or the whole new one, also
/// after a crash of this process. Makes missing folders. The umask applies to `mode`. Throws std::system_error with the
/// path and the system's message.
void write_atomically(const std::filesystem::path& path, std::string_view text,
                      Durability durability = Durability::synced, mode_t mode = 0666);
/// Reads a whole file. Throws std::system_error with the path.
std::string read_text(const std::filesystem::path& path);
/// Reads the first line of a file; an empty text when it cannot be read. Returns an empty optional when `path` is
/// not a regular file. A link is not one.
std::optional<std::string> read_first_line(const std::filesystem::path& path);

/// Turns a text into one component of a path, for files that are named after a case, a suite or a backend. It keeps
/// [A-Za-z0-9_.-], writes `slash` for `/`, and %XX for other bytes and for a dot at the start. Beyond 200 bytes a hash
/// replaces the rest, so that names stay different and an extension fits into the 255 bytes that file systems allow.
std::string case_file_name(const std::string& name, char slash = '+');

constexpr size_t mebibyte = size_t{1} << 20;

/// Reads a whole file. Throws ReportError with the path if the file has more than `most` bytes, before allocating
/// memory. Also throws for anything but a regular file, because a device or a pipe may never end.
std::string read_at_most(const std::filesystem::path& path, size_t most);

/// Error of making, reading or locking a file or folder of the cache. what() names it and the system's reason.
struct CacheError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Makes a folder and its missing parents, for this user alone (mode 0700). Throws CacheError.
void make_folder(const std::filesystem::path& folder);
/// Reads a whole file; empty when it does not exist. Throws CacheError when it exists and cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path);
/// Writes a file atomically, readable by its owner alone. It is not synced, because the cache checks its files when
/// it reads them. Throws CacheError (disk full, read-only).
void write_file(const std::filesystem::path& path, std::string_view content);
/// Reads the last `bytes` of a file, for error messages; empty when it does not exist.
std::string read_tail(const std::filesystem::path& path, size_t bytes = 2000);

/// Takes an advisory lock (flock) on a file, which is made if needed. The lock is held until all copies of the
/// descriptor are closed, also those in forked children. Empty when another process holds the lock. Throws CacheError
/// when the file cannot be opened.
std::optional<Descriptor> try_lock(const std::filesystem::path& path, bool shared = false);
/// Pause between two attempts to take a lock.
inline constexpr std::chrono::milliseconds lock_retry_interval(20);
/// Waits for the lock, and calls `keep_waiting` repeatedly. Empty once that returns false. Throws as try_lock().
std::optional<Descriptor> wait_for_lock(const std::filesystem::path& path, const std::function<bool()>& keep_waiting);
/// Releases the lock, also for forked children that have a copy of the descriptor, and closes the file.
void unlock(std::optional<Descriptor>& lock);

}  // namespace torchstone
