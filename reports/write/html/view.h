#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "reports/record/verdict.h"
#include "reports/write/html/page.h"

namespace torchstone::html {

/// One case of the page; `id` is its anchor.
struct CaseView {
  const Result* result;
  std::string id;
  Verdict verdict;
  const judge::CaseChange* change = nullptr;  ///< since the baseline; null without one
  bool urgent = false;                        ///< among those that need attention
};

/// How much of each case is shown: the more cases, the less.
struct Fineness {
  size_t max_points = 200;  ///< of a series in a figure
  // For cases without need of attention:
  bool all_metrics = true;  ///< also beside what the figures show
  bool run_order = true;    ///< of both sides; the ratios are in run order too
};

/// What all sections are written from.
struct View {
  const Report& report;
  const write::PageOptions& options;
  std::vector<CaseView> cases;      ///< all, in the order of the report
  std::vector<CaseView> attention;  ///< broken or slower since the baseline, then not as expected, then undecided
  Facts common_notes;               ///< that all cases share which have them
  Fineness fineness;
  size_t max_text;  ///< bytes of one text
};
/// Keeps references to its arguments.
View view_of(const Report& report, const write::PageOptions& options, const Fineness& fineness);

/// How a verdict is shown: a symbol, which can be read without colour, and a CSS class.
struct Look {
  std::string_view symbol, css_class;
};
Look look_of(const Verdict& verdict);
Look look_of(judge::Change change);
/// Symbol and status: "✗ fail_accuracy".
std::string chip(const CaseView& c);
/// The change of the case in a few words: "▼ SLOWER speed-up -31.2 %". Empty when SAME.
std::string change_text(const judge::CaseChange& change);

}  // namespace torchstone::html

// The sections of the page, in its order. Each returns markup; empty when there is nothing to show.

namespace torchstone::html {

std::string banner(const View& view);
std::string attention_section(const View& view);
std::string why_section(const View& view);
std::string cases_section(const View& view);
std::string suites_section(const View& view);
std::string details_section(const View& view);
std::string baseline_section(const View& view);
std::string coverage_section(const View& view);
std::string run_section(const View& view);
/// `room`: bytes that the embedded results.json may take.
std::string data_section(const Report& report, size_t room);

/// What is known of one case: cause, mismatch, reproduce line, figures, metrics, notes.
std::string case_detail(const View& view, const CaseView& c);

}  // namespace torchstone::html
