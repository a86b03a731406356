#include "reports/record/compile_cost.h"

#include <limits>
#include <map>
#include <string>

#include <gtest/gtest.h>

namespace torchstone {
namespace {

using Metrics = std::map<std::string, double>;

Metrics with(Metrics metrics, const Metrics& more) {
  for (const auto& [key, value] : more) metrics[key] = value;
  return metrics;
}

const Metrics faster{{"compile_s", 20}, {"eager_ms", 5}, {"compiled_ms", 1}, {"speedup_low", 4.5}};

TEST(BreakEven, IsCompileTimeOverTheSecondsSavedByACall) {
  EXPECT_NEAR(break_even_calls(faster).value(), 5000, 1e-9);  // 20 s / 4 ms
  EXPECT_NEAR(calls_to_pay(faster, 40).value(), 10000, 1e-9);
}

TEST(BreakEven, IsAbsentAfterACompileWithWarmCaches) {
  const Metrics warm = with(faster, {{"cache_hit", 1}});
  EXPECT_TRUE(is_warm_compile(warm));
  EXPECT_EQ(break_even_calls(warm), std::nullopt);
  const Metrics artifact = with(warm, {{"artifact_bytes", 9e6}});
  EXPECT_FALSE(is_warm_compile(artifact)) << "its compile_s belongs to the compile that filled the cache";
  EXPECT_NEAR(break_even_calls(artifact).value(), 5000, 1e-9);
  EXPECT_NEAR(break_even_calls(with(faster, {{"cache_hit", 0}})).value(), 5000, 1e-9);
}

TEST(BreakEven, IsAbsentWhenCompilingNeverPays) {
  const Metrics slower{{"compile_s", 20}, {"eager_ms", 1}, {"compiled_ms", 5}, {"speedup_low", 0.19}};
  EXPECT_EQ(break_even_calls(slower), std::nullopt);
  EXPECT_EQ(break_even_calls(with(slower, {{"eager_ms", 5}})), std::nullopt);  // equal: a division by zero
}

TEST(BreakEven, IsAbsentWhenTheIntervalDoesNotShowAGain) {
  Metrics close{{"compile_s", 20}, {"eager_ms", 1.0001}, {"compiled_ms", 1}, {"speedup_low", 0.98}};
  EXPECT_EQ(break_even_calls(close), std::nullopt);
  close["speedup_low"] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(break_even_calls(close), std::nullopt);
}

TEST(BreakEven, IsAbsentWhereNothingIsCompiled) {
  EXPECT_EQ(break_even_calls({{"eager_ms", 5}, {"compiled_ms", 1}, {"speedup_low", 4.5}}), std::nullopt);
  EXPECT_EQ(break_even_calls({}), std::nullopt);
}

}  // namespace
}  // namespace torchstone
