#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "reports/result.h"
#include "reports/run_info.h"

namespace torchstone {

/// The unit of exchange: every other report can be made from it.
struct Report {
  RunInfo run;
  std::vector<Result> results;
};

/// What a file lacks: "results.json: line 3: expected …", "results.json: results[2].outcome.status: expected …".
class ReportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// results.json, schema "torchstone/result/1": run, machine, build, environment, policy, summary, and results, one a
/// line.
std::string write_json(const std::vector<Result>& results, const RunInfo& run);
/// `file` is only for the messages. Throws ReportError, also for a schema this version does not know.
Report parse_json(const std::string& text, const std::string& file);

/// One case on its own, schema "torchstone/case/1".
std::string write_case_json(const Result& result);
Result parse_case_json(const std::string& text, const std::string& file);

}  // namespace torchstone
