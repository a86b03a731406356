#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

// Files that a case leaves beside its record when asked to.

namespace torchstone::results_folder {

/// OUT/samples/CASE.npy: raw timings.
std::filesystem::path samples_path(const std::filesystem::path& out, const std::string& name);
/// OUT/traces/CASE.json: a profiler's trace.
std::filesystem::path trace_path(const std::filesystem::path& out, const std::string& name);
/// OUT/memory/CASE.json: every allocation of one call.
std::filesystem::path memory_path(const std::filesystem::path& out, const std::string& name);
/// OUT/coverage/CASE.csv: the operators of its program.
std::filesystem::path coverage_path(const std::filesystem::path& out, const std::string& name);
/// OUT/layers/CASE.csv: the layers of its program.
std::filesystem::path layers_path(const std::filesystem::path& out, const std::string& name);
/// OUT/conv_args/CASE.json: the arguments of its convolutions.
std::filesystem::path conv_args_path(const std::filesystem::path& out, const std::string& name);
/// OUT/diagnosis/CASE: a folder of what was found about a wrong compiled program.
std::filesystem::path diagnosis_path(const std::filesystem::path& out, const std::string& name);
/// Removes all of them, because those of an earlier run would be taken for this one's.
void remove_side_files(const std::filesystem::path& out, const std::string& name);

/// Columns of equal length as a NumPy array [rows, columns] of little-endian float64, in NPY format 1.0
/// (numpy.org/doc/stable/reference/generated/numpy.lib.format.html). Throws std::invalid_argument for columns of
/// different lengths.
std::string write_npy(const std::vector<std::vector<double>>& columns);
/// Writes samples_path: [rounds, 2], seconds per call of eager and of compiled (upstream's --dump-raw-metrics holds
/// seconds per run). A result without timings leaves no file.
void write_samples(const std::filesystem::path& out, const Result& result);

}  // namespace torchstone::results_folder

// The folder of a diagnosis, OUT/diagnosis/CASE (diagnosis_path()).

namespace torchstone::results_folder {

/// A file that a diagnosis may leave, and what a reader finds in it.
struct DiagnosisFile {
  std::string_view name, content;
};
/// All of them, what is read first at the front.
const std::vector<DiagnosisFile>& diagnosis_files();

/// What was found, from the text of diagnosis.json and from the files beside it: why no guilty pass was named
/// (guilty.json), how often the reproducer failed (confirmed.json), and which files there are. A file that cannot be
/// read costs what it holds, and a fault of the diagnosis says so; with a damaged text that is all there is. Throws
/// nothing but for memory.
Diagnosis read_diagnosis(const std::string& text, const std::filesystem::path& folder);

/// Makes the notes diagnosis_folder fit reports that are written to the folder `to` from the inputs of merge_results():
/// the path from there to the folder of the diagnosis. A case whose folder is in no input loses the note. Of one case
/// the folder of the last input counts.
void relate_diagnoses(Report& report, const std::vector<std::filesystem::path>& inputs,
                      const std::filesystem::path& to);

/// Whether the text names the folder of a diagnosis of this case, here or elsewhere: it ends with diagnosis/CASE.
bool is_diagnosis_folder(const std::string& text, const std::string& name);

}  // namespace torchstone::results_folder
