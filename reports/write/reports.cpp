#include "reports/write/reports.h"

#include "reports/base/files.h"
#include "reports/console/summary_text.h"
#include "reports/record/json.h"
#include "reports/record/summary.h"
#include "reports/tables/fastrnns.h"
#include "reports/tables/operatorbench.h"
#include "reports/tables/upstream_csv.h"
#include "reports/write/csv.h"
#include "reports/write/html/page.h"

namespace torchstone::write {
namespace fs = std::filesystem;

std::vector<std::string> write_reports(const std::vector<Result>& results, const RunInfo& run, const fs::path& out,
                                       const JUnitOptions& junit) {
  NamedTexts files = {{"results.json", write_json(results, run)},
                      {"report.html", write_html({run, results})},
                      {"junit.xml", write_junit(results, run, junit)},
                      {"results.csv", write_wide_csv(results)},
                      {"summary.csv", write_summary_csv(results)}};
  for (auto& [name, text] : tables::write_upstream_csvs(results, run.tag))
    files.emplace_back("csv/" + name, std::move(text));
  if (auto sizes = write_batch_sizes(results); !sizes.empty()) files.emplace_back("batch_sizes.txt", std::move(sizes));
  for (auto& [name, text] : tables::write_operatorbench_csvs(results))
    files.emplace_back("csv/" + name, std::move(text));
  for (auto& file : tables::write_fastrnns(results)) files.push_back(std::move(file));
  std::vector<std::string> paths;
  for (const auto& [name, text] : files) {
    write_atomically(out / name, text);
    paths.push_back((out / name).string());
  }
  paths.push_back((out / "summary.txt").string());
  write_atomically(paths.back(), console::write_summary(results, run, paths));
  return paths;
}

}  // namespace torchstone::write
