#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torchstone/report_writer.h>

#include "reports/base/process.h"
#include "reports/base/text.h"
#include "reports/record/own_model.h"
#include "reports/record/verdict.h"
#include "reports/write/formats.h"

namespace torchstone::write {
namespace {

constexpr size_t most_shown = 8, longest_reason = 500, title_width = 120;

std::string percent_encoded(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : printable(text)) {
    const bool plain = special.find(c) == std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string message(std::string_view text) { return percent_encoded(text, "%\r\n"); }
std::string property(std::string_view text) { return percent_encoded(text, "%\r\n:,"); }

std::string relative(const std::string& file, const std::string& workspace) {
  const std::string prefix = workspace.ends_with('/') ? workspace : workspace + "/";
  return !workspace.empty() && file.starts_with(prefix) ? file.substr(prefix.size()) : file;
}

std::string annotation(const Result& r, const RunInfo& run, const std::string& workspace) {
  std::string where;
  if (!r.file.empty()) where = fmt::format("file={},", property(relative(r.file, workspace)));
  if (!r.file.empty() && r.line > 0) where += fmt::format("line={},", r.line);
  std::string text(r.finished ? to_string(r.outcome.status) : "started, never finished");
  if (!r.status_as_expected() && r.expected != "pass") text += ", expected " + expected_words(r);
  if (const std::string reason = reason_of(r); !reason.empty())
    text += ": " + shortened(printable(reason), longest_reason);
  if (const std::string compare = comparison_again(run, r); !compare.empty())
    text += "\nthe comparison again: " + first_line(compare);
  if (!r.reproduce.empty()) text += "\nagain: " + first_line(r.reproduce);
  return fmt::format("::error {}title={}::{}\n", where,
                     property(shortened_middle(printable(short_name(r.name)), title_width)), message(text));
}

}  // namespace

std::string write_annotations(const Report& report, const std::string& workspace) {
  std::string text;
  size_t bad = 0;
  std::vector<std::string> noisy;
  for (const auto& result : report.results) {
    const Verdict verdict = verdict_of(result);
    if ((verdict.mark == '!' || verdict.mark == '*') && bad++ < most_shown)
      text += annotation(result, report.run, workspace);
    if (verdict.word == "NOISY") noisy.push_back(short_name(result.name));
  }
  if (bad > most_shown)
    text += fmt::format("::error title=Torchstone::and {} more cases {}\n", bad - most_shown,
                        is_own_without_expectations(report.results) ? "that did not pass" : "not as expected");
  if (const int code = exit_code_of(report); bad == 0 && code != ExitCode::success)
    text += fmt::format("::error title=Torchstone::{}\n",
                        message(fmt::format("exit code {}: {}", code, exit_words_of(report))));
  if (!noisy.empty()) {
    const size_t all = noisy.size(), others = all - std::min(all, most_shown);
    noisy.resize(all - others);
    const std::string finding = all == 1 ? "1 speed-up is noisy, so its interval proves"
                                         : fmt::format("{} speed-ups are noisy, so each interval proves", all);
    text += fmt::format("::notice title=Torchstone::{}\n",
                        message(fmt::format("{} too little: {}{}", finding, fmt::join(noisy, ", "),
                                            others == 0 ? "" : fmt::format(" and {} more", others))));
  }
  return text;
}

TORCHSTONE_REPORT_WRITER(
    github, .help = "Annotations of GitHub Actions: at most eight failures and a count", .each_run = false,
    .file = "annotations.txt", .text = [](const Report& report, const auto&) {
      return write_annotations(report, environment_variable("GITHUB_WORKSPACE"));
    });

}  // namespace torchstone::write
