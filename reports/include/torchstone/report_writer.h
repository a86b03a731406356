#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

namespace torchstone {

/// Names and texts of files that are written together.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// The user's options for writing.
struct WriteOptions {
  bool testcase_properties = true;     ///< write properties inside JUnit's test cases; some readers refuse them
  std::vector<std::string> written{};  ///< paths that writers before this one wrote
};

/// A report format: a pure function of a report (the run and its results, in order). Set either `text`, the content of
/// the single file `file`, or `files`, for any number of files. Names are relative to the results folder and must stay
/// inside it. A file with empty text is not written. If a writer throws, the error is reported and its files are
/// missing; the other writers still run.
struct ReportWriter {
  std::string name{};    ///< `torchstone-report NAME RESULTS` writes it alone
  std::string help{};    ///< one line
  int order = 1000;      ///< files are written and listed in this order, then by name
  bool each_run = true;  ///< write it in every run; false: only by `torchstone-report NAME`
  std::string file{};
  std::function<std::string(const Report&, const WriteOptions&)> text{};
  std::function<NamedTexts(const Report&, const WriteOptions&)> files{};
};

/// Adds a writer and returns true, for static initialisers. Throws std::invalid_argument when the name is taken or the
/// writer is incomplete. While a plug-in is loaded it returns false instead, and keeps the error for the loader.
bool register_report_writer(ReportWriter writer, const char* file, int line);
/// Returns all writers, sorted by order and name.
std::vector<const ReportWriter*> report_writers();

}  // namespace torchstone

/// TORCHSTONE_REPORT_WRITER(slowest, .help = "…", .file = "slowest.txt", .text = [](const Report& r, const auto&) {…});
#define TORCHSTONE_REPORT_WRITER(identifier, ...)                                                                \
  [[maybe_unused]] static const bool torchstone_report_writer_##identifier = torchstone::register_report_writer( \
      torchstone::ReportWriter{.name = #identifier, __VA_ARGS__}, __FILE__, __LINE__)
