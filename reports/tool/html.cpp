#include "reports/tool/html.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/files.h"
#include "reports/html/page.h"
#include "reports/merge.h"

namespace torchstone {
namespace {

struct HtmlArguments {
  std::vector<std::string> inputs;
  std::string baseline, history, out = "report.html";
  BaselineOptions options;
};

Report read_results(const std::vector<std::string>& inputs) {
  Merged merged = merge_results({inputs.begin(), inputs.end()});
  for (const auto& warning : merged.warnings) fmt::print(stderr, "warning: {}\n", warning);
  return std::move(merged.report);
}

int html(const HtmlArguments& arguments) {
  const Report report = read_results(arguments.inputs);
  if (report.results.empty()) {
    fmt::print(stderr, "no results in {}\n", fmt::join(arguments.inputs, ", "));
    return 3;
  }
  PageOptions page;
  if (!arguments.baseline.empty()) {
    const Report baseline = read_results({arguments.baseline});
    page.comparison = compare_with_baseline(baseline, report, arguments.options);
    page.baseline_label = fmt::format("{}, started {}", arguments.baseline, baseline.run.started);
  }
  if (!arguments.history.empty()) page.history = read_history(arguments.history);
  write_atomically(arguments.out, write_html(report, page));
  fmt::print("{}\n", arguments.out);
  return 0;
}

}  // namespace

void add_html_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("html", "One self-contained page of a run, or of several, to read and to send");
  const auto arguments = std::make_shared<HtmlArguments>();
  command->add_option("inputs", arguments->inputs, "Results folders, or results.json files")->required();
  command->add_option("--baseline", arguments->baseline, "Results of an older run: what changed since comes first");
  command->add_flag("--other-machine", arguments->options.other_machine,
                    "Compare timings although the baseline is of another machine");
  command->add_option("--history", arguments->history, "File of torchstone-report history: trends of the speed-ups");
  command->add_option("-o,--out", arguments->out, "The page")->capture_default_str();
  command->callback([arguments, &exit_code] {
    try {
      exit_code = html(*arguments);
    } catch (const ReportError& error) {
      fmt::print(stderr, "{}\n", error.what());
      exit_code = 2;
    }
  });
}

}  // namespace torchstone
