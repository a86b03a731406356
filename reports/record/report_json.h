#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

#include "reports/base/files.h"

namespace torchstone {

/// Limits of a JSON text, checked before it is parsed. They are far above a run of 100,000 cases.
struct JsonLimits {
  static constexpr size_t bytes = size_t{512} << 20, depth = 64, members = 8'000'000, items = 32'000'000,
                          results = 250'000;
};

/// Throws std::invalid_argument for a text beyond the limits of depth, members and items. It leaves other errors to the
/// parser.
void check_json_limits(std::string_view text);

/// Writes results.json, schema "torchstone/result/2" (docs/results_json.md). The schema number grows when readers of
/// the old form would misunderstand the new one. Readers ignore unknown members, keep unknown metrics, notes and
/// samples, and treat an absent member as empty. Only `name` and `outcome.status` of a result are required.
std::string write_json(const std::vector<Result>& results, const RunInfo& run);
/// Reads results.json, also of version 1. `file` is only for messages. Throws ReportError. A text beyond the limits
/// above is refused before any memory is allocated.
Report parse_json(const std::string& text, const std::string& file);

/// Writes or reads a single case, schema "torchstone/case/2".
std::string write_case_json(const Result& result);
Result parse_case_json(const std::string& text, const std::string& file);

}  // namespace torchstone
