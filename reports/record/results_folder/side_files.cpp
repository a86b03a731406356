#include "reports/record/results_folder/side_files.h"

#include <bit>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/base/files.h"
#include "reports/base/text.h"
#include "reports/record/report_json.h"
#include "reports/record/result_json.h"
#include "reports/record/summary.h"

namespace torchstone::results_folder {

namespace fs = std::filesystem;
namespace {

fs::path file_in(const fs::path& folder, const std::string& case_name, const char* extension) {
  return folder / (case_file_name(case_name) + extension);
}

void append_little_endian(std::string& bytes, uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
}

using nlohmann::json;

constexpr size_t most_bytes_of_file = 16 * mebibyte;

json parsed(const std::string& text) {
  check_json_limits(text);
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) throw std::invalid_argument("expected a JSON object");
  return value;
}

/// Calls `take` with the parsed file, if it exists. An exception becomes a fault of the diagnosis.
template <typename Take>
void read_beside(const fs::path& folder, const char* name, Diagnosis& diagnosis, Take take) {
  std::error_code absent;
  if (!fs::exists(folder / name, absent)) return;
  try {
    take(parsed(read_at_most(folder / name, most_bytes_of_file)));
  } catch (const std::exception& error) {
    std::string why = error.what();  // a ReportError begins with the path
    if (const auto path = (folder / name).string() + ": "; why.starts_with(path)) why.erase(0, path.size());
    diagnosis.faults.push_back(fmt::format("{} is not used: {}", name, shortened(printable(why), 300)));
  }
}

/// Adds the result of the search for a guilty part, unless the diagnosis has one.
void take_guilty(const json& guilty, Diagnosis& diagnosis) {
  const Members found(guilty, "guilty", "");
  const GuiltyPart part{found.text("guilty"), found.text("kind"), found.text("sentence"),
                        integer_of(found["trials"], "trials")};
  if (!diagnosis.guilty) diagnosis.guilty = part;
}

void take_confirmed(const json& confirmed, Diagnosis& diagnosis) {
  const Members found(confirmed, "confirmed", "");
  const int64_t runs = integer_of(found["runs"], "runs"), failed = integer_of(found["failed"], "failed");
  if (!diagnosis.reproducer) diagnosis.reproducer.emplace();
  diagnosis.reproducer->runs = runs;
  diagnosis.reproducer->failed = failed;
}

}  // namespace

fs::path samples_path(const fs::path& out, const std::string& name) { return file_in(out / "samples", name, ".npy"); }

fs::path trace_path(const fs::path& out, const std::string& name) { return file_in(out / "traces", name, ".json"); }

fs::path memory_path(const fs::path& out, const std::string& name) { return file_in(out / "memory", name, ".json"); }

Snapshots snapshot_paths(const fs::path& out, const std::string& name) {
  return {file_in(out / "memory", name, "_eager.pickle"), file_in(out / "memory", name, "_compiled.pickle")};
}

fs::path coverage_path(const fs::path& out, const std::string& name) { return file_in(out / "coverage", name, ".csv"); }

fs::path layers_path(const fs::path& out, const std::string& name) { return file_in(out / "layers", name, ".csv"); }

fs::path conv_args_path(const fs::path& out, const std::string& name) {
  return file_in(out / "conv_args", name, ".json");
}

fs::path diagnosis_path(const fs::path& out, const std::string& name) { return file_in(out / "diagnosis", name, ""); }

void remove_side_files(const fs::path& out, const std::string& name) {
  const auto [eager_snapshot, compiled_snapshot] = snapshot_paths(out, name);
  for (const auto& path :
       {samples_path(out, name), trace_path(out, name), memory_path(out, name), eager_snapshot, compiled_snapshot,
        coverage_path(out, name), layers_path(out, name), conv_args_path(out, name)})
    fs::remove(path);
  fs::remove_all(diagnosis_path(out, name));
}

std::string write_npy(const std::vector<std::vector<double>>& columns) {
  const size_t rows = columns.empty() ? 0 : columns.front().size();
  for (const auto& column : columns)
    if (column.size() != rows) throw std::invalid_argument("write_npy: columns of one length expected");
  constexpr size_t prefix = 10, alignment = 64;  // of the header: magic, version, length
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns.size());
  header.append((alignment - (prefix + header.size() + 1) % alignment) % alignment, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  append_little_endian(bytes, header.size(), 2);
  bytes += header;
  for (size_t row = 0; row < rows; ++row)
    for (const auto& column : columns) append_little_endian(bytes, std::bit_cast<uint64_t>(column[row]), 8);
  return bytes;
}

void write_samples(const fs::path& out, const Result& result) {
  const auto &eager = samples_of(result, "eager_s"), &compiled = samples_of(result, "compiled_s");
  if (!eager.empty() && !compiled.empty())
    write_atomically(samples_path(out, result.name), write_npy({eager, compiled}));
}

const std::vector<DiagnosisFile>& diagnosis_files() {
  static const std::vector<DiagnosisFile> files = {
      {"issue.md", "a report for PyTorch's maintainers"},
      {"reproduce.py", "the part as plain PyTorch"},
      {"reproduce.cpp", "the same for a package"},
      {"diagnosis.json", "all that was found"},
      {"guilty.json", "every trial of the search for the guilty pass"},
      {"confirmed.json", "how often the reproducer failed"},
      {"program.json", "the part in the neutral form"},
      {"tensors.pt", "its inputs and constants"},
  };
  return files;
}

Diagnosis read_diagnosis(const std::string& text, const fs::path& folder) {
  Diagnosis diagnosis;
  try {
    diagnosis = diagnosis_of(parsed(text), "diagnosis");
  } catch (const std::invalid_argument& error) {
    diagnosis.sentence = fmt::format("the answer of the diagnosis cannot be read: {}", error.what());
    diagnosis.faults.push_back(fmt::format("diagnosis.json is not used: {}", error.what()));
  }
  diagnosis.files.clear();
  std::error_code absent;
  for (const auto& file : diagnosis_files())
    if (fs::is_regular_file(folder / file.name, absent)) diagnosis.files.emplace_back(file.name);
  read_beside(folder, "guilty.json", diagnosis, [&](const json& guilty) { take_guilty(guilty, diagnosis); });
  read_beside(folder, "confirmed.json", diagnosis,
              [&](const json& confirmed) { take_confirmed(confirmed, diagnosis); });
  if (fs::is_regular_file(folder / "reproduce.py", absent)) {
    if (!diagnosis.reproducer) diagnosis.reproducer.emplace();
    diagnosis.reproducer->command = "python reproduce.py";
  }
  return diagnosis;
}

bool is_diagnosis_folder(const std::string& text, const std::string& name) {
  const std::string end = diagnosis_path("", name).string();
  return text == end || text.ends_with("/" + end);
}

void relate_diagnoses(Report& report, const std::vector<fs::path>& inputs, const fs::path& to) {
  for (auto& result : report.results) {
    if (!result.outcome.diagnosis || result.outcome.diagnosis->folder.empty()) continue;
    std::string& folder = result.outcome.diagnosis->folder;
    fs::path found;
    for (const auto& input : inputs) {
      const fs::path base = fs::is_directory(input) ? input : input.parent_path();
      std::error_code absent;
      // A merged report already names the folder by a path relative to itself. Any other text is not used as a path.
      if (is_diagnosis_folder(folder, result.name) && fs::is_directory(base / folder, absent))
        found = base / folder;
      else if (const fs::path usual = diagnosis_path(base, result.name); fs::is_directory(usual, absent))
        found = usual;
    }
    folder = found.empty() ? "" : fs::proximate(fs::absolute(found), fs::absolute(to)).string();
  }
}

}  // namespace torchstone::results_folder
