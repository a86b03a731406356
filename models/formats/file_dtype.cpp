#include "models/formats/file_dtype.h"

#include <filesystem>

#include "models/formats/exported/archive.h"
#include "models/formats/exported/program_model.h"
#include "models/formats/exported/program_reader.h"
#include "models/formats/exported/tensors.h"
#include "models/formats/script_graph.h"

namespace torchstone::formats {
namespace {

namespace fs = std::filesystem;

void add(const torch::Tensor& tensor, std::set<c10::ScalarType>& dtypes) {
  if (tensor.is_floating_point()) dtypes.insert(tensor.scalar_type());
}

std::set<c10::ScalarType> dtypes_of_archive(const std::string& path) {
  exported::Archive archive(path);
  const std::string name = archive.programs().front();
  const auto program = exported::read_program(archive, name);
  std::set<std::string> buffers;
  for (const auto& input : program.inputs)
    if (input.source == exported::ProgramInput::Source::buffer) buffers.insert(input.name);
  auto [dtypes, constants] = exported::stored_dtypes(archive, name, buffers);
  for (const auto& leaf : exported::read_sample_inputs(archive, name, program).leaves)
    if (leaf.isTensor()) add(leaf.toTensor(), dtypes);
  // To cast an exported program leaves its constants as they are, except in float64.
  if (dtypes == std::set{torch::kFloat64}) dtypes.merge(constants);
  return dtypes;
}

}  // namespace

std::set<c10::ScalarType> dtypes_of_script(const torch::jit::Module& module,
                                           const std::vector<c10::IValue>& arguments) {
  std::set<c10::ScalarType> dtypes;
  for (const auto& parameter : module.parameters()) add(parameter, dtypes);
  for (const auto& buffer : module.buffers()) add(buffer, dtypes);
  // A number of a trace is a constant without dimensions, which decides no dtype.
  for (const auto& constant : constant_tensors(*inlined_forward(module)))
    if (constant.dim() > 0) add(constant, dtypes);
  for (const auto& argument : arguments)
    if (argument.isTensor()) add(argument.toTensor(), dtypes);
  return dtypes;
}

std::set<c10::ScalarType> dtypes_of_exported(const std::string& path) {
  if (!fs::is_directory(path)) return dtypes_of_archive(path);
  const fs::path evaluating = fs::path(path) / "eval.pt2";
  return dtypes_of_archive((fs::exists(evaluating) ? evaluating : fs::path(path) / "train.pt2").string());
}

}  // namespace torchstone::formats
