#include "models/formats/file_dtype.h"

#include <filesystem>

#include <torch/csrc/jit/passes/inliner.h>

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

/// A number of a trace is a constant without dimensions, which decides no dtype.
void add_constants(const torch::jit::Block& block, std::set<c10::ScalarType>& dtypes) {
  for (const auto* node : block.nodes()) {
    if (node->kind() == c10::prim::Constant && node->hasAttribute(c10::attr::value) &&
        node->kindOf(c10::attr::value) == torch::jit::AttributeKind::t && node->t(c10::attr::value).dim() > 0)
      add(node->t(c10::attr::value), dtypes);
    for (const auto* inner : node->blocks()) add_constants(*inner, dtypes);
  }
}

std::set<c10::ScalarType> dtypes_of_script(const std::string& path, const std::string& inputs_path) {
  std::set<c10::ScalarType> dtypes;
  const auto module = load_script(path);
  for (const auto& parameter : module.parameters()) add(parameter, dtypes);
  for (const auto& buffer : module.buffers()) add(buffer, dtypes);
  const auto graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  add_constants(*graph->block(), dtypes);
  for (const auto& input : load_inputs(inputs_path))
    if (input.isTensor()) add(input.toTensor(), dtypes);
  return dtypes;
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

std::set<c10::ScalarType> dtypes_of_file(const std::string& path, const std::string& inputs_path) {
  if (path.ends_with(".pt")) return dtypes_of_script(path, inputs_path);
  if (!fs::is_directory(path)) return dtypes_of_archive(path);
  const fs::path evaluating = fs::path(path) / "eval.pt2";
  return dtypes_of_archive((fs::exists(evaluating) ? evaluating : fs::path(path) / "train.pt2").string());
}

}  // namespace torchstone::formats
