// The raw results, inside the page.
#include <fmt/format.h>

#include "reports/html/markup.h"
#include "reports/html/packed.h"
#include "reports/html/sections.h"
#include "reports/json.h"

namespace torchstone::html {
namespace {

std::string section(const std::string& content) {
  return "<section id=data><h2>Raw data</h2>" + content + "</section>\n";
}

std::string link(const DataFile& file, std::string_view remark) {
  return section(
      fmt::format("<p><a class=button download=\"results.json{0}\" href=\"{1}\">Save results.json{0}</a> "
                  "<small>{2} KiB; {3}</small></p>",
                  file.suffix, file.address, file.address.size() * 3 / 4 / 1024 + 1, remark));
}

}  // namespace

std::string data_section(const View& view, size_t room) {
  const auto& [run, results] = view.report;
  const DataFile whole = data_file(write_json(results, run));
  if (whole.address.size() <= room) {
    return link(whole, "everything on this page, and every raw sample, is made from it");
  }
  auto shorter = results;
  for (auto& result : shorter) result.outcome.samples.clear();
  const DataFile without_samples = data_file(write_json(shorter, run));
  if (without_samples.address.size() <= room) {
    return link(without_samples,
                "without the raw samples, which are too many for one page: the results.json that this "
                "page was made from has them");
  }
  return section("<p>Too large for this page: see the results.json that it was made from.</p>");
}

}  // namespace torchstone::html
