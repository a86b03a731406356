#include "reports/record/metric.h"

#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "reports/record/result_json.h"

namespace torchstone {
namespace {

TEST(MetricTable, DeclaresEveryKeyOnceWithATitle) {
  std::set<std::string_view> keys;
  for (const auto& metric : metric_table()) {
    EXPECT_TRUE(keys.insert(metric.key).second) << metric.key;
    EXPECT_FALSE(metric.title.empty()) << metric.key;
    EXPECT_EQ(find_metric(metric.key), &metric);
  }
  EXPECT_EQ(find_metric("no_such_metric"), nullptr);
}

TEST(MetricTable, DeclaresWhatBackendsCount) {
  for (const char* key : {"quantized_operators", "unquantized_linears", "converted_nodes", "delegated_nodes"})
    EXPECT_NE(find_metric(key), nullptr) << key;
}

TEST(MetricTable, ClashesWithNoOtherProperty) {
  for (const auto& field : text_fields()) EXPECT_EQ(find_metric(field.property), nullptr) << field.property;
  for (const char* key : {"accuracy", "reason", "phase", "batch_size", "declared_line", "duration_s", "finished"})
    EXPECT_EQ(find_metric(key), nullptr) << key;
  for (const auto& metric : metric_table()) {
    for (const char* prefix : {"metric_", "note_", "samples_"})
      EXPECT_FALSE(metric.key.starts_with(prefix)) << metric.key;
  }
}

TEST(FormatMetric, IsForPeople) {
  EXPECT_EQ(format_metric("speedup", 1.43219), "1.432x");
  EXPECT_EQ(format_metric("compile_s", 8.149), "8.1 s");
  EXPECT_EQ(format_metric("eager_ms", 12.34567), "12.35 ms");
  EXPECT_EQ(format_metric("eager_noise_pct", 1.2345), "1.23%");
  EXPECT_EQ(format_metric("artifact_bytes", 512), "512 B");
  EXPECT_EQ(format_metric("artifact_bytes", 1536), "1.5 KiB");
  EXPECT_EQ(format_metric("eager_peak_bytes", 3.5 * 1024 * 1024 * 1024), "3.5 GiB");
  EXPECT_EQ(format_metric("rounds", 31), "31");
  EXPECT_EQ(format_metric("undeclared", 0.123456789), "0.123457");
}

TEST(FormatMetric, SurvivesWhatIsNoNumber) {
  EXPECT_EQ(format_metric("speedup", std::nan("")), "NaN");
  EXPECT_EQ(format_metric("eager_peak_bytes", std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(format_metric("undeclared", -std::numeric_limits<double>::infinity()), "-inf");
}

TEST(FormatMetric, EveryDeclaredFormatIsValid) {
  for (const auto& metric : metric_table()) EXPECT_FALSE(format_metric(metric.key, 1234.5678).empty()) << metric.key;
}

}  // namespace
}  // namespace torchstone
