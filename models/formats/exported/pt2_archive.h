#pragma once
#include <iosfwd>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>
#include <c10/util/Exception.h>
#include <nlohmann/json.hpp>
#include <torch/torch.h>

namespace torchstone::formats::exported {

/// Returns action(). What it throws is thrown again as std::runtime_error that starts with `file`, without LibTorch's
/// C++ stack; a lack of memory stays one.
template <typename Action>
auto with_file(const std::string& file, const Action& action) {
  try {
    return action();
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::Error& error) {
    throw std::runtime_error(file + ": " + error.what_without_backtrace());
  } catch (const std::exception& error) {
    throw std::runtime_error(file + ": " + error.what());
  }
}

}  // namespace torchstone::formats::exported

namespace caffe2::serialize {

class PyTorchStreamReader;

}  // namespace caffe2::serialize

namespace torchstone::formats::exported {

/// The zip archive of torch.export.save, with its records under the names they have below the archive's top folder.
/// Nothing is written to disk, so that a record's name is only ever compared. Every function throws
/// std::invalid_argument or c10::Error; with_file() puts the file's name in front.
class Archive {
 public:
  /// Refuses what is no archive of an exported program (an AOTInductor package, a TorchScript file, a state_dict) with
  /// the words for what it is, other versions of the archive, and records that come to more than the file can hold.
  explicit Archive(const std::string& path);
  explicit Archive(std::istream& stream);
  ~Archive();

  bool has(const std::string& record) const { return names_.contains(record); }
  const std::set<std::string>& records() const { return names_; }
  /// The names of its programs: foo of models/foo.json.
  std::vector<std::string> programs() const;
  std::pair<at::DataPtr, size_t> bytes(const std::string& record);
  std::string text(const std::string& record);
  nlohmann::json json(const std::string& record);
  /// A record that torch.save wrote.
  c10::IValue saved(const std::string& record);
  uint64_t file_bytes() const { return file_bytes_; }
  /// Empty for a stream.
  const std::string& path() const { return path_; }

 private:
  void open(uint64_t file_bytes);

  std::string path_{};
  uint64_t file_bytes_ = 0;
  std::unique_ptr<caffe2::serialize::PyTorchStreamReader> reader_;
  std::set<std::string> names_;
};

/// A tensor of an archive.
struct StoredTensor {
  torch::Tensor tensor;  ///< on the CPU
  bool parameter = false;
  bool requires_grad = false;  ///< false for a parameter that was frozen
};
using StoredTensors = std::map<std::string, StoredTensor>;

/// The tensors of a program by their dotted names: its state_dict, and the constants with the buffers that are not in
/// the state_dict. Names of one tensor share it, and tensors that are views of one storage stay so.
struct ProgramTensors {
  StoredTensors state, constants;
};

/// Throws std::invalid_argument naming the record, the place in its JSON and what was expected: a tensor that lies
/// beyond its record, sizes that come to more than 256 MiB and eight times the file, a tensor subclass, no values.
ProgramTensors read_tensors(Archive& archive, const std::string& program);

/// Floating-point dtypes, each once.
struct StoredDtypes {
  std::set<c10::ScalarType> state{};      ///< of parameters and buffers
  std::set<c10::ScalarType> constants{};  ///< of what is neither
};

/// Returns the dtypes of a program's tensors without reading their values. `buffers`: the names of the program's
/// buffers, including those that are stored among its constants. Throws as read_tensors().
StoredDtypes stored_dtypes(Archive& archive, const std::string& program, const std::set<std::string>& buffers);

}  // namespace torchstone::formats::exported
