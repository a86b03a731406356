#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <torchstone/report_writer.h>

namespace torchstone::write {

struct Written {
  std::vector<std::string> paths;   ///< in the order of the writers
  std::vector<std::string> faults;  ///< failed writers and files: "report writer NAME: …"
};

/// Returns the files of one writer. Throws what the writer throws, and ReportError for a file outside of the results
/// folder.
NamedTexts texts_of(const ReportWriter& writer, const Report& report, const WriteOptions& options = {});

/// Writes the files of all writers with `each_run` (<torchstone/report_writer.h>) to `out`. Also stores their names, so
/// that a later run can remove the files (reports/record/results_folder/ownership.h). Never throws std::system_error: a
/// file that cannot be written becomes a fault.
Written write_reports(const Report& report, const std::filesystem::path& out, WriteOptions options = {});

}  // namespace torchstone::write
