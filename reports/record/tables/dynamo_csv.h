#pragma once
#include <vector>

#include <torchstone/report_writer.h>
#include <torchstone/result.h>

namespace torchstone::tables {

/// Returns tables of Dynamo's facts about Python subjects. TABLE is the name of a file of write_upstream_csvs().
/// - TABLE_graph_breaks.csv, with upstream's columns model, reason and user_stack. Upstream writes it with
///   --log-graph-breaks. A break that occurs several times has one row, as in upstream's file without duplicates.
/// - TABLE_compilation_metrics.csv of timed cases, as upstream: dev, name, batch_size, and the seconds of each phase of
///   all compiles. A phase that a case did not have is 0.
/// - TABLE_compiled_frames.csv, which upstream lacks: torch's CompilationMetrics, one row per compiled frame.
NamedTexts write_dynamo_csvs(const std::vector<Result>& results);

}  // namespace torchstone::tables
