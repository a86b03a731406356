#include "reports/results_folder/side_files.h"

#include <bit>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>

#include "reports/base/files.h"

namespace torchstone::results_folder {
namespace fs = std::filesystem;
namespace {

void append_little_endian(std::string& bytes, uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
}

}  // namespace

fs::path samples_path(const fs::path& out, const std::string& name) {
  return out / "samples" / (case_file_name(name) + ".npy");
}

fs::path trace_path(const fs::path& out, const std::string& name) {
  return out / "traces" / (case_file_name(name) + ".json");
}

fs::path memory_path(const fs::path& out, const std::string& name) {
  return out / "memory" / (case_file_name(name) + ".json");
}

fs::path coverage_path(const fs::path& out, const std::string& name) {
  return out / "coverage" / (case_file_name(name) + ".csv");
}

fs::path layers_path(const fs::path& out, const std::string& name) {
  return out / "layers" / (case_file_name(name) + ".csv");
}

fs::path conv_args_path(const fs::path& out, const std::string& name) {
  return out / "conv_args" / (case_file_name(name) + ".json");
}

fs::path diagnosis_path(const fs::path& out, const std::string& name) {
  return out / "diagnosis" / case_file_name(name);
}

void remove_side_files(const fs::path& out, const std::string& name) {
  for (const auto& path : {samples_path(out, name), trace_path(out, name), memory_path(out, name),
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
  const auto& samples = result.outcome.samples;
  const auto eager = samples.find("eager_s"), compiled = samples.find("compiled_s");
  if (eager == samples.end() || compiled == samples.end()) return;
  write_atomically(samples_path(out, result.name), write_npy({eager->second, compiled->second}));
}

}  // namespace torchstone::results_folder
