#pragma once
#include <string>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

#include "reports/base/files.h"

namespace torchstone {

/// The unit of exchange, results.json, schema "torchstone/result/1": run, machine, build, environment, policy, summary,
/// and results, one a line.
///
/// The number grows when a reader of the old form would misunderstand the new one. What only adds a member leaves it:
/// a reader ignores members it does not know, keeps metrics, notes and samples it does not know, and takes a member
/// that is absent for empty; only `name` and `outcome.status` of a result must be there. So files of earlier releases
/// with the same number are read, whatever they lack. Another number, a status that is not in the table, and a file
/// that ends too early are errors that name file and place.
std::string write_json(const std::vector<Result>& results, const RunInfo& run);
/// `file` is only for the messages. Throws ReportError, for what is beyond reports/record/json_limits.h before memory
/// is taken.
Report parse_json(const std::string& text, const std::string& file);

/// One case on its own, schema "torchstone/case/1".
std::string write_case_json(const Result& result);
Result parse_case_json(const std::string& text, const std::string& file);

}  // namespace torchstone
