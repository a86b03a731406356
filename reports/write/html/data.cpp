// The raw results, inside the page.
#include <cmath>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/json.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/packed.h"
#include "reports/write/html/sections.h"

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

/// Five digits of a sample are far below its noise, and half of its bytes.
std::vector<Result> with_short_samples(std::vector<Result> results) {
  for (auto& result : results) {
    for (auto& [key, series] : result.outcome.samples) {
      for (double& value : series) {
        if (std::isfinite(value)) value = parse_number(fmt::format("{:.5g}", value)).value_or(value);
      }
    }
  }
  return results;
}

std::vector<Result> without_samples(std::vector<Result> results) {
  for (auto& result : results) result.outcome.samples.clear();
  return results;
}

}  // namespace

std::string data_section(const Report& report, size_t room) {
  const auto& [run, results] = report;
  const DataFile whole = data_file(write_json(results, run));
  if (whole.address.size() <= room) return link(whole, "everything on this page is made from it");
  constexpr std::string_view origin = "the results.json that this page was made from has them";
  const DataFile rounded = data_file(write_json(with_short_samples(results), run));
  if (rounded.address.size() <= room) {
    return link(rounded,
                fmt::format("raw samples with five digits, to keep the page small; for all digits, {}", origin));
  }
  const DataFile shorter = data_file(write_json(without_samples(results), run));
  if (shorter.address.size() <= room) {
    return link(shorter, fmt::format("without the raw samples, which are too many for one page; {}", origin));
  }
  return section("<p>Too large for this page: see the results.json that it was made from.</p>");
}

}  // namespace torchstone::html
