#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/judge/baseline.h"
#include "reports/judge/history.h"
#include "reports/record/report_json.h"

namespace torchstone {

/// Return the text of html/style.css and of html/script.js, which are part of the library.
std::string_view page_style();
std::string_view page_script();

}  // namespace torchstone

namespace torchstone::html {

/// Encodes as RFC 4648 specifies, with padding.
std::string base64(std::string_view bytes);

/// A file as a data: address, compressed by gzip where the build found zlib.
struct DataFile {
  std::string address;
  std::string suffix;  ///< of the file's name: ".gz" or empty
};
DataFile data_file(const std::string& text);

/// Returns a whole page around `content` (markup), with the embedded style sheet and, on request, the script. The
/// content security policy allows only these two, by their hashes, and no requests. `title` is markup too.
std::string document(const std::string& title, const std::string& content, bool with_script);

}  // namespace torchstone::html

namespace torchstone::write {

struct PageOptions {
  std::optional<judge::BaselineComparison> comparison = std::nullopt;  ///< with the baseline, when one is given
  std::vector<judge::HistoryPoint> history = {};                       ///< oldest first; empty: no trends
  std::string baseline_label{};                                        ///< names the older run in text and figures
};

/// Returns one self-contained HTML page, a pure function of its arguments. Tables and figures are markup; the script
/// only sorts, filters and copies. Up to about four hundred cases the page stays below 1.5 MB. To fit, it cuts long
/// texts, draws series with fewer points, and shortens or drops samples of the embedded JSON. The page says where.
std::string write_html(const Report& report, const PageOptions& options = {});

}  // namespace torchstone::write
