#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <torchstone/run_info.h>

// The folder of a diagnosis, OUT/diagnosis/CASE (diagnosis_path() of side_files.h).
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
