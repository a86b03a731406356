#include "reports/base/files.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "reports/base/text.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what, const fs::path& path, int error) {
  throw std::system_error(error, std::generic_category(), what + " " + path.string());
}

/// Removes the temporary file unless it was renamed.
struct TemporaryFile {
  fs::path path{};
  Descriptor descriptor{};
  bool keep = false;
  ~TemporaryFile() {
    if (!keep) unlink(path.c_str());
  }
};

void write_all(const Descriptor& descriptor, std::string_view text, const fs::path& path) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor.get(), text.data(), text.size());
    if (count < 0 && errno != EINTR) fail("cannot write", path, errno);
    if (count > 0) text.remove_prefix(static_cast<size_t>(count));
  }
}

/// Syncs a folder, so that a rename in it survives a power cut. Some file systems cannot do this; that is no error.
void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor) fsync(descriptor.get());
}

/// Reads a stream from its position to the end.
std::string read_rest(std::istream& stream) {
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

}  // namespace

void write_atomically(const fs::path& path, std::string_view text, Durability durability, mode_t mode) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail("cannot make the folder", folder, error.value());
  static std::atomic<int> counter = 0;
  TemporaryFile temporary;
  // The name may exist: containers that share a folder may have equal process ids, and killed processes leave files.
  do {
    temporary.path = folder / fmt::format(".{}.{}.tmp", getpid(), ++counter);
    temporary.descriptor = Descriptor(open(temporary.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  } while (!temporary.descriptor && errno == EEXIST);
  if (!temporary.descriptor) {
    const int failed = errno;
    temporary.keep = true;  // not ours to remove
    fail("cannot write", path, failed);
  }
  write_all(temporary.descriptor, text, path);
  const bool sync = durability == Durability::synced;
  if (sync && fsync(temporary.descriptor.get()) != 0) fail("cannot sync", path, errno);
  if (rename(temporary.path.c_str(), path.c_str()) != 0) fail("cannot rename to", path, errno);
  temporary.keep = true;
  if (sync) sync_folder(folder);
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot read", path, errno);
  std::string text = read_rest(file);
  if (file.bad() || fs::is_directory(path)) fail("cannot read", path, EISDIR);
  return text;
}

std::optional<std::string> read_first_line(const fs::path& path) {
  if (!fs::is_regular_file(fs::symlink_status(path))) return std::nullopt;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string case_file_name(const std::string& name, char slash) {
  constexpr size_t longest = 200;
  std::string file;
  for (const char c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (plain || (c == '.' && !file.empty()))
      file += c;
    else if (c == '/')
      file += slash;
    else
      file += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  if (file.size() <= longest) return file;
  return fmt::format("{}%{:016x}", file.substr(0, longest), hash_of(name));
}

std::string read_at_most(const fs::path& path, size_t most) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw ReportError(path.string() + ": cannot be read (expected a regular file)");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw ReportError(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)));
  stream.seekg(0, std::ios::end);
  const auto size = static_cast<size_t>(stream.tellg());
  if (size > most) throw ReportError(fmt::format("{}: {} bytes (expected at most {})", path.string(), size, most));
  std::string text(size, '\0');
  stream.seekg(0);
  stream.read(text.data(), static_cast<std::streamsize>(size));
  if (stream.bad()) throw ReportError(path.string() + ": cannot be read");
  text.resize(static_cast<size_t>(stream.gcount()));
  return text;
}

void make_folder(const fs::path& folder) {
  std::error_code none;
  if (fs::is_directory(folder, none)) return;
  if (const fs::path parent = folder.parent_path(); !parent.empty() && !fs::exists(parent, none)) make_folder(parent);
  if (mkdir(folder.c_str(), 0700) == 0) return;
  const int failed = errno == EEXIST ? ENOTDIR : errno;
  if (failed == ENOTDIR && fs::is_directory(folder, none)) return;  // another process made it first
  throw CacheError(fmt::format("{}: cannot make this folder: {}", folder.string(), std::strerror(failed)));
}

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    throw CacheError(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)));
  }
  return read_rest(file);
}

void write_file(const fs::path& path, std::string_view content) {
  try {
    write_atomically(path, content, Durability::until_reboot, 0600);
  } catch (const std::system_error& error) {
    throw CacheError(fmt::format("{}: cannot be written: {}", path.string(), error.code().message()));
  }
}

std::string read_tail(const fs::path& path, size_t bytes) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const auto size = static_cast<size_t>(file.tellg());
  file.seekg(static_cast<std::streamoff>(size - std::min(size, bytes)));
  return read_rest(file);
}

std::optional<Descriptor> try_lock(const fs::path& path, bool shared) {
  Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) throw CacheError(fmt::format("{}: cannot be opened: {}", path.string(), std::strerror(errno)));
  while (flock(file.get(), (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::nullopt;
    if (errno != EINTR) throw CacheError(fmt::format("{}: cannot be locked: {}", path.string(), std::strerror(errno)));
  }
  return file;
}

std::optional<Descriptor> wait_for_lock(const fs::path& path, const std::function<bool()>& keep_waiting) {
  for (;;) {
    if (auto lock = try_lock(path)) return lock;
    if (!keep_waiting()) return std::nullopt;
    std::this_thread::sleep_for(lock_retry_interval);
  }
}

void unlock(std::optional<Descriptor>& lock) {
  if (lock) flock(lock->get(), LOCK_UN);
  lock.reset();
}

}  // namespace torchstone
