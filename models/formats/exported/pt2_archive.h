#pragma once
#include <iosfwd>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>
#include <nlohmann/json.hpp>
#include <torch/torch.h>

namespace caffe2::serialize {
class PyTorchStreamReader;
}

namespace torchstone::formats::exported {

/// The zip archive of torch.export.save. Its records are named by their paths below the archive's top folder. Nothing
/// is written to disk, so that a record's name is never used as a path. Every function throws std::invalid_argument or
/// c10::Error. with_context() adds the file's name.
class Archive {
 public:
  /// Refuses other versions of the archive, and records that claim more bytes than the file can hold. Names other kinds
  /// of files in its error: an AOTInductor package, a TorchScript file, a state_dict.
  explicit Archive(const std::string& path);
  explicit Archive(std::istream& stream);
  ~Archive();

  bool has(const std::string& record) const { return names_.contains(record); }
  /// Returns the names of its programs: foo of models/foo.json.
  std::vector<std::string> programs() const;
  std::pair<at::DataPtr, size_t> bytes(const std::string& record);
  std::string text(const std::string& record);
  nlohmann::json json(const std::string& record);
  /// Reads a record that torch.save wrote.
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
/// the state_dict. Tied tensors stay tied, and views of one storage still share it.
struct ProgramTensors {
  StoredTensors state, constants;
};

/// Reads the tensors of a program. Throws std::invalid_argument with the record, the place in its JSON and what was
/// expected. Refuses tensors that exceed their record, tensor subclasses and tensors without values. All sizes together
/// may not exceed 256 MiB and eight times the file.
ProgramTensors read_tensors(Archive& archive, const std::string& program);

/// Floating-point dtypes, each once. Complex numbers count by the dtype of their parts.
struct StoredDtypes {
  std::set<c10::ScalarType> state{};      ///< of parameters and buffers
  std::set<c10::ScalarType> constants{};  ///< of all other tensors
};

/// Returns the dtypes of a program's tensors without reading their values. `buffers`: the names of the program's
/// buffers, including those that are stored among its constants. Throws as read_tensors().
StoredDtypes stored_dtypes(Archive& archive, const std::string& program, const std::set<std::string>& buffers);

}  // namespace torchstone::formats::exported
