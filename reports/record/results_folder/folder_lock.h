#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/types.h>

namespace torchstone::results_folder {

/// Facts of a running process, from the kernel.
struct ProcessFacts {
  pid_t parent = 0;
  uint64_t start_ticks = 0;  ///< start time since boot; distinguishes processes with the same number
  std::string command;       ///< arguments, printable and without secrets
};

/// Returns nothing for a process that does not exist or is a zombie, and on a system without /proc.
std::optional<ProcessFacts> process_facts(pid_t pid);

/// Returns whether `ancestor` started this process, directly or through others.
bool descends_from(pid_t ancestor);

/// A process that works in a results folder, and its role.
struct Holder {
  enum class Kind {
    run,    ///< a run that needs the folder exclusively
    shard,  ///< shares it with other shards of the same GTEST_TOTAL_SHARDS
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

/// Returns this process as a holder, starting now. A run becomes a shard if GoogleTest's environment says so.
Holder this_process(Holder::Kind kind);
/// Returns the process that started this one, as a group.
Holder parent_process();

/// Returns whether the newcomer may share the folder with the holder. Parts share it with parts, and shards with other
/// shards of the same number. A process that a group started (`holder_is_ancestor`) shares it with the group.
bool may_share(const Holder& newcomer, const Holder& holder, bool holder_is_ancestor);

/// Returns "process 123 since 2026-01-31T12:00:00.123Z: COMMAND".
std::string to_string(const Holder& holder);

std::string to_json(const Holder& holder);
/// Parses a holder. Damaged text becomes a run with the process number 0, so that no holder is overlooked.
Holder parse_holder(const std::string& json);

/// Another run holds the results folder; what() names the folder, the process, its start and its command.
struct FolderHeld : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Prefix of the names of the holders' files.
inline constexpr const char* holder_prefix = ".held.";

/// Keeps other runs out of a results folder during its lifetime. Each holder has a file OUT/.held.XXXXXX and locks it
/// by fcntl(2), because children do not inherit such a lock. A group is another process and cannot be given a lock. It
/// holds the folder while a process with its number and start time runs. A process locks the folder itself (flock)
/// while it reads and adds such files. It may hold a folder only once, because fcntl's locks do not exclude their own
/// process.
class Hold {
 public:
  /// Makes the folder if needed. Calls `when_alone` if no other process holds the folder, and then always `when_held`.
  /// No other process can take the folder until both have returned. Throws FolderHeld, std::system_error,
  /// std::filesystem::filesystem_error. On a file system without locks it warns on stderr and holds nothing.
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
