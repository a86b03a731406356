#include "reports/write/html/view.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "reports/judge/baseline_report.h"
#include "reports/record/summary.h"
#include "reports/write/html/markup.h"

namespace torchstone::html {
namespace {

/// Bytes of all long texts of a page together, and the largest and smallest limit of a single text.
constexpr size_t text_of_a_page = 400'000, most_text = 12'000, least_text = 600;

/// Returns the notes that two or more cases have, if all of these cases have the same text.
Facts common_notes(const std::vector<Result>& results) {
  std::map<std::string, std::pair<std::string, size_t>> seen;
  for (const auto& result : results) {
    for (const auto& [key, value] : reported_notes(result)) {
      auto& [text, count] = seen.try_emplace(key, value, 0).first->second;
      count = text == value && count != std::string::npos ? count + 1 : std::string::npos;
    }
  }
  Facts common;
  for (const auto& [key, entry] : seen) {
    if (entry.second > 1 && entry.second != std::string::npos) common[key] = entry.first;
  }
  return common;
}

bool got_worse(const CaseView& c) {
  return c.change != nullptr && (judge::is_worse(*c.change) || c.change->other_parts.any());
}

/// Returns 0 for the most urgent cases, and 3 for cases that need no attention.
int urgency(const CaseView& c) {
  if (got_worse(c)) return 0;
  if (!is_fine(*c.result)) return 1;
  return c.verdict.mark == '~' ? 2 : 3;
}

/// Returns the metric that decided the change of the case. If several did, it prefers the speed-up.
const judge::MetricChange* telling_change(const judge::CaseChange& change) {
  const judge::MetricChange* telling = nullptr;
  for (const auto& m : change.metrics)
    if (m.change == change.change && (telling == nullptr || m.metric == "speedup")) telling = &m;
  return telling;
}

}  // namespace

View view_of(const Report& report, const write::PageOptions& options, const Fineness& fineness) {
  View view{report, options, {}, {}, common_notes(report.results), fineness, 0};
  std::map<std::string_view, const judge::CaseChange*> changes;  // the first and worst of each name
  if (options.comparison)
    for (const auto& change : options.comparison->cases) changes.emplace(change.name, &change);
  size_t wordy = 0;
  for (const auto& result : report.results) {
    CaseView c{&result, fmt::format("c{}", view.cases.size()), verdict_of(result)};
    if (const auto found = changes.find(result.name); found != changes.end()) c.change = found->second;
    c.urgent = urgency(c) < 3;
    wordy += result.outcome.detail.size() + result.outcome.reason.size() > least_text;
    view.cases.push_back(c);
  }
  view.max_text = std::clamp(text_of_a_page / std::max<size_t>(wordy, 1), least_text, most_text);
  std::ranges::copy_if(view.cases, std::back_inserter(view.attention), &CaseView::urgent);
  std::ranges::stable_sort(view.attention, [&](const CaseView& a, const CaseView& b) {
    if (urgency(a) != urgency(b)) return urgency(a) < urgency(b);
    if (urgency(a) == 0) return a.change < b.change;  // order of the comparison
    return margin_of(*a.result) > margin_of(*b.result);
  });
  return view;
}

Look look_of(const Verdict& verdict) {
  if (verdict.mark == '!') return {"✗", "bad"};
  if (verdict.mark == '*') return {"★", "odd"};
  if (verdict.mark == '~') return {"~", "odd"};
  if (verdict.mark == 'x') return {"–", "off"};
  return {"✓", "ok"};
}

Look look_of(judge::Change change) {
  static constexpr std::array looks = {Look{"=", "off"}, Look{"▲", "ok"},  Look{"▼", "bad"}, Look{"~", "odd"},
                                       Look{"+", "off"}, Look{"–", "odd"}, Look{"≠", "bad"}, Look{"↑", "off"},
                                       Look{"↓", "off"}, Look{"✓", "ok"},  Look{"✗", "bad"}};  // in the enum's order
  return looks.at(static_cast<size_t>(change));
}

std::string qualifier_of(const CaseView& c) {
  const Result& r = *c.result;
  if (!r.finished) return "";
  if (r.is_red_by_baseline() && r.status_as_expected()) return ", " + baseline_verdict_words(r);
  const std::string_view status = to_string(r.outcome.status);
  if (!is_fine(r) && r.expected != "pass") return ", expected " + escaped_cut(expected_words(r), 60);
  if (!is_fine(r) && info_of(r.outcome.status).passing) return ", infrastructure failed";
  if (is_fine(r) && r.expected == status && status != "pass") return ", as expected";
  return c.verdict.word == "NOISY" ? ", noisy" : "";
}

std::string chip(const CaseView& c) {
  const auto [symbol, css_class] = look_of(c.verdict);
  const Result& r = *c.result;
  const std::string_view status = r.finished ? to_string(r.outcome.status) : "never finished";
  return fmt::format("<i class={}>{} {}{}</i>", css_class, symbol, status, qualifier_of(c));
}

std::string change_text(const judge::CaseChange& change) {
  if (change.change == judge::Change::same) return "";
  const Look look = change.lost ? Look{"–", "bad"} : look_of(change.change);
  std::string text = fmt::format("<i class={}>{} {}</i>", look.css_class, look.symbol, judge::to_string(change.change));
  if (change.old_status != change.new_status && !change.old_status.empty() && !change.new_status.empty())
    text += fmt::format(" {} → {}", escaped_cut(change.old_status, 60), escaped_cut(change.new_status, 60));
  if (const auto* m = telling_change(change))
    text += fmt::format(" {} {:+.1f} %", escaped(judge::metric_title(m->metric)), (m->ratio - 1) * 100);
  if (change.other_parts.any()) text += " " + change.other_parts.words();
  if (const std::string noisy = judge::noisy_words(change); !noisy.empty()) text += fmt::format(" <b>{}</b>", noisy);
  return text;
}

}  // namespace torchstone::html
