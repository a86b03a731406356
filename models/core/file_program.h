#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <torchstone/model.h>

namespace torchstone {

/// Description of what a model from a file computes, without the values of its parameters and buffers. Source locations
/// and names that the loader generates are left out, so two exports of one model have the same description.
struct ProgramDescription {
  std::string text{};
  Tensors constants{};  ///< tensors that the program holds itself, in their order
};

/// The tensors of a program by dotted name, in the order in which torch.export's graph signature lists them.
struct TensorNames {
  std::vector<std::string> parameters, buffers;
  std::vector<std::string> constants;  ///< tensors that are neither, whose values belong to the program
};

/// A model that was read from a file with a program.
class FileProgram {
 public:
  virtual ~FileProgram() = default;
  virtual ProgramDescription program_description() const = 0;
  /// The order of an exported program's signature, which need not be the order of any module's children. Empty where
  /// the file has none: a TorchScript file has the order of its module.
  virtual TensorNames tensor_order() const { return {}; }
};

/// A model whose dropout rates stand in a program rather than in options of its modules.
class DropoutRates {
 public:
  virtual ~DropoutRates() = default;
  /// Gives each dropout of the program that drops now and then, in training, this rate. Returns how many there are.
  virtual size_t set_dropout_rate(double rate) = 0;
};

/// Whether a dropout of this rate draws: none and all are no draws.
constexpr bool is_dropout_rate(double rate) { return rate > 0 && rate < 1; }

/// A rate with which a dropout draws its mask and drops nothing (upstream's for Hugging Face,
/// benchmarks/dynamo/huggingface.py).
constexpr double rate_of_no_drops = 1e-30;

/// Whether an operator's argument is a dropout rate: `p` of aten::dropout and its like, `dropout_p` of
/// aten::scaled_dot_product_attention, `dropout` of aten::lstm.
constexpr bool names_dropout_rate(std::string_view op, std::string_view argument) {
  return argument == "dropout" || argument == "dropout_p" ||
         (argument == "p" && op.find("dropout") != std::string_view::npos);
}

}  // namespace torchstone
