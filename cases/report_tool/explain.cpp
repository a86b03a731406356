#include "cases/report_tool/explain.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cases/report_tool/inputs.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/record/diagnosis_text.h"
#include "reports/results_folder/diagnosis_files.h"

namespace torchstone {
namespace {

std::string explained(const Result& result) {
  std::string text =
      fmt::format("{}\n  {}: {}\n", result.name, to_string(result.outcome.status), result.outcome.reason);
  if (const std::string why = why_undiagnosed(result); !why.empty()) return text + fmt::format("  {}\n", why);
  const auto found = found_for(result);
  if (!found)
    return text +
           "  no diagnosis: --torchstone_diagnose=always makes one where the backend compiles parts of a program\n";
  text += fmt::format("  {}: {}\n", found->outcome, found->sentence);
  for (const auto& line : lines_of(*found)) text += fmt::format("  {:<18} {}\n", line.title, line.text);
  if (const auto folder = result.outcome.notes.find("diagnosis_folder"); folder != result.outcome.notes.end())
    text += fmt::format("  {:<18} {}\n", "files", folder->second);
  return text;
}

int explain(const std::string& name, const std::vector<std::string>& inputs) {
  auto report = read_inputs(inputs);
  if (!report) return ExitCode::nothing_judged;
  results_folder::relate_diagnoses(*report, {inputs.begin(), inputs.end()}, std::filesystem::current_path());
  std::string text;
  for (const auto& result : report->results)
    if (result.name.find(name) != std::string::npos) text += explained(result);
  if (text.empty()) {
    print_error(fmt::format("torchstone-report: no case of these results has {} in its name", name));
    return ExitCode::nothing_judged;
  }
  print_text(text);
  return ExitCode::success;
}

}  // namespace

void add_explain_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("explain", "What was found about why a compiled program is wrong");
  const auto name = std::make_shared<std::string>();
  const auto inputs = std::make_shared<std::vector<std::string>>();
  command->add_option("case", *name, "A part of the case's name")->required();
  add_inputs(*command, *inputs);
  command->callback([name, inputs, &exit_code] { exit_code = explain(*name, *inputs); });
}

}  // namespace torchstone
