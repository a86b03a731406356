#include "reports/write/html/page.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>
#include <torchstone/report_writer.h>

#include "reports/base/text.h"
#include "reports/record/own_model.h"
#include "reports/record/summary.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/view.h"

#ifdef TORCHSTONE_ZLIB
#include <zlib.h>
#endif

namespace torchstone::html {
namespace {

#ifdef TORCHSTONE_ZLIB
std::string gzipped(const std::string& text) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16, memory_level = 8;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib cannot begin to compress");
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int ended = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (ended != Z_STREAM_END) throw std::runtime_error("zlib did not finish");
  return out;
}
#endif

/// Returns 'sha256-…' for a content security policy, from the hash of an embedded file that the build computed.
std::string hash_source(std::string_view hexadecimal) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hexadecimal.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hexadecimal.substr(i, 2)), nullptr, 16));
  return "'sha256-" + base64(bytes) + "'";
}

std::string policy(bool with_script) {
  return fmt::format("default-src 'none'; style-src {};{} img-src data:; base-uri 'none'; form-action 'none'",
                     hash_source(TORCHSTONE_STYLE_SHA256),
                     with_script ? " script-src " + hash_source(TORCHSTONE_SCRIPT_SHA256) + ";" : "");
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve(bytes.size() / 3 * 4 + 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](size_t k) {
      return i + k < bytes.size() ? static_cast<uint32_t>(static_cast<unsigned char>(bytes[i + k])) : 0u;
    };
    const uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    out += digits[group >> 18];
    out += digits[group >> 12 & 63];
    out += i + 1 < bytes.size() ? digits[group >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? digits[group & 63] : '=';
  }
  return out;
}

DataFile data_file(const std::string& text) {
#ifdef TORCHSTONE_ZLIB
  return {"data:application/gzip;base64," + base64(gzipped(text)), ".gz"};
#else
  return {"data:application/json;base64," + base64(text), ""};
#endif
}

std::string document(const std::string& title, const std::string& content, bool with_script) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n<meta http-equiv=Content-Security-Policy "
      "content=\"{}\">\n<meta name=viewport content=\"width=device-width,initial-scale=1\">\n<meta name=color-scheme "
      "content=\"light dark\">\n<meta name=referrer content=no-referrer>\n<link rel=icon href=\"data:,\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}{}</body>\n</html>\n",
      policy(with_script), title, page_style(), content,
      with_script ? fmt::format("<script>{}</script>\n", page_script()) : "");
}

}  // namespace torchstone::html

namespace torchstone::write {
namespace {

constexpr size_t largest_page = 1'450'000;
/// Levels to try, in this order, until the page is small enough.
constexpr html::Fineness fineness_levels[] = {{200}, {100}, {50}, {50, false}, {25, false}, {25, false, false}};

/// Banner and sections up to the raw data.
struct Content {
  std::string title, head, body;
};

std::string title_of(const html::View& view) {
  const bool own = is_own_without_expectations(view.report.results);
  size_t fine = 0;
  for (const auto& result : view.report.results)
    fine += own ? result.finished && info_of(result.outcome.status).passing && !is_skipped(result) : is_fine(result);
  const int code = view.report.run.exit_code.value_or(0);
  const std::string how = own ? "passed" : "as expected";
  const auto open = std::ranges::count_if(view.cases, [](const auto& c) { return c.verdict.mark == '~'; });
  const std::string remark = open == 0 ? "" : fmt::format(", {} {}", open, html::open_words(view));
  const std::string model =
      are_of_own_model(view.report.results) ? html::escaped_cut(model_names(view.report.results), 200) + ", " : "";
  return fmt::format("Torchstone: {}{} of {} {}{}{}", model, fine, counted(view.cases.size(), "case"), how, remark,
                     code == 0 ? "" : fmt::format(", exit code {}", code));
}

std::string navigation(const std::vector<Result>& results, const std::string& body) {
  std::string links;
  for (const auto& [id, title] : {std::pair{"attention", "Needs attention"},
                                  {"why", "Why"},
                                  {"cases", "Cases"},
                                  {"suites", html::suites_title(results)},
                                  {"details", "Details"},
                                  {"baseline", "Since the baseline"},
                                  {"coverage", "Coverage"},
                                  {"run", "Machine and run"},
                                  {"data", "Raw data"}}) {
    if (body.find(fmt::format("<section id={}>", id)) != std::string::npos)
      links += fmt::format("<a href=#{}>{}</a>\n", id, title);
  }
  return "<nav aria-label=Sections>" + links + "</nav>\n";
}

Content content_of(const html::View& view) {
  return {title_of(view), html::banner(view),
          html::attention_section(view) + html::why_section(view) + html::cases_section(view) +
              html::suites_section(view) + html::details_section(view) + html::baseline_section(view) +
              html::coverage_section(view) + html::run_section(view)};
}

}  // namespace

std::string write_html(const Report& report, const PageOptions& options) {
  const size_t fixed = page_style().size() + page_script().size() + 4096;
  // The raw data is made first. It takes at most a quarter of the page, and the figures are fitted into the rest.
  std::string data = html::data_section(report, largest_page / 4);
  Content content;
  for (const html::Fineness& fineness : fineness_levels) {
    content = content_of(html::view_of(report, options, fineness));
    if (fixed + data.size() + content.head.size() + content.body.size() <= largest_page) break;
  }
  const size_t used = fixed + content.head.size() + content.body.size();
  if (used + data.size() > largest_page)
    data = html::data_section(report, used < largest_page ? largest_page - used : 0);
  const std::string body = content.body + data;
  return html::document(content.title,
                        content.head + navigation(report.results, body) + "<main>\n" + body + "</main>\n",
                        /*with_script=*/true);
}

TORCHSTONE_REPORT_WRITER(
    html, .help = "One self-contained page to read and to send", .order = 200, .file = "report.html",
    .text = [](const Report& report, const auto&) { return write_html(report); });

}  // namespace torchstone::write
