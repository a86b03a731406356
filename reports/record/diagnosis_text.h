#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <torchstone/diagnosis.h>

namespace torchstone {

// Every text is one plain line, which the caller escapes. It is empty if there is nothing to say.

/// Converts "untried", "confirmed" or "refuted"; any other text is untried.
std::string to_string(Confirmation confirmation);
Confirmation confirmation_of(const std::string& text);
/// Converts names such as "located"; any other text is unknown.
std::string to_string(DiagnosisOutcome outcome);
DiagnosisOutcome diagnosis_outcome_of(std::string_view text);
/// Converts names such as "not_finite"; any other text is nothing.
std::string to_string(ResultFault fault);
std::optional<ResultFault> result_fault_of(std::string_view text);

/// "in layer3.0, net.py:12", or "after layer3.0"
std::string place_of(const DiagnosedNode& node);
/// "aten::softmax.int → v7 float32[8, 64] (in layer3.0, net.py:12)"
std::string text_of(const DiagnosedNode& node);
/// "v7: error against float64 0.05, eager's 1e-08, at most 1e-06 is rounding; at [0, 3] 1.5 where eager has 1.2", or
/// "v7: 64 of 64 integers differ; at [0] 1 where eager has 0"
std::string text_of(const DiagnosedErrors& errors);
/// "loop_ordering_after_fusion (setting): right without `loop_ordering_after_fusion`; 14 trials", or "not found: …"
std::string text_of(const GuiltyPart& guilty);
/// "failed in 10 of 10 runs"
std::string text_of(const DiagnosedReproducer& reproducer);
/// "14 operators, 12 parts were tried, 8.5 s; 10 values of the compiled program were compared with eager's"
std::string effort_text(const Diagnosis& diagnosis);

/// "diagnosis: compile, 12 parts tried"
std::string text_of_diagnosis_phase(std::string_view phase, int64_t tried);

/// Returns the whole diagnosis as pairs of title and line: {"first wrong value", "aten::…"}.
struct DiagnosisLine {
  std::string title, text;
};
std::vector<DiagnosisLine> lines_of(const Diagnosis& diagnosis, size_t most_nodes = 12);

}  // namespace torchstone
