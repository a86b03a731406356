#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <torchstone/model.h>

namespace torchstone {

/// Description of the program of a model from a file, without the values of its parameters and buffers. It omits source
/// locations and names that the loader generates, so two exports of one model have the same description.
struct ProgramDescription {
  std::string text{};
  Tensors constants{};  ///< tensors in the program itself, in their order
};

/// Dotted names of a program's tensors, in the order of torch.export's graph signature.
struct TensorNames {
  std::vector<std::string> parameters, buffers;
  std::vector<std::string> constants;  ///< other tensors, whose values belong to the program
};

/// A model that was read from a file with a program.
class FileProgram {
 public:
  virtual ~FileProgram() = default;
  virtual ProgramDescription program_description() const = 0;
  /// Returns the order of an exported program's signature, which may differ from the order of the modules. Empty for a
  /// TorchScript file, which has the order of its modules.
  virtual TensorNames tensor_order() const { return {}; }
};

/// A model whose dropout rates are in a program instead of options of its modules.
class DropoutRates {
 public:
  virtual ~DropoutRates() = default;
  /// Sets the rate of each dropout of the program that is active in training. Returns their number.
  virtual size_t set_dropout_rate(double rate) = 0;
};

/// Returns whether a dropout of this rate generates random numbers: rates of 0 and 1 do not.
constexpr bool is_dropout_rate(double rate) { return rate > 0 && rate < 1; }

/// A rate at which a dropout generates its mask but drops nothing (upstream's for Hugging Face,
/// benchmarks/dynamo/huggingface.py).
constexpr double rate_of_no_drops = 1e-30;

/// Returns whether an operator's argument is a dropout rate: `p` of aten::dropout and related operators, `dropout_p` of
/// aten::scaled_dot_product_attention, `dropout` of aten::lstm.
constexpr bool names_dropout_rate(std::string_view op, std::string_view argument) {
  return argument == "dropout" || argument == "dropout_p" ||
         (argument == "p" && op.find("dropout") != std::string_view::npos);
}

}  // namespace torchstone
