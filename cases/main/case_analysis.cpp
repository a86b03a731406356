#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cases/main/session.h"
#include "fixtures/checks/case_diagnosis.h"
#include "fixtures/checks/profile/case_profile.h"
#include "fixtures/isolate/signals.h"
#include "reports/base/terminal.h"
#include "reports/console/progress.h"
#include "reports/record/diagnosis_text.h"
#include "reports/record/results_folder/side_files.h"
#include "reports/record/summary.h"
#include "reports/record/verdict.h"

namespace torchstone {

constexpr int64_t usual_most = 10;

std::string DiagnosisBudget::take(const std::string& model) {
  const bool is_further = models_.contains(model);
  const int64_t most_further = most_ / 2;
  if (most_ > 0 && taken_ >= most_)
    return fmt::format("not diagnosed: as many cases as --torchstone_diagnose_max says ({}) have been", most_);
  if (most_ > 0 && is_further && further_ >= most_further)
    return fmt::format(
        "not diagnosed: another case of this model was, and {} of the {} of --torchstone_diagnose_max may be such",
        most_further, most_);
  ++taken_;
  further_ += is_further ? 1 : 0;
  models_.insert(model);
  return "";
}

DiagnosisBudget diagnosis_budget_of(const RunOptions& options) {
  return DiagnosisBudget(options.diagnose_max.value_or(options.diagnose == Diagnose::always ? 0 : usual_most));
}

namespace {

/// Whether the run may make one more diagnosis. Otherwise the case records why it has none.
bool may_be_made(Session& session, const Case& c, Result& result) {
  const std::string refusal = session.diagnoses.take(c.model);
  if (refusal.empty()) return true;
  result.outcome.undiagnosed = refusal;
  if (session.diagnoses.is_first_refusal()) {
    console::clear_progress();
    print_error(
        fmt::format("warning: {}: {}; further ones say so in the reports alone", short_name(name_of(c)), refusal));
  }
  return false;
}

}  // namespace

void add_diagnosis(Session& session, size_t index, Result& result) {
  const Case& c = session.cases[index];
  const RunOptions& run = session.flags.run;
  if (run.diagnose == Diagnose::never || run.isolate == Isolation::off || isolate::interrupted()) return;
  if (!checks::can_compile_parts(c)) return;
  const bool always = run.diagnose == Diagnose::always;
  const bool wanted = checks::can_be_diagnosed(c, result.outcome) ? always || !result.as_expected()
                                                                  : always && result.outcome.status == Status::pass;
  if (!wanted || !may_be_made(session, c, result)) return;
  session.publish(result);
  const std::string name = short_name(name_of(c));
  const std::string text = session.runner.diagnose(index, result.outcome.status, [&](const Phase& phase) {
    console::show_progress(name, text_of_diagnosis_phase(phase.name, phase.tried.value_or(0)));
  });
  const auto folder = results_folder::diagnosis_path("", name_of(c)), here = run.out / folder;
  Diagnosis found = results_folder::read_diagnosis(text, here);
  if (std::filesystem::exists(here)) found.folder = folder.string();
  result.outcome.diagnosis = found;
  if (result.outcome.status != Status::pass)
    result.outcome.detail += fmt::format("\ndiagnosis ({}): {}\n", to_string(found.outcome), found.sentence);
}

void add_program_tables(Session& session, size_t index, Result& result) {
  const Case& c = session.cases[index];
  if (!checks::wants_profile(session.flags.run) || isolate::interrupted()) return;
  if (is_skipped(result)) return;
  const std::string name = short_name(name_of(c));
  const auto found = nlohmann::json::parse(session.runner.profile(
      index, [&](std::string_view phase) { console::show_progress(name, fmt::format("program: {}", phase)); }));
  if (const std::string tables = found.at("text"); !tables.empty()) {
    console::clear_progress();
    print_text(tables);
  }
  for (const auto& [note, text] : found.at("notes").items()) result.outcome.notes[note] = text;
}

}  // namespace torchstone
