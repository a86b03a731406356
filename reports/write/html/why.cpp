// Why compiled programs are wrong: what the diagnoses found.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/diagnosis_text.h"
#include "reports/results_folder/diagnosis_files.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/sections.h"

namespace torchstone::html {
namespace {

constexpr size_t most_entries = 200, opened_entries = 5, longest_line = 1500;

/// A path as a relative address: a name of a file never becomes a scheme, a host or a query.
std::string address_of(const std::string& path) {
  std::string address = "./";
  for (const char c : path) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("/._-+").find(c) != std::string_view::npos;
    address += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return address;
}

/// Links to the files, where the folder is known.
std::string files_line(const Result& r, const Diagnosis& diagnosis) {
  const auto folder = r.outcome.notes.find("diagnosis_folder");
  if (folder == r.outcome.notes.end() || !results_folder::is_diagnosis_folder(folder->second, r.name))
    return diagnosis.files.empty() ? "" : "<p class=mu>Its files are not beside these results.</p>";
  std::string links;
  for (const auto& file : results_folder::diagnosis_files())
    if (std::ranges::find(diagnosis.files, file.name) != diagnosis.files.end())
      links += fmt::format("<li><a href=\"{}/{}\">{}</a> <small>{}</small>", address_of(folder->second), file.name,
                           file.name, escaped(file.content));
  return links.empty() ? "" : "<ul>" + links + "</ul>";
}

std::string entry(const CaseView& c, const Diagnosis& diagnosis, bool open) {
  std::string rows;
  for (const auto& line : lines_of(diagnosis))
    rows += fmt::format("<tr><th>{}<td>{}", escaped(line.title), escaped_cut(line.text, longest_line));
  return fmt::format(
      "<details class=case{}><summary>{} <b class=nm>{}</b> <small>{}</small></summary><div class=body>"
      "<p class=why>{}</p>{}{}<p class=mu><a href=#{}>The case</a></p></div></details>\n",
      open ? " open" : "", chip(c), escaped_cut(short_name(c.result->name), 300), escaped_cut(diagnosis.outcome, 40),
      escaped_cut(diagnosis.sentence, longest_line), rows.empty() ? "" : "<table class=\"kv tx\">" + rows + "</table>",
      files_line(*c.result, diagnosis), c.id);
}

std::string paragraph(const std::string& text) { return text.empty() ? "" : "<p>" + text + "</p>\n"; }

}  // namespace

std::string why_section(const View& view) {
  std::string entries, left_out;
  size_t count = 0, healthy = 0, undiagnosed = 0;
  for (const auto& c : view.cases) {
    if (const std::string why = why_undiagnosed(*c.result); !why.empty() && undiagnosed++ == 0) left_out = why;
    const auto diagnosis = found_for(*c.result);
    if (!diagnosis) continue;
    if (diagnosis->outcome == "healthy")
      ++healthy;
    else if (++count <= most_entries)
      entries += entry(c, *diagnosis, count <= opened_entries);
  }
  if (count + healthy + undiagnosed == 0) return "";
  std::string more;
  if (count > most_entries)
    more += paragraph(fmt::format("{} diagnoses more are in results.json.", count - most_entries));
  if (healthy > 0)
    more +=
        paragraph(fmt::format("{} that passed: no value of the compiled program is wrong.", counted(healthy, "case")));
  if (undiagnosed > 0)
    more += paragraph(
        fmt::format("{} left out, for example: {}", counted(undiagnosed, "case"), escaped_cut(left_out, 400)));
  return fmt::format("<section id=why><h2>Why <small>{} diagnosed</small></h2>\n{}{}</section>\n",
                     counted(count + healthy, "case"), entries, more);
}

}  // namespace torchstone::html
