#pragma once
#include <map>
#include <string>
#include <vector>

#include <torchstone/result.h>

#include "reports/judge/upstream/upstream_table.h"

namespace torchstone::judge {

using Matches = std::vector<const Result*>;

/// The cases that the name of a table's file allows, each once (the last record counts), by the names that a row may
/// have. Refers to the results.
class Candidates {
 public:
  Candidates(const UpstreamTable& table, const std::vector<Result>& results);

  /// Those of a row: by our name of the model, or else by upstream's, and on the row's device. Throws ReportError
  /// "file:line: …" when there are several of one model; several models may be variants of one of upstream's.
  Matches of(const CsvRow& row) const;
  /// What the file's name says → cases that it leaves out.
  const std::map<std::string, size_t>& refused() const { return refused_; }

 private:
  Matches named(const std::string& name, const std::string& device) const;

  const UpstreamTable& table_;
  std::map<std::string, Matches> by_own_name_, by_upstream_name_;
  std::map<std::string, size_t> refused_;
};

}  // namespace torchstone::judge
