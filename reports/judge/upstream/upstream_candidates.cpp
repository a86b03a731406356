#include "reports/judge/upstream/upstream_candidates.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/files.h"
#include "reports/base/text.h"
#include "reports/record/fields.h"
#include "reports/tables/upstream_csv.h"

namespace torchstone::judge {
namespace {

std::string device_type(const std::string& device) { return device.substr(0, device.find(':')); }

bool agrees_in_backend(const Result& r, const std::string& said) {
  const std::string backend = tables::word_of(r.backend);
  return said == backend || said == backend + "_" + tables::word_of(r.suite);  // a suite that upstream does not have
}

/// What the file's name says and this case is not; empty when it agrees.
std::string disagreement(const UpstreamTable& t, const Result& r) {
  if (r.check != t.check) return "check " + t.check;
  for (const auto& field : text_fields()) {
    const auto said = t.facts.find(std::string(field.key));
    if (said == t.facts.end() || field.key == "check") continue;
    const bool agrees = field.key == "backend"  ? agrees_in_backend(r, said->second)
                        : field.key == "device" ? device_type(r.device) == said->second
                                                : r.*field.member == said->second;
    if (!agrees) return fmt::format("{} {}", field.key, said->second);
  }
  return "";
}

/// The fields in which cases differ.
std::string different_fields(const Matches& cases) {
  std::vector<std::string> fields;
  for (const auto& field : text_fields()) {
    const bool tells = field.key == "suite" || field.key == "mode" || field.key == "dtype" || field.key == "device" ||
                       field.key == "backend" || field.key == "preset" || field.key == "dynamic";
    if (tells &&
        std::ranges::any_of(cases, [&](const Result* r) { return r->*field.member != cases[0]->*field.member; }))
      fields.emplace_back(field.key);
  }
  return fmt::format("{}", fmt::join(fields, ", "));
}

void require_one_of_each_model(const UpstreamTable& t, const CsvRow& row, const Matches& cases) {
  std::map<std::string, Matches> of_model;
  for (const Result* result : cases) of_model[result->model].push_back(result);
  for (const auto& [model, same] : of_model) {
    if (same.size() == 1) continue;
    throw ReportError(fmt::format(
        "{}:{}: {} may be any of {} cases, which differ in {} ({}, {}{}): expected a file name that says it, as "
        "inductor_torchbench_float32_inference_cpu_accuracy.csv does, or a run that has only one of them",
        t.table.file, row.line, shortened(printable(t.cell(row, "name")), 60), same.size(), different_fields(same),
        same[0]->name, same[1]->name, same.size() > 2 ? ", …" : ""));
  }
}

}  // namespace

Candidates::Candidates(const UpstreamTable& table, const std::vector<Result>& results) : table_(table) {
  std::map<std::pair<std::string, std::string>, const Result*> last;
  for (const auto& result : results) last[{result.name, result.device}] = &result;
  for (const auto& [key, result] : last) {
    const std::string why = disagreement(table, *result);
    if (!why.empty()) {
      ++refused_[why];
      continue;
    }
    by_own_name_[result->model].push_back(result);
    const auto note = result->outcome.notes.find("upstream_name");
    if (note != result->outcome.notes.end()) by_upstream_name_[note->second].push_back(result);
  }
}

Matches Candidates::of(const CsvRow& row) const {
  Matches cases = named(table_.cell(row, "name"), table_.cell(row, "dev"));
  require_one_of_each_model(table_, row, cases);
  return cases;
}

Matches Candidates::named(const std::string& name, const std::string& device) const {
  for (const auto* names : {&by_own_name_, &by_upstream_name_}) {
    const auto found = names->find(name);
    if (found == names->end()) continue;
    Matches cases = found->second;
    std::erase_if(cases, [&](const Result* r) { return !device.empty() && device_type(r->device) != device; });
    if (!cases.empty()) return cases;
  }
  return {};
}

}  // namespace torchstone::judge
