#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

// Files that a case writes in addition to its record, if flags request them.

namespace torchstone::results_folder {

/// OUT/samples/CASE.npy: raw timings.
std::filesystem::path samples_path(const std::filesystem::path& out, const std::string& name);
/// OUT/traces/CASE.json: a profiler's trace.
std::filesystem::path trace_path(const std::filesystem::path& out, const std::string& name);
/// OUT/memory/CASE.json: every allocation of one call.
std::filesystem::path memory_path(const std::filesystem::path& out, const std::string& name);
/// OUT/memory/CASE_eager.pickle and CASE_compiled.pickle: torch's snapshots of the memory of a GPU.
struct Snapshots {
  std::filesystem::path eager, compiled;
};
Snapshots snapshot_paths(const std::filesystem::path& out, const std::string& name);
/// OUT/coverage/CASE.csv: the operators of its program.
std::filesystem::path coverage_path(const std::filesystem::path& out, const std::string& name);
/// OUT/layers/CASE.csv: the layers of its program.
std::filesystem::path layers_path(const std::filesystem::path& out, const std::string& name);
/// OUT/conv_args/CASE.json: the arguments of its convolutions.
std::filesystem::path conv_args_path(const std::filesystem::path& out, const std::string& name);
/// OUT/diagnosis/CASE: a folder with the findings about a wrong compiled program.
std::filesystem::path diagnosis_path(const std::filesystem::path& out, const std::string& name);
/// Removes these files of an earlier run, so that they are not mistaken for files of this run.
void remove_side_files(const std::filesystem::path& out, const std::string& name);

/// Columns of equal length as a NumPy array [rows, columns] of little-endian float64, in NPY format 1.0
/// (numpy.org/doc/stable/reference/generated/numpy.lib.format.html). Throws std::invalid_argument for columns of
/// different lengths.
std::string write_npy(const std::vector<std::vector<double>>& columns);
/// Writes samples_path: [rounds, 2], seconds per call of eager and of compiled (upstream's --dump-raw-metrics holds
/// seconds per run). A result without timings leaves no file.
void write_samples(const std::filesystem::path& out, const Result& result);

// The folder of a diagnosis, OUT/diagnosis/CASE (diagnosis_path()).

/// A file that a diagnosis may leave, and what a reader finds in it.
struct DiagnosisFile {
  std::string_view name, content;
};
/// Returns all of them, most important first.
const std::vector<DiagnosisFile>& diagnosis_files();

/// Reads a diagnosis from the text of diagnosis.json and its folder. guilty.json tells why no guilty pass was named,
/// and confirmed.json how often the reproducer failed. An unreadable file or text becomes a fault of the diagnosis.
/// Throws only if memory runs out.
Diagnosis read_diagnosis(const std::string& text, const std::filesystem::path& folder);

/// Makes the folders of diagnoses relative to `to`, the folder of a merged report. `inputs` are those of
/// merge_results(). If several inputs have the folder of a case, the last one counts. If none has it, the path becomes
/// empty.
void relate_diagnoses(Report& report, const std::vector<std::filesystem::path>& inputs,
                      const std::filesystem::path& to);

/// Returns whether the text names a folder of a diagnosis of this case, in any results folder: it ends with
/// diagnosis/CASE.
bool is_diagnosis_folder(const std::string& text, const std::string& name);

}  // namespace torchstone::results_folder
