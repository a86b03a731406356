#include "reports/results_folder/hold.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "reports/base/files.h"
#include "reports/results_folder/process_facts.h"

namespace torchstone::results_folder {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), fmt::format("{} {}", what, path.string()));
}

void warn_of_no_locks(const fs::path& folder) {
  fmt::print(stderr, "warning: {}: no locks on this file system ({}): nothing keeps a second run out\n",
             folder.string(), std::generic_category().message(errno));
}

/// Takes the folder's own lock, which a process holds for a moment while it reads the files of the holders and adds its
/// own. On a file system without locks it only warns.
void lock_folder(int descriptor, const fs::path& folder) {
  constexpr std::chrono::milliseconds time_limit(60'000), retry_interval(10);
  const auto end = std::chrono::steady_clock::now() + time_limit;
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return warn_of_no_locks(folder);
    if (std::chrono::steady_clock::now() > end)
      throw FolderHeld(folder.string() + ": another process has looked for its holders for a minute now");
    std::this_thread::sleep_for(retry_interval);
  }
}

/// Of the whole file, for this process alone.
struct flock whole_file() {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return range;
}

bool alive(const fs::path& file, const Holder& holder) {
  if (holder.kind == Holder::Kind::group) {
    const auto facts = process_facts(holder.pid);
    return facts && facts->start_ticks == holder.start_ticks;
  }
  const Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened && errno == ENOENT) return false;  // it ended a moment ago
  if (!opened) fail("cannot read", file);
  struct flock range = whole_file();
  return fcntl(opened.get(), F_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

/// Those that are at work; files of the dead are removed.
std::vector<Holder> holders_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(holder_prefix)) files.push_back(entry.path());
  std::vector<Holder> holders;
  for (const auto& file : files) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) continue;
    const Holder holder = parse_holder(read_at_most(file, mebibyte));
    if (alive(file, holder))
      holders.push_back(holder);
    else
      fs::remove(file, ignored);
  }
  return holders;
}

}  // namespace

Hold::Hold(const fs::path& folder, const Holder& holder, const std::function<void()>& when_alone,
           const std::function<void()>& when_held) {
  fs::create_directories(folder);
  const Descriptor guard(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!guard) fail("cannot read", folder);
  lock_folder(guard.get(), folder);
  bool alone = true;
  for (const Holder& other : holders_of(folder)) {
    const bool ancestor = other.kind == Holder::Kind::group && descends_from(other.pid);
    if (!may_share(holder, other, ancestor))
      throw FolderHeld(
          fmt::format("{}: another run has this results folder: {}\nWait for its end, or choose another "
                      "folder.",
                      folder.string(), to_string(other)));
    if (!ancestor) alone = false;
  }
  if (alone) when_alone();
  when_held();
  std::string name = (folder / holder_prefix).string() + "XXXXXX";
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail("cannot write", name);
  file_ = name;
  owner_ = getpid();
  fchmod(descriptor_, 0644);
  if (dprintf(descriptor_, "%s", to_json(holder).c_str()) < 0) fail("cannot write", name);
  struct flock range = whole_file();
  const bool by_lock = holder.kind != Holder::Kind::group;
  if (by_lock && fcntl(descriptor_, F_SETLK, &range) != 0) warn_of_no_locks(folder);
  if (!by_lock) owner_ = 0;  // the file stays when this process ends
}

Hold::~Hold() {
  if (owner_ == getpid()) unlink(file_.c_str());  // a forked child is not the holder
  close(descriptor_);
}

}  // namespace torchstone::results_folder
