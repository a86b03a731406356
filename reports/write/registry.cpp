#include <algorithm>

#include <fmt/format.h>
#include <torchstone/report_writer.h>

#include "models/core/registration.h"

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
