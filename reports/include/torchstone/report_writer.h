#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

namespace torchstone {

/// Name and text of files that belong together.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// The user's options for writing.
struct WriteOptions {
  bool testcase_properties = true;     ///< properties inside JUnit's test cases, which some readers refuse
  std::vector<std::string> written{};  ///< paths that writers before this one wrote
};

/// One form in which results are written: a pure function of a report (run and results, in the order they came).
/// Either `text`, the content of the one file `file`, or `files`, any number of them. Names are relative to the results
/// folder and stay inside it. An empty text is no file. An exception costs this writer's files and is reported; the
/// others are written.
struct ReportWriter {
  std::string name{};    ///< `torchstone-report NAME RESULTS` writes it alone
  std::string help{};    ///< one line
  int order = 1000;      ///< files are written and listed in this order, then by name
  bool each_run = true;  ///< false: only `torchstone-report NAME` writes it
  std::string file{};
  std::function<std::string(const Report&, const WriteOptions&)> text{};
  std::function<NamedTexts(const Report&, const WriteOptions&)> files{};
};

/// Adds a writer and returns true, for static initialisers. Throws std::invalid_argument when the name is taken or the
/// writer is incomplete. While a plug-in is loaded it returns false instead, and keeps the error for the loader.
bool register_report_writer(ReportWriter writer, const char* file, int line);
/// All writers, by order and name.
std::vector<const ReportWriter*> report_writers();

}  // namespace torchstone

/// TORCHSTONE_REPORT_WRITER(slowest, .help = "…", .file = "slowest.txt", .text = [](const Report& r, const auto&) {…});
#define TORCHSTONE_REPORT_WRITER(identifier, ...)                                                                \
  [[maybe_unused]] static const bool torchstone_report_writer_##identifier = torchstone::register_report_writer( \
      torchstone::ReportWriter{.name = #identifier, __VA_ARGS__}, __FILE__, __LINE__)
