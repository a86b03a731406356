#pragma once
#include <cstdint>
#include <string>
#include <sys/types.h>

namespace torchstone::results_folder {

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

}  // namespace torchstone::results_folder
