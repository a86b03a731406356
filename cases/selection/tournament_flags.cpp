#include "cases/selection/tournament_flags.h"

#include <fmt/format.h>

#include "cases/flags/without_effect.h"
#include "reports/base/process.h"
#include "reports/base/text.h"

namespace torchstone::selection {
namespace {

std::string words_against(const std::string& what) {
  return fmt::format("--torchstone_tournament does not go with {}", what);
}

void require_one_shard() {
  const std::string shards = environment_variable("GTEST_TOTAL_SHARDS");
  if (parse_number(shards).value_or(1) > 1)
    throw config::ConfigError(words_against(
        fmt::format("GTEST_TOTAL_SHARDS={}: shards would share out the variants of a model, which are timed against "
                    "each other (divide the models instead, by --torchstone_only or --gtest_filter)",
                    shards)));
}

}  // namespace

void require_tournament_flags(flags::Flags& flags) {
  std::string against;
  if (flags.print_program) against = "print_program";
  if (!flags.axes.checks.empty()) against = "checks (a tournament has its own)";
  if (!flags.axes.dynamic.empty()) against = "dynamic";
  if (!flags.baseline.empty()) against = "baseline";
  if (flags.update_expected) against = "update_expected";
  if (!flags.operator_log.empty()) against = "log_operator_inputs";
  if (flags.run.coverage) against = "coverage";
  if (flags.run.layers) against = "layer_times";
  if (flags.run.log_conv_args) against = "log_conv_args";
  if (!flags.run.save_outputs.empty()) against = "save_outputs";
  if (!flags.run.compare_outputs.empty()) against = "compare_outputs";
  if (flags.run.isolate == Isolation::off) against = "isolate=off (it times fresh processes)";
  if (!against.empty()) throw config::ConfigError(words_against("--torchstone_" + against));
  for (const std::string name : {"required_speedup", "npy", "export_profiler_trace", "memory_snapshot",
                                 "strict_undecided", "cuda_graphs", "interleave", "diagnose_limit", "diagnose_max"})
    flags::refuse_without_effect(flags, name, words_against("--torchstone_" + name));
  if (flags.run.diagnose == Diagnose::always)
    flags::refuse_without_effect(flags, "diagnose", words_against("--torchstone_diagnose=always"));
  if (flags.github == "always")
    flags::refuse_without_effect(flags, "github", words_against("--torchstone_github=always"));
  require_one_shard();
}

}  // namespace torchstone::selection
