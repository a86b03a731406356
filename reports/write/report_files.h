#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <torchstone/report_writer.h>

namespace torchstone::write {

struct Written {
  std::vector<std::string> paths;   ///< in the order of the writers
  std::vector<std::string> faults;  ///< of writers that failed and of files that could not be written: "report writer
                                    ///< NAME: …"
};

/// What one writer makes of a report. Throws what the writer throws, and ReportError for a file outside of the results
/// folder.
NamedTexts texts_of(const ReportWriter& writer, const Report& report, const WriteOptions& options = {});

/// The files of all writers that write each run (<torchstone/report_writer.h>) in `out`, and their list for the run
/// that empties the folder (reports/record/results_folder/ownership.h). Throws nothing of the system: a file that
/// cannot be written is a fault.
Written write_reports(const Report& report, const std::filesystem::path& out, WriteOptions options = {});

}  // namespace torchstone::write
