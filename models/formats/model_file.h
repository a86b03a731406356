#pragma once
#include <cstdint>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <torchstone/model_info.h>

namespace torchstone::formats {

/// Whether a path is taken for a model's file instead of a model's name: it ends with .pt or .pt2, or is a folder that
/// holds eval.pt2, train.pt2 or both.
bool is_model_file(const std::string& path);

/// The name of a file's model: the file's stem, or the folder's name, in [A-Za-z0-9_].
std::string model_name_of(const std::string& path);

/// Whether a path is taken for an exported program: it ends with .pt2, or is a folder that holds eval.pt2, train.pt2 or
/// both.
bool is_exported_model(const std::string& path);

/// An exported program, as torch.export.save of PyTorch 2.11 to 2.13 writes it, as a model named after the file's stem
/// made an identifier. Inputs are the archive's sample inputs; further calls of `example_inputs` draw others like them.
/// The batch size can be changed where the first dimension of the inputs is a symbol of the program, within its range;
/// otherwise it is the file's (`fixed_batch`), and the other symbols may still vary (`dimensions_alone`).
///
/// Training takes the program `train` of the archive (or the folder's train.pt2), inference the program `model` (or
/// eval.pt2). A file with one program serves both when none of its operators depends on the mode.
///
/// The graph and the sample inputs are read here: throws std::runtime_error with the file, the place in it and what was
/// expected. Weights are read when a model is made, and there the outputs that the exporter stored
/// (torchstone/outputs.pt) are compared with the program's own, once a process.
ModelInfo exported_model_info(const std::string& path);

/// Throws std::runtime_error "PATH: why": a file of the user's that cannot be taken.
[[noreturn]] inline void refuse(const std::filesystem::path& path, const std::string& why) {
  throw std::runtime_error(fmt::format("{}: {}", path.string(), why));
}

/// The first line of an error's message: LibTorch's messages end with a C++ stack.
inline std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

}  // namespace torchstone::formats

namespace caffe2::serialize {

class PyTorchStreamReader;

}  // namespace caffe2::serialize

namespace torchstone::formats {

/// Throws std::invalid_argument when the records of an archive come to more than a file of `file_bytes` can hold:
/// records under data/ and constants/ are tensors, are never compressed and so fit into the file together, unless
/// several lie over each other; all others (code, pickles) may be compressed and have 256 MiB together. Nothing is read
/// yet.
void require_possible_sizes(caffe2::serialize::PyTorchStreamReader& archive, uint64_t file_bytes);

}  // namespace torchstone::formats
