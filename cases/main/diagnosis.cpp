#include "cases/main/diagnosis.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fixtures/backends/program_compiler.h"
#include "fixtures/backends/registry.h"
#include "fixtures/checks/diagnose_case.h"
#include "fixtures/isolate/interrupt.h"
#include "reports/console/progress.h"
#include "reports/record/row.h"
#include "reports/results_folder/side_files.h"

namespace torchstone {
namespace {

bool is_wanted(const Session& session, const Case& c, const Result& result) {
  const RunOptions& run = session.flags.run;
  if (run.diagnose == Diagnose::never || run.isolate == Isolation::off || isolate::interrupted()) return false;
  if (c.dynamic != Dynamic::off || backends::program_compiler(backend_of(c.backend.name)) == nullptr) return false;
  if (!checks::can_be_diagnosed(result.outcome))
    return run.diagnose == Diagnose::always && result.outcome.status == Status::pass;
  return run.diagnose == Diagnose::always || !result.as_expected();
}

}  // namespace

void add_diagnosis(Session& session, size_t index, Result& result) {
  const Case& c = session.cases[index];
  if (!is_wanted(session, c, result)) return;
  const std::string name = short_name(name_of(c));
  const auto found =
      nlohmann::json::parse(session.runner.diagnose(index, result.outcome.status, [&](std::string_view phase) {
        console::show_progress(name, fmt::format("diagnosis: {}", phase));
      }));
  auto& notes = result.outcome.notes;
  notes["diagnosis"] = found.value("sentence", "");
  notes["diagnosis_outcome"] = found.value("outcome", "");
  const auto folder = results_folder::diagnosis_path("", name_of(c));
  if (std::filesystem::exists(session.flags.run.out / folder)) notes["diagnosis_folder"] = folder.string();
  if (result.outcome.status != Status::pass)
    result.outcome.detail += fmt::format("\ndiagnosis ({}): {}\n", notes["diagnosis_outcome"], notes["diagnosis"]);
}

}  // namespace torchstone
