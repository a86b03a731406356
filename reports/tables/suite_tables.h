#pragma once
#include <string>
#include <vector>

#include <torchstone/result.h>

namespace torchstone::tables {

/// What a suite's results come to, beyond one row a case.
struct SuiteTable {
  std::string title, explanation;
  std::vector<std::string> header;
  size_t texts = 1;  ///< so many columns are text, the others numbers
  std::vector<std::vector<std::string>> rows;
};

/// Speed-ups by model (reports/tables/speedup_table.h), then what dynamic sizes cost (reports/tables/dynamic_table.h),
/// then one table for the operators of each suite and dtype (quantiles of speed-up, each input weighed by its calls in
/// the log), then one for the runners of fastrnns (upstream's); none for results without them. An empty cell was not
/// measured.
std::vector<SuiteTable> suite_tables(const std::vector<Result>& results);

}  // namespace torchstone::tables
