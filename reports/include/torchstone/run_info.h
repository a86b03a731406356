#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <torchstone/result.h>

namespace torchstone {

using Facts = std::map<std::string, std::string>;

/// The baseline that a run was compared with before its reports were written (--torchstone_baseline).
struct BaselineFacts {
  std::string path;                  ///< as the user gave it
  std::string summary;               ///< the counts in one line
  std::vector<std::string> remarks;  ///< what the comparison means, one sentence each: drift, other machine …
  std::string again;  ///< the command that shows the comparison; empty when the run replaced its baseline
};

/// Facts that all results of one run share.
struct RunInfo {
  std::string id;       ///< of this run: start and process
  std::string started;  ///< UTC, as utc_now()
  double duration_s = 0;
  std::vector<std::string> argv;
  std::string directory;                  ///< where it was started
  std::string tag;                        ///< what the user calls this run (--torchstone_tag); empty: nothing
  std::string exit_reason;                ///< "finished", "interrupted", "merged from 3 folders" …
  std::optional<int> exit_code;           ///< of the program; nothing in a plan, in merged results, in old records
  std::string exit_words;                 ///< what the exit code means in this run, where the results do not say it
  std::optional<BaselineFacts> baseline;  ///< nothing without --torchstone_baseline
  Facts machine;                          ///< cpu, cores, governor, memory_bytes, load_average, host, os …
  Facts build;        ///< versions and devices, given by the caller: torch, compiler, cuda, device …
  Facts environment;  ///< variables that libraries and compilers listen to
  Facts policy;       ///< what verdicts depend on, given by the caller: confidence, policy files …
};

/// A run with its results: what every report is made from.
struct Report {
  RunInfo run;
  std::vector<Result> results;
};

}  // namespace torchstone
