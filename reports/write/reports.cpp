#include "reports/write/reports.h"

#include <map>

#include <fmt/format.h>

#include "reports/base/files.h"
#include "reports/base/report_error.h"
#include "reports/results_folder/empty_results.h"

namespace torchstone::write {
namespace fs = std::filesystem;

NamedTexts texts_of(const ReportWriter& writer, const Report& report, const WriteOptions& options) {
  NamedTexts texts;
  if (writer.files) texts = writer.files(report, options);
  if (writer.text) texts = {{writer.file, writer.text(report, options)}};
  std::erase_if(texts, [](const auto& file) { return file.second.empty(); });
  for (const auto& [name, text] : texts)
    if (!results_folder::is_inside(name))
      throw ReportError(fmt::format("the file \"{}\" is outside of the results folder", name));
  return texts;
}

Written write_reports(const Report& report, const fs::path& out, WriteOptions options) {
  std::map<std::string, std::string> writer_of;
  Written written;
  for (const ReportWriter* writer : report_writers()) {
    if (!writer->each_run) continue;
    NamedTexts texts;
    try {
      texts = texts_of(*writer, report, options);
      for (const auto& [name, text] : texts) {
        const auto [first, added] = writer_of.try_emplace(name, writer->name);
        if (!added) throw ReportError(fmt::format("the file \"{}\" is also written by {}", name, first->second));
      }
    } catch (const std::exception& error) {
      written.faults.push_back(fmt::format("report writer {}: {}", writer->name, error.what()));
      continue;
    }
    for (const auto& [name, text] : texts) {
      write_atomically(out / name, text);
      options.written.push_back((out / name).string());
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, writer] : writer_of) names.push_back(name);
  results_folder::note_written(out, names);
  written.paths = options.written;
  return written;
}

}  // namespace torchstone::write
