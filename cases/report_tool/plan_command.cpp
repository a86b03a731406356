#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cases/report_tool/commands.h"
#include "reports/base/files.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/record/chunk_plan.h"
#include "reports/record/report_json.h"
#include "reports/record/results_folder/merge_results.h"
#include "reports/write/chunk_plan_formats.h"

namespace torchstone {
namespace {

struct PlanArguments {
  std::vector<std::string> inputs;
  std::string cases, format = "text", image, out;
  double length_s = 0;
  std::optional<double> assumed_s;
};

std::vector<PlannedCase> cases_to_plan(const PlanArguments& arguments) {
  std::vector<Result> results;
  if (!arguments.inputs.empty()) {
    results_folder::Merged merged = results_folder::merge_results({arguments.inputs.begin(), arguments.inputs.end()});
    print_warnings(merged.warnings);
    results = std::move(merged.report.results);
  }
  if (arguments.cases.empty()) return cases_of(results);
  return cases_of_list(read_at_most(arguments.cases, JsonLimits::bytes), arguments.cases, results);
}

/// A program reads the matrix, so the note on assumed durations goes to standard error.
void warn_of_assumed(const ChunkPlan& plan) {
  if (plan.assumed.empty()) return;
  print_error(fmt::format("warning: {} cases have no recorded duration ({}{}); --format text names all",
                          plan.assumed.size(), plan.assumed.front(), plan.assumed.size() > 1 ? ", …" : ""));
}

std::string text_of(const ChunkPlan& plan, const PlanArguments& arguments) {
  if (arguments.format == "text") return write::plan_text(plan);
  if (arguments.format == "json") return write::plan_json(plan);
  warn_of_assumed(plan);
  if (arguments.format == "github") return write::plan_github(plan);
  if (arguments.format == "gitlab") return write::plan_gitlab(plan, arguments.image);
  return write::plan_k8s(plan, arguments.image);
}

int plan(const PlanArguments& arguments) {
  const bool takes_image = arguments.format == "gitlab" || arguments.format == "k8s";
  if (!arguments.image.empty() && !takes_image)
    throw std::invalid_argument("--image: expected it with --format gitlab or k8s");
  if (arguments.image.empty() && arguments.format == "k8s")
    throw std::invalid_argument("--format k8s: expected --image, a container image with torchstone");
  if (arguments.inputs.empty() && arguments.cases.empty())
    throw std::invalid_argument("plan: expected results of an earlier run, a list of cases (--cases), or both");
  const auto cases = cases_to_plan(arguments);
  if (cases.empty()) {
    print_error("no cases to plan");
    return ExitCode::nothing_judged;
  }
  write_output(text_of(plan_chunks(cases, arguments.length_s, arguments.assumed_s), arguments), arguments.out);
  return ExitCode::success;
}

}  // namespace

void add_plan_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "plan", "Divide the cases of earlier results into chunks of equal duration, for Slurm, CI or Kubernetes");
  const auto arguments = std::make_shared<PlanArguments>();
  command->add_option("RESULTS", arguments->inputs, "Results folders, or results.json files, with the durations");
  command->add_option(
      "--cases", arguments->cases,
      "File of torchstone --torchstone_list=cases --torchstone_format=json: the cases to plan (default: "
      "those of RESULTS)");
  command->add_option("--length", arguments->length_s, "Seconds of a chunk")->required()->check(positive_number());
  command
      ->add_option("--assume", arguments->assumed_s,
                   "Seconds of a case without a recorded duration (default: the median of the others, timed or not)")
      ->check(positive_number());
  command->add_option("--format", arguments->format)
      ->check(CLI::IsMember({"text", "json", "github", "gitlab", "k8s"}))
      ->capture_default_str();
  command->add_option("--image", arguments->image, "Container image with torchstone, for gitlab and k8s");
  add_output(*command, arguments->out);
  command->callback([arguments, &exit_code] { exit_code = plan(*arguments); });
}

}  // namespace torchstone
