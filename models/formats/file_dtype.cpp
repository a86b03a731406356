#include "models/formats/file_dtype.h"

#include <filesystem>

#include "models/formats/exported/archive.h"
#include "models/formats/exported/program_model.h"
#include "models/formats/exported/program_reader.h"
#include "models/formats/exported/tensors.h"
#include "models/formats/script_file.h"

namespace torchstone::formats {
namespace {

namespace fs = std::filesystem;

void add(const torch::Tensor& tensor, std::set<c10::ScalarType>& dtypes) {
  if (tensor.is_floating_point()) dtypes.insert(tensor.scalar_type());
}

std::set<c10::ScalarType> dtypes_of_script(const std::string& path, const std::string& inputs_path) {
  std::set<c10::ScalarType> dtypes;
  for (const auto& parameter : load_script(path).parameters()) add(parameter, dtypes);
  if (!dtypes.empty()) return dtypes;
  for (const auto& input : load_inputs(inputs_path))
    if (input.isTensor()) add(input.toTensor(), dtypes);
  return dtypes;
}

std::set<c10::ScalarType> dtypes_of_archive(const std::string& path) {
  exported::Archive archive(path);
  const std::string name = archive.programs().front();
  auto dtypes = exported::parameter_dtypes(archive, name);
  if (!dtypes.empty()) return dtypes;
  for (const auto& leaf : exported::read_sample_inputs(archive, name, exported::read_program(archive, name)).leaves)
    if (leaf.isTensor()) add(leaf.toTensor(), dtypes);
  return dtypes;
}

}  // namespace

std::set<c10::ScalarType> dtypes_of_file(const std::string& path, const std::string& inputs_path) {
  if (path.ends_with(".pt")) return dtypes_of_script(path, inputs_path);
  if (!fs::is_directory(path)) return dtypes_of_archive(path);
  const fs::path evaluating = fs::path(path) / "eval.pt2";
  return dtypes_of_archive((fs::exists(evaluating) ? evaluating : fs::path(path) / "train.pt2").string());
}

}  // namespace torchstone::formats
