#pragma once
#include <optional>
#include <string>
#include <vector>

#include <torchstone/result.h>

namespace torchstone {

/// A case that is to run.
struct PlannedCase {
  std::string name;
  bool timed = false;               ///< needs a machine to itself
  std::optional<double> seconds{};  ///< earlier duration; nothing if unknown
};

/// Cases that one process runs on one machine. They are all timed, or none is.
struct Chunk {
  bool timed = false;
  double seconds = 0;
  std::vector<std::string> cases{};
};

struct ChunkPlan {
  double length_s = 0;                 ///< limit for a chunk of several cases
  std::vector<Chunk> chunks{};         ///< Judged chunks precede timed ones. Each kind begins with its longest chunk.
  std::vector<std::string> assumed{};  ///< cases whose duration is assumed
};

/// Returns each case of the results once, with its duration. A case is timed if its check is, or if it has timings.
std::vector<PlannedCase> cases_of(const std::vector<Result>& results);
/// Returns the cases of a list of --torchstone_list=cases --torchstone_format=json, with the durations of the results.
/// Throws ReportError; `file` is for the message.
std::vector<PlannedCase> cases_of_list(const std::string& list, const std::string& file,
                                       const std::vector<Result>& results);

/// Distributes the cases over chunks of at most `length_s` seconds: the longest case first, into the first chunk that
/// has room (first-fit decreasing). A case longer than `length_s` gets its own chunk. A case without a duration counts
/// as `assumed_s`. Without that it counts as the median of its kind (timed or judged), or else of all cases. Throws
/// std::invalid_argument without any duration, and for a case that no --gtest_filter can select.
ChunkPlan plan_chunks(const std::vector<PlannedCase>& cases, double length_s, std::optional<double> assumed_s = {});

/// Returns the value of --gtest_filter that selects the cases of a chunk. It is short enough for one variable of the
/// environment.
std::string filter_of(const Chunk& chunk);
/// Returns "timed" or "judged".
std::string kind_of(const Chunk& chunk);

}  // namespace torchstone
