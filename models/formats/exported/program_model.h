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

/// What a program is called with: the values of its user inputs in order, some of which are tensors.
struct SampleInputs {
  std::vector<c10::IValue> leaves;
  bool batch_can_change = false;  ///< the first dimension of the tensors is a symbol of the program
  int64_t batch = 1;
  Range batches{};  ///< of that symbol
  std::string symbol{};
  std::vector<ModelDimension> dimensions{};  ///< the other symbols by name, each the size of some tensor's dimension
};

/// The sample inputs of an archive. Throws std::invalid_argument when there are none, or others than the program takes.
SampleInputs read_sample_inputs(Archive& archive, const std::string& name, const Program& program);

/// An exported program as a model.
class ProgramModel : public Model, public DropoutRates, public FileProgram {
 public:
  /// `loss` is the path of the output that is the loss ("loss", "[0]"); empty: upstream's reduction of the
  /// tensors that it returns.
  /// Throws std::invalid_argument when the program needs tensors that there are not, or names clash.
  ProgramModel(std::shared_ptr<const Program> program, ProgramTensors tensors, SampleInputs samples, std::string loss,
               bool training);

  c10::IValue forward(const torchstone::Tensors& inputs) override;
  torchstone::Tensors example_inputs(const ModelOptions& options) const override;
  /// The program's symbols but the batch's, under its names for them.
  std::vector<ModelDimension> dimensions() const override { return samples_.dimensions; }
  torch::Tensor loss(const c10::IValue& output) const override;
  TensorNames tensor_order() const override;
  bool in_state_dict(const std::string& name) const override { return !outside_.contains(name); }
  /// Constants of the program keep their dtype, as in Python. A cast to float64, the reference of other runs, casts
  /// them.
  void to(torch::Dtype dtype, bool non_blocking = false) override;
  void to(torch::Device device, torch::Dtype dtype, bool non_blocking = false) override;
  using Model::to;
  size_t set_dropout_rate(double rate) override;
  /// Constants of an exported program are buffers of the model.
  ProgramDescription program_description() const override { return {program_->text}; }
  /// Is called with each dtype that the model is cast to.
  void watch_dtype(std::function<void(c10::ScalarType)> watch) { watch_dtype_ = std::move(watch); }

 private:
  void add(const std::string& name, const StoredTensor& stored);

  std::shared_ptr<const Program> program_;
  SampleInputs samples_;
  std::string loss_;
  Placement placement_;
  std::vector<std::pair<torch::nn::Module*, std::string>> state_;  ///< of program.inputs; nullptr for the user's
  std::set<std::string> outside_;                                  ///< names that are not in the state_dict
  std::map<std::string, torch::Tensor> constants_;
  std::function<void(c10::ScalarType)> watch_dtype_{};
  mutable bool asked_ = false;
};

}  // namespace torchstone::formats::exported
