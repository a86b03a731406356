#pragma once
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <sys/types.h>

#include "reports/results_folder/holder.h"

namespace torchstone::results_folder {

/// Another run holds the results folder; what() names the folder, the process, its start and its command.
struct FolderHeld : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How the names of the holders' files begin.
inline constexpr const char* holder_prefix = ".held.";

/// Keeps other runs out of a results folder while it lives. Each holder has a file OUT/.held.XXXXXX that identifies it.
///  - The file of a process has a lock of fcntl(2). Such a lock belongs to the process: neither the children that it
///    forks nor the programs that it starts hold it, and the kernel takes it back however the process ends.
///  - A group is not this process and cannot be given a lock; it holds for as long as the process with its number and
///    start runs.
///  - A process that reads these files and adds one holds a lock (flock) on the folder itself meanwhile.
/// A process may hold a folder once: fcntl's locks do not keep it from itself.
class Hold {
 public:
  /// Makes the folder if needed. `when_alone` runs when no other process holds the folder, `when_held` after it and in
  /// any case; both before any other process can hold it. Throws
  /// FolderHeld, std::system_error, std::filesystem::filesystem_error. Where the file system has no locks it says so on
  /// stderr and holds nothing.
  Hold(
      const std::filesystem::path& folder, const Holder& holder, const std::function<void()>& when_alone = [] {},
      const std::function<void()>& when_held = [] {});
  ~Hold();
  Hold(const Hold&) = delete;

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
  pid_t owner_ = 0;
};

}  // namespace torchstone::results_folder
