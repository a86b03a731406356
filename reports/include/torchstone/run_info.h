#pragma once
#include <map>
#include <string>
#include <vector>

#include <torchstone/result.h>

namespace torchstone {

using Facts = std::map<std::string, std::string>;

/// What all results of one run have in common.
struct RunInfo {
  std::string id;       ///< of this run: start and process
  std::string started;  ///< UTC, as utc_now()
  double duration_s = 0;
  std::vector<std::string> argv;
  std::string directory;    ///< where it was started
  std::string tag;          ///< what the user calls this run (--torchstone_tag); empty: nothing
  std::string exit_reason;  ///< "finished", "interrupted", "merged from 3 folders" …
  Facts machine;            ///< cpu, cores, governor, memory_bytes, load_average, host, os …
  Facts build;              ///< versions and devices, given by the caller: torch, compiler, cuda, device …
  Facts environment;        ///< variables that libraries and compilers listen to
  Facts policy;             ///< what verdicts depend on, given by the caller: confidence, policy files …
};

/// A run with its results: what every report is made from.
struct Report {
  RunInfo run;
  std::vector<Result> results;
};

}  // namespace torchstone
