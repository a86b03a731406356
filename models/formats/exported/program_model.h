#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <torchstone/model.h>

#include "models/core/file_program.h"
#include "models/formats/exported/pt2_archive.h"
#include "models/formats/exported/pt2_program.h"

namespace torchstone::formats::exported {

/// Values of a program's user inputs, in order, and how their sizes may vary.
struct SampleInputs {
  std::vector<c10::IValue> leaves;
  bool batch_can_change = false;  ///< the first dimension of the tensors is a symbol of the program
  int64_t batch = 1;
  Range batches{};  ///< range of that symbol
  std::string symbol{};
  std::vector<ModelDimension> dimensions{};  ///< the other symbols, by name
};

/// Reads the sample inputs of an archive. Throws std::invalid_argument if they are missing or do not fit the program.
SampleInputs read_sample_inputs(Archive& archive, const std::string& name, const Program& program);

/// An exported program as a model.
class ProgramModel : public Model, public DropoutRates, public FileProgram {
 public:
  /// `loss` is the path of the output that is the loss ("loss", "[0]"); if empty, upstream's reduction of all returned
  /// tensors is the loss. Throws std::invalid_argument if tensors that the program takes are missing, or names clash.
  ProgramModel(std::shared_ptr<const Program> program, ProgramTensors tensors, SampleInputs samples, std::string loss,
               bool training);

  c10::IValue forward(const torchstone::Tensors& inputs) override;
  torchstone::Tensors example_inputs(const ModelOptions& options) const override;
  /// Returns the program's symbols except the batch's, under their names in the program.
  std::vector<ModelDimension> dimensions() const override { return samples_.dimensions; }
  torch::Tensor loss(const c10::IValue& output) const override;
  TensorNames tensor_order() const override;
  bool in_state_dict(const std::string& name) const override { return !outside_.contains(name); }
  /// Casts the model. Constants of the program keep their dtype, as in Python, except in float64, the dtype of
  /// references.
  void to(torch::Dtype dtype, bool non_blocking = false) override;
  using Model::to;
  size_t set_dropout_rate(double rate) override;
  /// Returns no constants, because an exported program registers them as buffers of the model.
  ProgramDescription program_description() const override { return {program_->text}; }
  /// Calls `watch` with each dtype that the model is cast to.
  void watch_dtype(std::function<void(c10::ScalarType)> watch) { watch_dtype_ = std::move(watch); }

 private:
  void add(const std::string& name, const StoredTensor& stored);

  std::shared_ptr<const Program> program_;
  SampleInputs samples_;
  std::string loss_;
  Placement placement_;
  std::vector<std::pair<torch::nn::Module*, std::string>>
      state_;                      ///< module and name of each of program.inputs; nullptr for the user's
  std::set<std::string> outside_;  ///< names outside the state_dict
  std::map<std::string, torch::Tensor> constants_;
  std::function<void(c10::ScalarType)> watch_dtype_{};
  mutable bool asked_ = false;
};

}  // namespace torchstone::formats::exported
