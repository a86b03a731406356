#pragma once
#include <cstdint>
#include <optional>
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

}  // namespace torchstone::results_folder
