#include "reports/base/files.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace torchstone {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const std::string& what, const fs::path& path, int error) {
  throw std::system_error(error, std::generic_category(), what + " " + path.string());
}

/// Removes the file written aside when something threw on the way.
struct Aside {
  fs::path path;
  int descriptor = -1;
  bool renamed = false;
  ~Aside() {
    if (descriptor >= 0) close(descriptor);
    if (!renamed) unlink(path.c_str());
  }
};

void write_all(int descriptor, const std::string& text, const fs::path& path) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(descriptor, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) fail("cannot write", path, errno);
    if (count > 0) done += static_cast<size_t>(count);
  }
}

/// The rename itself survives a power cut only when the folder is synced. Some file systems cannot: no error then.
void sync_folder(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

void write_atomically(const fs::path& path, const std::string& text) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail("cannot make the folder", folder, error.value());
  static std::atomic<int> counter = 0;
  Aside aside{folder / fmt::format(".{}.{}.tmp", getpid(), ++counter)};
  aside.descriptor = open(aside.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (aside.descriptor < 0) {
    const int failed = errno;
    aside.renamed = true;  // not ours to remove
    fail("cannot write", path, failed);
  }
  write_all(aside.descriptor, text, path);
  if (fsync(aside.descriptor) != 0) fail("cannot sync", path, errno);
  if (rename(aside.path.c_str(), path.c_str()) != 0) fail("cannot rename to", path, errno);
  aside.renamed = true;
  sync_folder(folder);
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot read", path, errno);
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad() || fs::is_directory(path)) fail("cannot read", path, EISDIR);
  return text.str();
}

std::string case_file_name(const std::string& name) {
  constexpr size_t longest = 200;
  std::string file;
  for (const char c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (plain || (c == '.' && !file.empty()))
      file += c;
    else if (c == '/')
      file += '+';
    else
      file += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  if (file.size() <= longest) return file;
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{}%{:016x}", file.substr(0, longest), hash);
}

}  // namespace torchstone
