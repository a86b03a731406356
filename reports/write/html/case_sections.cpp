// Sections with all details of a case, and the section on why compiled programs are wrong (from their diagnoses).

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/diagnosis_text.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/record/results_folder/side_files.h"
#include "reports/record/verdict.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/view.h"

namespace torchstone::html {
namespace {

constexpr size_t longest_sentence = 400, longest_note = 600, longest_text = 1500;
constexpr size_t opened_cases = 12, most_diagnoses = 200, opened_diagnoses = 5;

std::string cause(const View& view, const Result& r) {
  const std::string reason = reason_of(r);
  if (reason.empty()) return "";
  const std::string first = first_line(reason);
  const bool whole = reason.size() <= longest_sentence && first.size() == reason.size();
  std::string out = fmt::format("<p class=why>{}</p>", escaped(shortened(valid_utf8(first), longest_sentence)));
  if (!whole) {
    out += fmt::format("<details><summary>The whole message</summary><pre>{}</pre></details>",
                       escaped_cut(reason, view.max_text));
  }
  return out;
}

/// Returns the mismatch report as tables, and other details (compiler output, the end of a log) verbatim.
std::string detail(const View& view, const Result& r) {
  std::string text = r.outcome.detail;
  if (text.empty()) return "";
  if (r.outcome.status == Status::fail_accuracy || r.outcome.phase == "compare") {
    const std::string title = first_line(text);  // repeats the reason, which is shown above
    if (title.ends_with(first_line(r.outcome.reason))) text.erase(0, title.size());
    return mismatch_tables(text, view.max_text);
  }
  return fmt::format("<details open><summary>Log and compiler output</summary><pre>{}</pre></details>",
                     escaped_cut(text, view.max_text));
}

/// Whether the page shows this metric already: with another metric, in the table of cases, or in a figure of the case.
bool shown_elsewhere(std::string_view key, const std::string& figures) {
  if (key == "speedup_low" || key == "speedup_high" || key == "cache_hit") return true;
  const auto any = [&](auto... keys) { return ((key == keys) || ...); };
  // The page shows one memory ratio. Upstream's ratio includes the weights; results.csv and upstream's tables have it.
  if (any("error_of_limit", "peak_ratio", "compression_ratio", "eager_peak_mem", "dynamo_peak_mem")) return true;
  const auto drawn = [&](const char* caption) { return figures.find(caption) != std::string::npos; };
  if (any("capture_s", "compile_s", "load_s", "first_call_s")) return drawn("<figcaption>Compiling");
  if (any("eager_peak_bytes", "compiled_peak_bytes", "eager_allocations", "compiled_allocations"))
    return drawn("<figcaption>Peak memory");
  if (any("max_abs_error", "max_rel_error", "mean_abs_error", "rmse_result", "rmse_reference",
          "smallest_passing_tolerance", "tolerance_max", "tolerance_mean", "tolerance_std"))
    return drawn("<figcaption>Errors and tolerance");
  return false;
}

std::string metrics_table(const Result& r, const std::string& figures) {
  const auto& metrics = r.outcome.metrics;
  std::string rows;
  for (const auto& info : metric_table()) {
    const auto found = metrics.find(std::string(info.key));
    if (found == metrics.end() || shown_elsewhere(info.key, figures)) continue;
    if (follows_from_unknown(r, info.key)) continue;
    std::string value = is_unknown(r, std::string(info.key)) ? "unknown" : format_metric(info.key, found->second);
    if (info.key == "speedup") value = speedup_text(r, 3) + (is_noisy(r) ? " noisy" : "");
    rows += fmt::format("<tr><th>{}<td>{}", escaped(info.title), value);
  }
  for (const auto& [key, value] : metrics) {
    if (find_metric(key) == nullptr)
      rows += fmt::format("<tr><th>{}<td>{}", escaped_cut(key, 80), format_metric(key, value));
  }
  return rows.empty() ? "" : "<table class=kv>" + rows + "</table>";
}

/// Returns duration and notes. Notes that all cases share are shown once, in run_section().
std::string notes_line(const View& view, const CaseView& c) {
  const Result& r = *c.result;
  std::string notes = fmt::format("<p class=notes>took <b>{}</b>", duration_text(r.duration_s));
  const auto add = [&](std::string_view key, const std::string& value) {
    notes += fmt::format(" · {} <b>{}</b>", escaped_cut(key, 80), escaped_cut(value, longest_note));
  };
  if (!r.outcome.phase.empty() && c.urgent) add("phase", r.outcome.phase);
  for (const auto& [key, value] : reported_notes(r)) {
    if (!view.common_notes.contains(key)) add(key, value);
  }
  if (r.batch_size > 0) add("batch size", std::to_string(r.batch_size));
  if (!r.machine.empty()) add("machine", r.machine);
  if (!r.file.empty() && c.urgent) add("declared in", r.line > 0 ? fmt::format("{}:{}", r.file, r.line) : r.file);
  return notes;
}

/// Returns cause, mismatch, reproduction, figures, metrics and notes.
std::string case_detail(const View& view, const CaseView& c) {
  const Result& r = *c.result;
  const std::string figures = timing_figures(r, view.fineness.max_points, c.urgent || view.fineness.run_order) +
                              loss_figure(r, view.fineness.max_points) + dynamic_figure(r) + tolerance_figure(r) +
                              stages_figure(r) + memory_figure(r);
  const std::string reproduce =
      r.reproduce.empty() ? "" : "<p class=again><code>" + escaped_cut(r.reproduce, 4000) + "</code></p>";
  return fmt::format("<div id={} class=body>{}{}{}{}{}{}</div>", c.id, cause(view, r), reproduce, detail(view, r),
                     figures.empty() ? "" : "<div class=figs>" + figures + "</div>",
                     c.urgent || view.fineness.all_metrics ? metrics_table(r, figures) : "", notes_line(view, c));
}

std::string article(const View& view, const CaseView& c, bool open) {
  const Result& r = *c.result;
  const std::string numbers = numbers_line(r), change = c.change == nullptr ? "" : change_text(*c.change);
  return fmt::format(
      "<details class=case{}><summary>{} <b class=nm>{}</b> <small>{}{}</small>{}</summary>{}</details>\n",
      open ? " open" : "", chip(c), escaped_cut(short_name(r.name), 300), escaped_cut(r.check, 40),
      numbers.empty() ? "" : " · " + escaped(numbers), change.empty() ? "" : " " + change, case_detail(view, c));
}

/// Returns a path as a relative address. A name of a file never becomes a scheme, a host or a query.
std::string address_of(const std::string& path) {
  std::string address = "./";
  for (const char c : path) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("/._-+").find(c) != std::string_view::npos;
    address += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return address;
}

/// Returns links to the files of a diagnosis if its folder is known.
std::string files_line(const Result& r, const Diagnosis& diagnosis) {
  if (!results_folder::is_diagnosis_folder(diagnosis.folder, r.name))
    return diagnosis.files.empty() ? "" : "<p class=mu>Its files are not in this results folder.</p>";
  std::string links;
  for (const auto& file : results_folder::diagnosis_files())
    if (std::ranges::find(diagnosis.files, file.name) != diagnosis.files.end())
      links += fmt::format("<li><a href=\"{}/{}\">{}</a> <small>{}</small>", address_of(diagnosis.folder), file.name,
                           file.name, escaped(file.content));
  return links.empty() ? "" : "<ul>" + links + "</ul>";
}

std::string entry(const CaseView& c, const Diagnosis& diagnosis, bool open) {
  std::string rows;
  for (const auto& line : lines_of(diagnosis))
    rows += fmt::format("<tr><th>{}<td>{}", escaped(line.title), escaped_cut(line.text, longest_text));
  return fmt::format(
      "<details class=case{}><summary>{} <b class=nm>{}</b> <small>{}</small></summary><div class=body>"
      "<p class=why>{}</p>{}{}<p class=mu><a href=#{}>The case</a></p></div></details>\n",
      open ? " open" : "", chip(c), escaped_cut(short_name(c.result->name), 300), to_string(diagnosis.outcome),
      escaped_cut(diagnosis.sentence, longest_text), rows.empty() ? "" : "<table class=\"kv tx\">" + rows + "</table>",
      files_line(*c.result, diagnosis), c.id);
}

std::string paragraph(const std::string& text) { return text.empty() ? "" : "<p>" + text + "</p>\n"; }

}  // namespace

std::string attention_section(const View& view) {
  if (view.attention.empty()) return "";
  std::string out = fmt::format("<section id=attention><h2>Needs attention <small>{}</small></h2>\n",
                                counted(view.attention.size(), "case"));
  for (size_t i = 0; i < view.attention.size(); ++i) out += article(view, view.attention[i], i < opened_cases);
  return out + "</section>\n";
}

std::string details_section(const View& view) {
  std::string articles;
  size_t count = 0;
  for (const auto& c : view.cases) {
    if (c.urgent) continue;  // shown in attention_section()
    ++count;
    articles += article(view, c, false);
  }
  if (count == 0) return "";
  std::string excluded = view.fineness.all_metrics ? "" : "; for further metrics see the raw data";
  if (!view.fineness.run_order) excluded += ", for each side in run order too";
  return fmt::format("<section id=details><h2>Details <small>{}{}</small></h2>\n{}</section>\n",
                     counted(count, view.attention.empty() ? "case" : "other case"), excluded, articles);
}

std::string why_section(const View& view) {
  std::string entries, excluded;
  size_t count = 0, healthy = 0, undiagnosed = 0;
  for (const auto& c : view.cases) {
    const Outcome& outcome = c.result->outcome;
    if (!outcome.undiagnosed.empty() && undiagnosed++ == 0) excluded = outcome.undiagnosed;
    if (!outcome.diagnosis) continue;
    if (outcome.diagnosis->outcome == DiagnosisOutcome::healthy)
      ++healthy;
    else if (++count <= most_diagnoses)
      entries += entry(c, *outcome.diagnosis, count <= opened_diagnoses);
  }
  if (count + healthy + undiagnosed == 0) return "";
  std::string more;
  if (count > most_diagnoses)
    more += paragraph(fmt::format("{} diagnoses more are in results.json.", count - most_diagnoses));
  if (healthy > 0)
    more +=
        paragraph(fmt::format("{} that passed: no value of the compiled program is wrong.", counted(healthy, "case")));
  if (undiagnosed > 0)
    more += paragraph(
        fmt::format("{} left out, for example: {}", counted(undiagnosed, "case"), escaped_cut(excluded, 400)));
  return fmt::format("<section id=why><h2>Why <small>{} diagnosed</small></h2>\n{}{}</section>\n",
                     counted(count + healthy, "case"), entries, more);
}

}  // namespace torchstone::html
