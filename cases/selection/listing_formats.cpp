#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/selection/listing.h"
#include "cases/settings/case_fields.h"
#include "cases/settings/flags.h"
#include "cases/settings/policy.h"
#include "fixtures/core/check_registry.h"
#include "fixtures/measure/gpus.h"

namespace torchstone::listing {
namespace {

constexpr double slack_s = 60;  // start of the process, loading, writing results

// Quotes a text as CMake's bracket argument, which may hold anything.
std::string bracketed(const std::string& text) {
  std::string equals = "=";
  while (text.find("]" + equals + "]") != std::string::npos || text.ends_with("]" + equals)) equals += "=";
  // A line break right after the opening bracket would be dropped.
  return fmt::format("[{0}[{1}{2}]{0}]", equals, text.starts_with('\n') ? "\n" : "", text);
}

/// Returns the flags that affect the case. The program refuses others.
std::vector<std::string> own_flags(const flags::Flags& flags, const Case& c) {
  static const std::vector<std::string> of_listing{"list",   "format", "explain",        "print_program",
                                                   "report", "help",   "update_expected"};
  std::vector<std::string> words;
  for (const auto& [name, value] : flags.given)
    if (std::ranges::find(of_listing, name) == of_listing.end() && makes_a_difference(flags, name, c))
      words.push_back(fmt::format("--torchstone_{}={}", name, value));
  return words;
}

std::string labels_of(const Case& c, const selection::Known& known) {
  std::vector<std::string> labels{
      c.check, c.suite, to_string(c.mode), to_string(c.dtype), label_of(c.backend), c.device, to_string(c.preset)};
  if (c.dynamic != Dynamic::off) labels.push_back("dynamic_" + to_string(c.dynamic));
  const ModelInfo* info = known.model(c.model);
  if (info && !info->family.empty()) labels.push_back(info->family);
  return fmt::format("{}", fmt::join(labels, ";"));
}

// Returns properties that run timed tests alone. Other tests wait passively, because spinning threads would take the
// cores of concurrent tests.
const char* concurrency_properties(const Case& c) {
  return check_info(c).timed ? " RUN_SERIAL TRUE" : " ENVIRONMENT OMP_WAIT_POLICY=passive";
}

// Returns the request for one GPU of ctest's resource file per rank, for a case that may run on any GPU. Without such a
// file ctest ignores it.
std::string resource_properties(const Case& c) {
  if (c.device != "cuda") return "";
  return fmt::format(" RESOURCE_GROUPS [[{},gpus:{}]]", c.world, check_info(c).timed ? measure::slots_of_gpu : 1);
}

constexpr const char* page_head =
    "# Flags, fields of a case, keys of a policy\n\n"
    "<!-- Printed by torchstone --torchstone_list=flags --torchstone_format=markdown. Do not edit. -->\n\n"
    "## Flags\n\n"
    "Each flag has an environment twin: `--torchstone_out=X` is `TORCHSTONE_OUT=X`. The flag wins. A `BOOL` flag needs "
    "no value. GoogleTest's flags (`--gtest_filter=…`, `--gtest_repeat=…`) work as always.\n\n"
    "On the command line a misspelt flag is a usage error (exit code 2). So is a flag without effect. The other flags "
    "may rule it out (`--torchstone_format` without a list). Or no case of the run depends on it "
    "(`--torchstone_repeat` without a case of performance). The suites, the flags and `--gtest_filter` select the "
    "run's cases, in all shards together. A flag is accepted if one of them depends on it.\n\n"
    "A twin without effect is not an error, because it may be set for all jobs of a pipeline. The run names it in one "
    "line and continues. A variable whose name nearly matches that of a twin causes a warning.\n";

constexpr const char* fields_head =
    "\n## Fields of a case\n\n"
    "A [suite](suites.md) sets a field under its key, and a flag sets it for all cases. `torchstone "
    "--torchstone_explain=GLOB` shows the fields of the cases that match, each with the line that decided it.\n\n"
    "| field | key in a suite | flag | value | default, or what decides | meaning |\n|---|---|---|---|---|---|\n";

constexpr const char* policy_head =
    "\n## Keys of a policy\n\n"
    "A [policy](suites.md#policies) has upstream's schema, and keys of ours for lists that upstream has in its code. A "
    "key takes a list of models, or a number for each model.\n\n"
    "| key | takes | effect |\n|---|---|---|\n"
    "| `tolerance_rule` | `torchbench\\|timm\\|huggingface` | whose tolerances and accuracy batch sizes apply (ours; "
    "default: by the suite's name) |\n"
    "| `default_optimizer` | `adam\\|sgd` | the optimizer in training of models in no list (ours; default: adam) |\n";

std::string in_cell(const std::string& text) { return substituted(text, {{'|', "\\|"}}); }

std::string code(const std::string& text) { return text.empty() ? "" : fmt::format("`{}`", in_cell(text)); }

std::string value_cell(const std::string& value, const std::string& range) {
  return range.empty() ? code(value) : fmt::format("{}, {}", code(value), in_cell(range));
}

std::string table_of_flags(const std::string& group) {
  std::string text = fmt::format(
      "\n### {}\n\n| flag | environment twin | value | default | meaning |\n|---|---|---|---|---|\n", group);
  for (const auto& flag : flags::flag_table()) {
    if (flag.group != group) continue;
    const std::string alias = flag.alias.empty() ? "" : fmt::format(" or `--torchstone_{}`", flag.alias);
    text += fmt::format("| `--torchstone_{}`{} | `{}` | {} | {} | {} |\n", flag.name, alias, environment_name(flag),
                        value_cell(flag.value, flag.range), in_cell(flag.fallback), in_cell(flag.help));
  }
  return text;
}

}  // namespace

std::string ctest_script(const std::vector<Case>& cases, const flags::Flags& flags, const selection::Known& known) {
  std::string script;
  for (const auto& c : cases) {
    const std::string name = bracketed(name_of(c));
    std::vector<std::string> command{bracketed(flags.run.program)};
    for (const auto& word : own_flags(flags, c)) command.push_back(bracketed(word));
    command.push_back(bracketed("--torchstone_report=none"));
    command.push_back(bracketed("--gtest_filter=" + name_of(c)));
    const double diagnosis_s = flags.run.diagnose == Diagnose::never ? 0 : flags.run.diagnose_limit_s;
    const double limit = std::ceil(c.time_limit_s + flags.run.compile_limit_s + diagnosis_s + slack_s);
    script += fmt::format("add_test({} {})\n", name, fmt::join(command, " "));
    script += fmt::format(
        "set_tests_properties({} PROPERTIES LABELS {} TIMEOUT {:.0f} FIXTURES_REQUIRED torchstone_results{}{})\n", name,
        bracketed(labels_of(c, known)), limit, concurrency_properties(c), resource_properties(c));
  }
  return script;
}

std::string reference_page() {
  std::string text = page_head;
  std::string group;
  for (const auto& flag : flags::flag_table())
    if (flag.group != group) text += table_of_flags(group = flag.group);
  text += fields_head;
  for (const auto& field : config::case_fields())
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", field.name, code(field.key),
                        code(field.flag.empty() ? "" : "--torchstone_" + field.flag),
                        value_cell(field.value, field.range), in_cell(field.fallback), in_cell(field.help));
  text += policy_head;
  for (const auto& key : policy::policy_schema())
    text +=
        fmt::format("| `{}` | {} | {} |\n", key.path,
                    key.kind == policy::PolicyKey::Kind::models ? "models" : "a number for each model",
                    in_cell(key.from.empty() ? key.use : fmt::format("{} (ours; upstream: `{}`)", key.use, key.from)));
  return text;
}

}  // namespace torchstone::listing
