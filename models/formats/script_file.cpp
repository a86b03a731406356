#include "models/formats/script_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>

#include "models/core/tree.h"
#include "models/formats/first_line.h"
#include "models/formats/pickle/pickle.h"
#include "models/formats/record_sizes.h"
#include "models/formats/refuse.h"

namespace torchstone::formats {
namespace {

void require_zip(const std::string& path, const std::string& expected) {
  if (!std::filesystem::is_regular_file(path)) refuse(path, "no such file");
  std::ifstream stream(path, std::ios::binary);
  std::string start(4, '\0');
  if (!stream.read(start.data(), 4) || start != "PK\3\4") refuse(path, "no zip archive; expected " + expected);
}

/// "Unknown builtin op: torchvision::nms."; empty for any other error.
std::string unknown_operator(const std::string& message) {
  constexpr std::string_view words = "Unknown builtin op: ";
  const size_t begin = message.find(words);
  if (begin == std::string::npos) return "";
  const std::string rest = message.substr(begin + words.size());
  const size_t end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:");
  return rest.substr(0, end);
}

}  // namespace

torch::jit::Module load_script(const std::string& path) {
  const std::string expected = "a TorchScript module as torch.jit.save writes it";
  require_zip(path, expected);
  try {
    caffe2::serialize::PyTorchStreamReader archive(path);
    require_possible_sizes(archive, std::filesystem::file_size(path));
    return torch::jit::load(path, torch::kCPU);
  } catch (const std::invalid_argument& error) {
    refuse(path, error.what());
  } catch (const std::exception& error) {
    if (const auto name = unknown_operator(error.what()); !name.empty())
      refuse(path,
             fmt::format("needs the operator {}, which LibTorch does not have: --torchstone_library=FILE.so loads "
                         "a library of operators",
                         name));
    refuse(path, fmt::format("expected {}, not a state_dict, a pickled model or a truncated file ({})", expected,
                             first_line(error)));
  }
}

std::vector<c10::IValue> load_inputs(const std::string& path) {
  const auto value = read_pt(path);
  if (!value.isTensor() && !value.isTuple() && !value.isList())
    refuse(path, fmt::format("holds a {}, expected a list or tuple of tensors", describe(value)));
  std::vector<c10::IValue> inputs;
  for (const auto& element : value.isTensor() ? std::vector<Child>{{"", value}} : children_of(value)) {
    const c10::IValue& input = element.value;
    if (!input.isTensor() && !input.isNone() && !input.isScalar() && !input.isString())
      refuse(path, fmt::format("element {} is {}, expected a tensor, None, a number or a string", element.step,
                               describe(input)));
    inputs.push_back(input);
  }
  if (std::ranges::none_of(inputs, [](const c10::IValue& input) { return input.isTensor(); }))
    refuse(path, "holds no tensor");
  return inputs;
}

}  // namespace torchstone::formats
