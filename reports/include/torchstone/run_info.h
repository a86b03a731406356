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
  std::string again;  ///< command that shows the comparison again; empty if the run replaced its baseline
};

/// Facts that all results of one run share.
struct RunInfo {
  std::string id;       ///< id of this run: start and process
  std::string started;  ///< UTC, as utc_now()
  double duration_s = 0;
  std::vector<std::string> argv;
  std::string directory;         ///< working directory at the start
  std::string tag;               ///< the user's name for this run (--torchstone_tag); may be empty
  std::string exit_reason;       ///< "finished", "merged from 3 inputs" …; read by is_complete() (record/verdict.h)
  std::optional<int> exit_code;  ///< exit code of the program; nothing in a plan, in merged results, in old records
  std::string exit_words;        ///< meaning of the exit code in this run, if the results do not show it
  std::optional<BaselineFacts> baseline;  ///< nothing without --torchstone_baseline
  Facts machine;                          ///< cpu, cores, governor, memory_bytes, load_average, host, os …
  Facts build;        ///< versions and devices, given by the caller: torch, compiler, cuda, device …
  Facts environment;  ///< environment variables that libraries and compilers read
  Facts policy;       ///< settings that verdicts depend on, given by the caller: confidence, policy files …
};

/// A run and its results, the input of every report.
struct Report {
  RunInfo run;
  std::vector<Result> results;
};

}  // namespace torchstone
