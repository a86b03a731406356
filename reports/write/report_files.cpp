#include "reports/write/report_files.h"

#include <algorithm>
#include <functional>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "models/core/registration.h"
#include "reports/base/files.h"
#include "reports/base/text.h"
#include "reports/record/results_folder/ownership.h"

namespace torchstone {
namespace {

Registry<ReportWriter>& registry() {
  static Registry<ReportWriter> writers("report writer");
  return writers;
}

std::string fault_of(const ReportWriter& writer) {
  if (writer.help.empty()) return "has no .help";
  if (static_cast<bool>(writer.text) == static_cast<bool>(writer.files)) return "needs either .text or .files";
  if (static_cast<bool>(writer.text) == writer.file.empty()) return "has .file where it has .text, and only there";
  return "";
}

}  // namespace

bool register_report_writer(ReportWriter writer, const char* file, int line) {
  if (const std::string fault = fault_of(writer); !fault.empty())
    return refuse_registration(fmt::format("{}:{}: report writer {} {}", file, line, writer.name, fault));
  const std::string name = writer.name;
  return registry().add(name, std::move(writer), file, line);
}

std::vector<const ReportWriter*> report_writers() {
  std::vector<const ReportWriter*> writers;
  for (const auto& [name, entry] : registry().entries()) writers.push_back(&entry.value);
  std::ranges::stable_sort(writers, {}, &ReportWriter::order);
  return writers;
}

}  // namespace torchstone

namespace torchstone::write {

namespace fs = std::filesystem;
namespace {

/// Calls `write`. Adds its std::system_error to the faults and returns false.
bool attempt(const std::string& name, const std::function<void()>& write, std::vector<std::string>& faults) {
  try {
    write();
    return true;
  } catch (const std::system_error& error) {
    const std::string fault = fmt::format("report writer {}: {}", name, error.what());
    if (faults.empty() || faults.back() != fault) faults.push_back(fault);  // one line for many files in one folder
    return false;
  }
}

}  // namespace

NamedTexts texts_of(const ReportWriter& writer, const Report& report, const WriteOptions& options) {
  NamedTexts texts;
  if (writer.files) texts = writer.files(report, options);
  if (writer.text) texts = {{writer.file, writer.text(report, options)}};
  std::erase_if(texts, [](const auto& file) { return file.second.empty(); });
  for (const auto& [name, text] : texts)
    if (!results_folder::is_report_name(name))
      throw ReportError(
          fmt::format("no report may be called \"{}\": expected a path inside the results folder, not "
                      "hidden, not in cases/ or runs/, of parts of at most 255 bytes",
                      shortened(printable(name), 200)));
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
      const auto write = [&, &name = name, &text = text] { write_atomically(out / name, text); };
      if (attempt(writer->name, write, written.faults)) options.written.push_back((out / name).string());
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, writer] : writer_of) names.push_back(name);
  attempt(
      "list of files", [&] { results_folder::note_written(out, names); }, written.faults);
  written.paths = options.written;
  return written;
}

}  // namespace torchstone::write
