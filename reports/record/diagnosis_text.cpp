#include "reports/record/diagnosis_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/text.h"

namespace torchstone {
namespace {

constexpr size_t most_fused = 20;

// Names in the order of the enumerators.
constexpr std::array<std::string_view, 3> confirmation_words = {"untried", "confirmed", "refuted"};
constexpr std::array<std::string_view, 7> outcome_words = {"unknown",  "located", "narrowed",   "tolerance",
                                                           "vanished", "healthy", "unsupported"};
constexpr std::array<std::string_view, 7> fault_words = {"none",  "number", "not_finite", "integer",
                                                         "state", "shape",  "dtype"};

/// Returns the enumerator with this name, if any.
template <typename Enum, size_t n>
std::optional<Enum> value_of(const std::array<std::string_view, n>& words, std::string_view text) {
  const auto found = std::ranges::find(words, text);
  return found == words.end() ? std::nullopt : std::optional(static_cast<Enum>(found - words.begin()));
}

/// "; at [0, 3] 1.5 where eager has 1.2"
std::string element_text(const DiagnosedElement& element) {
  if (element.index.empty()) return "";
  return fmt::format("; at [{}] {:.6g} where eager has {:.6g}", fmt::join(element.index, ", "), element.found,
                     element.expected);
}

/// "batch 7, length 128"
std::string text_of_sizes(const std::map<std::string, int64_t>& sizes) {
  std::string text;
  for (const auto& [dimension, size] : sizes) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", dimension, size);
  return text;
}

/// "cpp_fused_0 computes v5, v7"
std::string kernel_text(const FirstWrongValue& first) {
  if (first.kernel.empty()) return "";
  const size_t shown = std::min(first.fused.size(), most_fused);
  std::string text = first.kernel;
  if (shown > 0) text += fmt::format(" computes {}", fmt::join(std::span(first.fused).first(shown), ", "));
  if (first.fused.size() > shown) text += fmt::format(" and {} more", first.fused.size() - shown);
  return text;
}

/// "it differs from eager's by 0.05, at most 1e-06 is rounding; eager's own error against float64 is 1e-08; at [0, 3]
/// 1.5 where eager has 1.2"
std::string text_of_error(const FirstWrongValue& first) {
  std::string text =
      fmt::format("it differs from eager's by {:.2g}, at most {:.2g} is rounding", first.difference, first.allowed);
  if (!std::isnan(first.eager_error))
    text += fmt::format("; eager's own error against float64 is {:.2g}", first.eager_error);
  return text + element_text(first.element);
}

}  // namespace

std::string to_string(Confirmation confirmation) {
  return std::string(confirmation_words.at(static_cast<size_t>(confirmation)));
}

Confirmation confirmation_of(const std::string& text) {
  return value_of<Confirmation>(confirmation_words, text).value_or(Confirmation::untried);
}

std::string to_string(DiagnosisOutcome outcome) { return std::string(outcome_words.at(static_cast<size_t>(outcome))); }

DiagnosisOutcome diagnosis_outcome_of(std::string_view text) {
  return value_of<DiagnosisOutcome>(outcome_words, text).value_or(DiagnosisOutcome::unknown);
}

std::string to_string(ResultFault fault) { return std::string(fault_words.at(static_cast<size_t>(fault))); }

std::optional<ResultFault> result_fault_of(std::string_view text) { return value_of<ResultFault>(fault_words, text); }

std::string place_of(const DiagnosedNode& node) {
  std::string place = node.module.empty() || node.module.starts_with("after ") ? node.module : "in " + node.module;
  if (!node.source.empty()) place += (place.empty() ? "" : ", ") + node.source;
  return place;
}

std::string text_of(const DiagnosedNode& node) {
  std::string text = fmt::format("{} → {}", node.operation, node.value);
  if (!node.shape.empty()) text += " " + node.shape;
  const std::string place = place_of(node);
  return place.empty() ? text : fmt::format("{} ({})", text, place);
}

std::string text_of(const DiagnosedErrors& errors) {
  const bool is_of_numbers =
      !errors.fault || errors.fault == ResultFault::number || errors.fault == ResultFault::not_finite;
  if (!is_of_numbers && !errors.reason.empty())
    return fmt::format("{}: {}{}", errors.value, errors.reason, element_text(errors.element));
  return fmt::format("{}: error against float64 {:.2g}, eager's {:.2g}, at most {:.2g} is rounding{}", errors.value,
                     errors.compiled, errors.eager, errors.allowed, element_text(errors.element));
}

std::string text_of(const GuiltyPart& guilty) {
  std::string text = guilty.name;
  if (!guilty.kind.empty()) text += fmt::format(" ({})", guilty.kind);
  if (text.empty()) text = "not found";
  if (!guilty.sentence.empty()) text += ": " + guilty.sentence;
  if (guilty.trials > 0) text += fmt::format("; {} trials", guilty.trials);
  if (guilty.confirmation != Confirmation::untried)
    text += fmt::format("; {} on the whole program", to_string(guilty.confirmation));
  return text;
}

std::string text_of(const DiagnosedReproducer& reproducer) {
  std::string text;
  if (reproducer.runs > 0)
    text = reproducer.failed == 0
               ? fmt::format("did not fail in {} of {}", reproducer.runs, counted(reproducer.runs, "run"))
               : fmt::format("failed in {} of {}", reproducer.failed, counted(reproducer.runs, "run"));
  if (!reproducer.fault.empty()) text += (text.empty() ? "" : "; ") + reproducer.fault;
  return text;
}

std::string effort_text(const Diagnosis& diagnosis) {
  if (diagnosis.nodes == 0 && diagnosis.trials == 0) return "";
  const auto was = [](int64_t count) { return count == 1 ? "was" : "were"; };
  std::string text = counted(diagnosis.nodes, "operator");
  if (diagnosis.trials > 0)
    text += fmt::format(", {} {} tried", counted(diagnosis.trials, "part"), was(diagnosis.trials));
  text += fmt::format(", {:.1f} s", diagnosis.seconds);
  if (diagnosis.seen > 0)
    text += fmt::format("; {} of the compiled program {} compared with eager's", counted(diagnosis.seen, "value"),
                        was(diagnosis.seen));
  if (!diagnosis.unseen.empty())
    text += fmt::format("; values of the compiled program could not be seen: {}", diagnosis.unseen);
  return text;
}

std::string text_of_diagnosis_phase(std::string_view phase, int64_t tried) {
  return fmt::format("diagnosis: {}{}", phase, tried > 0 ? fmt::format(", {} tried", counted(tried, "part")) : "");
}

std::vector<DiagnosisLine> lines_of(const Diagnosis& diagnosis, size_t most_nodes) {
  std::vector<DiagnosisLine> lines;
  const auto add = [&](const char* title, const std::string& text) {
    if (!text.empty()) lines.push_back({title, text});
  };
  for (const auto& range : diagnosis.ranges) add("narrowed range", range.text);
  add("sizes", text_of_sizes(diagnosis.sizes));
  if (diagnosis.first_wrong) {
    add("first wrong value", text_of(diagnosis.first_wrong->node));
    add("its kernel", kernel_text(*diagnosis.first_wrong));
    add("its error", text_of_error(*diagnosis.first_wrong));
  }
  const char* title = diagnosis.trials > 0 ? "smallest part" : "operator";  // without trials, the part was not reduced
  for (size_t i = 0; i < std::min(diagnosis.part.size(), most_nodes); ++i)
    add(i == 0 ? title : "", text_of(diagnosis.part[i]));
  if (diagnosis.part.size() > most_nodes)
    add("", "and " + counted(diagnosis.part.size() - most_nodes, "more operator"));
  if (diagnosis.confirmation != Confirmation::untried)
    add("whole program", diagnosis.confirmation == Confirmation::confirmed
                             ? "right with eager's values in place of the part"
                             : "wrong with eager's values in place of the part too");
  add("message", diagnosis.message);
  if (diagnosis.errors) add("errors", text_of(*diagnosis.errors));
  if (diagnosis.guilty) add("guilty pass", text_of(*diagnosis.guilty));
  if (diagnosis.reproducer) {
    const std::string& command = diagnosis.reproducer->command;
    add("reproducer", command + (command.empty() ? "" : ": ") + text_of(*diagnosis.reproducer));
  }
  add("effort", effort_text(diagnosis));
  for (const auto& fault : diagnosis.faults) add("damaged", fault);
  return lines;
}

}  // namespace torchstone
