#pragma once
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>
#include <nlohmann/json.hpp>

namespace caffe2::serialize {
class PyTorchStreamReader;
}

namespace torchstone::formats::exported {

/// The zip archive of torch.export.save, with its records under the names they have below the archive's top folder.
/// Nothing is written to disk, so that a record's name is only ever compared. Every function throws
/// std::invalid_argument or c10::Error; with_file.h puts the file's name in front.
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

}  // namespace torchstone::formats::exported
