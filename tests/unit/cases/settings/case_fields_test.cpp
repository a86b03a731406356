#include "cases/settings/case_fields.h"

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cases/selection/listing.h"
#include "cases/settings/flags.h"
#include "tests/unit/cases/support.h"

namespace torchstone::config {
namespace {

const CaseField& field(const std::string& name) {
  for (const auto& entry : case_fields())
    if (entry.name == name) return entry;
  throw std::invalid_argument(name);
}

/// Returns a value of the field that is not its default.
std::string other_value(const CaseField& entry) {
  const Case fresh;
  if (entry.boolean) return entry.get(fresh) == true ? "false" : "true";
  if (!entry.range.empty()) {
    const std::string low = entry.range.substr(0, entry.range.find(' '));
    const std::string high = entry.range.substr(entry.range.rfind(' ') + 1);
    return entry.get(fresh).dump() == low ? high : low;
  }
  return entry.key == "expected"        ? "fail_accuracy"
         : entry.key == "reason"        ? "issue 12"
         : entry.key == "amp_dtype"     ? "float16"
         : entry.key == "dynamic_range" ? "3..5"
         : entry.key == "cuda_graphs"   ? "both"
         : entry.key == "pin_threads"   ? "cores"
         : entry.key == "parallel"      ? "fsdp"
         : entry.key == "judge"         ? "both"
         : entry.key == "weights"       ? "/"
                                        : "adam";
}

TEST(CaseFields, HaveNamesKeysAndFlagsOfTheirOwn) {
  std::set<std::string> names, keys, flags;
  for (const auto& entry : case_fields()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_TRUE(entry.key.empty() || keys.insert(entry.key).second) << entry.key;
    EXPECT_TRUE(entry.flag.empty() || flags.insert(entry.flag).second) << entry.flag;
    EXPECT_FALSE(entry.help.empty()) << entry.name;
    EXPECT_EQ(entry.key.empty(), !entry.set) << entry.name;
    EXPECT_TRUE(entry.flag.empty() || !entry.key.empty()) << entry.name;
  }
}

TEST(CaseFields, SetTheMemberThatTheyShow) {
  for (const auto& entry : case_fields()) {
    if (entry.key.empty()) continue;
    Case c;
    c.mode = Mode::training;
    c.check = entry.name == "judge" ? "accuracy" : "performance";
    c.dtype = DType::amp;
    c.dynamic = Dynamic::batch;
    c.backend = {"torchscript", {}};
    const auto before = entry.get(c);
    apply_settings({{entry.key, scalar_of_flag("here", other_value(entry))}}, c);
    EXPECT_NE(entry.get(c), before) << entry.name;
    EXPECT_TRUE(!entry.shown || c.origin.at(entry.name) == "here") << entry.name;
    for (const auto& other : case_fields())
      if (other.name != entry.name) {
        Case untouched;
        untouched.mode = c.mode;
        untouched.check = c.check;
        untouched.dtype = c.dtype;
        untouched.dynamic = c.dynamic;
        untouched.backend = c.backend;
        EXPECT_EQ(other.get(c), other.get(untouched)) << entry.name << " changed " << other.name;
      }
  }
}

TEST(CaseFields, RefuseWhatIsOutsideTheirRange) {
  for (const auto& entry : case_fields()) {
    if (entry.range.empty()) continue;
    for (const char* wrong : {"-1e9", "1e300", "word"})
      EXPECT_THROW(check_setting(entry.key, scalar_of_flag("here", wrong)), ConfigError) << entry.name;
    for (const size_t at : {size_t{0}, entry.range.rfind(' ') + 1})
      EXPECT_NO_THROW(
          check_setting(entry.key, scalar_of_flag("here", entry.range.substr(at, entry.range.find(' ', at) - at))))
          << entry.name;
  }
}

// Names every member of Case, so that this no longer compiles when somebody adds a member.
TEST(CaseFields, HoldEveryMemberOfCase) {
  const Case c;
  const auto& [suite, model, check, mode, dtype, amp_dtype, device, backend, preset, dynamic, dynamic_range, batch_size,
               batch_source, fixed_batch, sizes, seed, weights, channels_last, threads, deterministic, no_deterministic,
               shares_timed, eval_in_training, optimizer, learning_rate, loss_divisor, iterations, world, parallel,
               policy, judge, tolerance, float16_tolerance, cosine, equal_nan, narrow_equal_nan, larger_multiplier,
               max_graph_breaks, max_recompiles, iou_threshold, eager_not_deterministic, accuracy_check_runs,
               skip_accuracy_check, upstream_semantics, ci, skip_reason, skip_override, expected_status, max_error,
               required_speedup, max_compile_s, max_memory_ratio, time_limit_s, measure_budget_s, processes, max_rounds,
               confidence, cold_cache, repeat, iterations_per_run, randomize_input, cold_start_latency,
               warm_start_latency, pin_threads, use_warm_peak_memory, cuda_graphs, sweep, origin, file, line, run] = c;
  const size_t members = 71, of_the_place = 3, of_the_run = 1, while_it_runs = 1, of_the_name = 1;
  EXPECT_EQ(static_cast<const void*>(&suite), &c.suite);
  EXPECT_EQ(line, 0);
  EXPECT_EQ(run, nullptr);
  EXPECT_TRUE(sizes.empty() && sweep.empty());
  EXPECT_EQ(listing::fields_of(c).size(), members - of_the_place - of_the_run - while_it_runs - of_the_name);
}

TEST(CaseFields, GiveExplainEveryLine) {
  std::set<std::string> names;
  for (const auto& entry : case_fields()) names.insert(entry.name);
  for (const auto& [name, value] : listing::fields_of(Case{})) EXPECT_TRUE(names.contains(name)) << name;
}

TEST(CaseFields, GiveEveryFlagThatChangesACase) {
  std::set<std::string> of_fields;
  for (const auto& entry : case_fields())
    if (!entry.flag.empty()) of_fields.insert(entry.flag);
  for (const auto& flag : flags::flag_table()) {
    flags::Flags flags;
    const CaseField* entry = nullptr;
    for (const auto& one : case_fields())
      if (one.flag == flag.name) entry = &one;
    if (entry) flag.set(flags, scalar_of_flag("here", other_value(*entry)));
    EXPECT_EQ(flags.overrides.size(), of_fields.erase(flag.name)) << flag.name;
  }
  EXPECT_THAT(of_fields, testing::IsEmpty());
}

TEST(CaseFields, StateTheDefaultOfACase) {
  EXPECT_EQ(field("time_limit_s").fallback, "300");
  EXPECT_EQ(field("learning_rate").fallback, "0.01");
  EXPECT_EQ(field("cold_cache").fallback, "false");
  EXPECT_EQ(field("seed").fallback, "1337");
  for (const auto& entry : case_fields()) {
    if (entry.range.empty() && !entry.boolean) continue;
    if (entry.fallback.find_first_of(" '") != std::string::npos) continue;  // decided by a policy or a suite
    Case c;
    c.mode = Mode::training;
    entry.set(c, scalar_of_flag("here", entry.fallback));
    EXPECT_EQ(entry.get(c), entry.get(Case{})) << entry.name;
  }
}

TEST(CaseFields, HaveAFlagForNanThatEqualsNan) {
  EXPECT_EQ(field("equal_nan").flag, "equal_nan");
  const flags::FlagInfo* flag = flags::find_flag("equal_nan");
  ASSERT_NE(flag, nullptr);
  flags::Flags flags;
  flag->set(flags, scalar_of_flag("here", "true"));
  Case c;
  c.equal_nan = false;
  apply_settings(flags.overrides, c);
  EXPECT_TRUE(c.equal_nan);
}

TEST(CaseFields, ApplyARequiredSpeedupToPerformanceOnly) {
  Case accuracy, performance;
  performance.check = "performance";
  const Settings settings{{"required_speedup", scalar_of_flag("here", "1.5")}};
  apply_settings(settings, accuracy);
  apply_settings(settings, performance);
  EXPECT_EQ(accuracy.required_speedup, std::nullopt);
  EXPECT_FALSE(accuracy.origin.contains("required_speedup"));
  EXPECT_EQ(performance.required_speedup, 1.5);
}

}  // namespace
}  // namespace torchstone::config
