#pragma once
#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iosfwd>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torchstone/model_info.h>

// Models and libraries of operators in files that a user names.

namespace caffe2::serialize {
class PyTorchStreamReader;
}

namespace torchstone::formats {

/// Returns whether a path names a model's file instead of a registered model. It ends with .pt or .pt2, or is a folder
/// with eval.pt2, train.pt2 or both.
bool is_model_file(const std::string& path);
/// Returns whether such a file is an exported program: any of the above but .pt.
bool is_exported_model(const std::string& path);
/// Returns the name of a file's model: the file's stem, or the folder's name, in [A-Za-z0-9_].
std::string model_name_of(const std::string& path);

/// The infrastructure fault of a model whose file is damaged. Nothing was judged.
constexpr const char* unreadable_file = "the file could not be read";

/// Returns an exported program (torch.export.save of PyTorch 2.11 or newer) as a model named by model_name_of(). Its
/// first inputs are the archive's samples; later ones are similar. The batch size may change within its range if it is
/// a symbol of the program. Otherwise it is `fixed_batch`, and other symbols may still vary (`dimensions_alone`).
/// Training uses the program `train` of the archive (or the folder's train.pt2), inference `model` (or eval.pt2). One
/// program serves both when none of its operators depends on the mode.
/// Reads the graph and the sample inputs, and throws std::runtime_error with the place and what was expected. Weights
/// are read when a model is made. If that fails, its facts have the fault unreadable_file. The first model is compared
/// with the outputs that the exporter stored.
ModelInfo exported_model_info(const std::string& path);
/// Returns the floating-point dtypes of an exported program's parameters, buffers and inputs, each once. Complex
/// numbers count by the dtype of their parts. Reads the program and the metadata of its tensors, not their values.
/// Throws std::exception if the file cannot be read.
std::set<c10::ScalarType> dtypes_of_exported(const std::string& path);

/// Returns a TorchScript file (torch.jit.save, or a traced C++ module) as a model named by model_name_of().
/// `inputs_path` is a file for load_inputs() with the positional arguments of forward. All but tensors become constants
/// of the program. A model's first inputs are the file's; later ones are similar (draw_like()).
/// Throws std::runtime_error for a bad script or inputs that do not fit forward, and PickleError for unreadable inputs.
/// `dtypes` receives the floating-point dtypes of the script's parameters, buffers, inputs and castable constants, so
/// that a large file is not loaded again for them.
ModelInfo script_model_info(const std::string& path, const std::string& inputs_path,
                            std::set<c10::ScalarType>* dtypes = nullptr);

/// Loads a shared library of operators (TORCH_LIBRARY), as torch.ops.load_library does. Throws std::runtime_error when
/// the file does not exist, the loader refuses it, or it registers no operator.
void load_operator_library(const std::string& path);
/// Returns the libraries that this process has loaded, in that order. A compile worker needs the same.
const std::vector<std::string>& operator_libraries();

/// Throws std::runtime_error "PATH: why" for a file that cannot be used.
[[noreturn]] inline void refuse(const std::filesystem::path& path, const std::string& why) {
  throw std::runtime_error(fmt::format("{}: {}", path.string(), why));
}

/// Returns action(). Throws its errors again as std::runtime_error that starts with `context`, without LibTorch's C++
/// stack. Out-of-memory errors keep their type.
template <typename Action>
auto with_context(const std::string& context, const Action& action) {
  try {
    return action();
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::Error& error) {
    throw std::runtime_error(context + ": " + error.what_without_backtrace());
  } catch (const std::exception& error) {
    throw std::runtime_error(context + ": " + error.what());
  }
}

/// Returns the first line of an error's message: LibTorch's messages end with a C++ stack.
inline std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

/// Returns the size of a seekable stream, and moves to its start. Returns nothing if it cannot be read.
std::optional<uint64_t> size_of(std::istream& stream);

/// Returns how many bytes the tensors of a file may take, counting repeated elements: 256 MiB and eight times the file.
inline int64_t most_tensor_bytes(uint64_t file_bytes) {
  return (int64_t{256} << 20) + 8 * static_cast<int64_t>(std::min<uint64_t>(file_bytes, INT64_MAX / 16));
}

/// Throws std::invalid_argument when the records of an archive claim more bytes than a file of `file_bytes` can hold.
/// Records under data/ and constants/ are tensors, which are never compressed: they fit into the file together, unless
/// several overlap. All others (code, pickles) may be compressed, up to 256 MiB together. Reads no record.
void require_possible_sizes(caffe2::serialize::PyTorchStreamReader& archive, uint64_t file_bytes);

}  // namespace torchstone::formats
