// A custom report writer: the ten cases that took longest, as a table in Markdown.
#include <algorithm>
#include <functional>

#include <torchstone/report_writer.h>

using namespace torchstone;

std::string slowest_cases(const Report& report, const WriteOptions&) {
  std::vector<const Result*> results;
  for (const Result& result : report.results) results.push_back(&result);
  std::ranges::stable_sort(results, std::greater<>(), [](const Result* result) { return result->duration_s; });
  std::string text = "Run of " + report.run.started + "\n\n| seconds | status | case |\n|---|---|---|\n";
  for (size_t i = 0; i < std::min<size_t>(results.size(), 10); ++i)
    text += "| " + std::to_string(results[i]->duration_s) + " | " + std::string(to_string(results[i]->outcome.status)) +
            " | " + results[i]->name + " |\n";
  return text;
}

TORCHSTONE_REPORT_WRITER(slowest, .help = "The ten cases that took longest", .file = "slowest.md",
                         .text = slowest_cases);
