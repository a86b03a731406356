#include "models/formats/model_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>

#include "models/formats/exported/program_model.h"
#include "models/formats/exported/pt2_archive.h"
#include "models/formats/exported/pt2_program.h"
#include "models/formats/script_model.h"
#include "models/formats/script_program.h"

namespace torchstone::formats {
namespace {

namespace fs = std::filesystem;

bool is_exported_folder(const fs::path& path) {
  std::error_code error;  // a name may be too long to be asked for
  return fs::exists(path / "eval.pt2", error) || fs::exists(path / "train.pt2", error);
}

}  // namespace

bool is_model_file(const std::string& path) {
  return path.ends_with(".pt") || path.ends_with(".pt2") || is_exported_folder(path);
}

std::string model_name_of(const std::string& path) {
  fs::path file = fs::path(path).lexically_normal();
  if (!file.has_filename()) file = file.parent_path();  // `folder/`
  const bool named_file = path.ends_with(".pt") || path.ends_with(".pt2");
  std::string name = named_file ? file.stem().string() : file.filename().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name.empty() ? "model" : name;
}

namespace {

constexpr uint64_t most_of_other_records = uint64_t{256} << 20;
constexpr size_t most_records = 1'000'000;

}  // namespace

void require_possible_sizes(caffe2::serialize::PyTorchStreamReader& archive, uint64_t file_bytes) {
  const auto names = archive.getAllRecords();
  if (names.size() > most_records)
    throw std::invalid_argument(fmt::format("{} records (expected at most {})", names.size(), most_records));
  uint64_t of_tensors = 0, of_others = 0;
  for (const auto& name : names) {
    const uint64_t size = archive.getRecordSize(name);
    uint64_t& sum = name.starts_with("data/") || name.starts_with("constants/") ? of_tensors : of_others;
    if (__builtin_add_overflow(sum, size, &sum)) throw std::invalid_argument("the sizes of its records overflow");
  }
  if (of_tensors > file_bytes)
    throw std::invalid_argument(
        fmt::format("its tensors are stored in {} bytes, more than the {} of the file: records "
                    "that are compressed or lie over each other (expected neither)",
                    of_tensors, file_bytes));
  if (of_others > most_of_other_records)
    throw std::invalid_argument(fmt::format("its code and pickles come to {} bytes unpacked (expected at most {})",
                                            of_others, most_of_other_records));
}

namespace {

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
