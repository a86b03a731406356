#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/types.h>

namespace torchstone::results_folder {

/// What the kernel knows of a running process.
struct ProcessFacts {
  pid_t parent = 0;
  uint64_t start_ticks = 0;  ///< its start, since boot: distinguishes it from a later process with the same number
  std::string command;       ///< its arguments with spaces between them, without secrets, fit for a terminal
};

/// Empty when there is no such process, when it has ended and was not waited for yet, and without /proc.
std::optional<ProcessFacts> process_facts(pid_t pid);

/// True when `ancestor` started this process, or started what started it, and so on.
bool descends_from(pid_t ancestor);

/// A process that works in a results folder, and its role.
struct Holder {
  enum class Kind {
    run,    ///< has the folder to itself
    shard,  ///< shares it with the other shards of as many (GTEST_TOTAL_SHARDS)
    part,   ///< one of several processes that write no reports (--torchstone_report=none), or their merge
    group,  ///< the process that starts such parts: ctest, a script
  };
  Kind kind = Kind::run;
  pid_t pid = 0;
  uint64_t start_ticks = 0;  ///< as ProcessFacts has it
  std::string since;         ///< UTC, as utc_now()
  std::string command;
  int shard = 0, shards = 1;
};

/// This process, from now on. A run that GoogleTest's environment makes one shard of several becomes a shard.
Holder this_process(Holder::Kind kind);
/// The process that started this one, as a group.
Holder parent_process();

/// Whether the newcomer may work beside the holder: parts with parts, shards with other shards of as many, and what a
/// group has started (`holder_is_ancestor`) with the group.
bool may_share(const Holder& newcomer, const Holder& holder, bool holder_is_ancestor);

/// "process 123 since 2026-01-31T12:00:00.123Z: COMMAND".
std::string to_string(const Holder& holder);

std::string to_json(const Holder& holder);
/// What cannot be read becomes a run with the process number 0: better one too many than none.
Holder parse_holder(const std::string& json);

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
