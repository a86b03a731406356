#include "reports/base/csv_format.h"
#include "reports/base/files.h"
#include "reports/judge/history.h"
#include "reports/record/report_json.h"
#include "reports/record/results_folder/folder_lock.h"
#include "tests/fuzz/target.h"

namespace torchstone::fuzz {
namespace {

template <typename Read>
void taken_or_refused(Read read) {
  try {
    read();
  } catch (const ReportError&) {  // refused
  }
}

}  // namespace

const std::vector<Target>& reports_targets() {
  static const std::vector<Target> table = {
      {"csv", [](const std::string& bytes) { taken_or_refused([&] { parse_csv(bytes, "a.csv"); }); }},
      {"results",
       [](const std::string& bytes) {
         taken_or_refused([&] {
           const Report report = parse_json(bytes, "results.json");
           parse_json(write_json(report.results, report.run), "again.json");  // a report that was read can be written
         });
       }},
      {"case_record",
       [](const std::string& bytes) {
         taken_or_refused([&] { parse_case_json(write_case_json(parse_case_json(bytes, "case.json")), "again.json"); });
       }},
      {"history",
       [](const std::string& bytes) {
         taken_or_refused([&] { judge::write_history(judge::parse_history(bytes, "history.jsonl", nullptr)); });
       }},
      {"holder", [](const std::string& bytes) { to_json(results_folder::parse_holder(bytes)); }},
  };
  return table;
}

}  // namespace torchstone::fuzz
