#pragma once
#include <optional>
#include <string_view>

#include <torchstone/model.h>

#include "models/formats/exported/program.h"

namespace torchstone::formats::exported {

/// Where and in what a program runs instead of where and in what it was exported.
struct Placement {
  c10::Device device = c10::kCPU;
  c10::ScalarType dtype = c10::kFloat;
  std::optional<double> dropout_rate{};  ///< instead of the rates of the program
  bool training = false;  ///< gradients are computed now, or later from what a tracer records without them
};

/// What the name of a run begins with, before the program's origin, for LibTorch's observers (RecordFunction,
/// USER_SCOPE).
inline constexpr std::string_view scope_of_run = "torchstone.exported_program ";

/// Runs the steps of a program by LibTorch's dispatcher, so that a tracer or autocast sees them as they see any
/// model's. `inputs` are the values of program.inputs. Returns the values of the outputs. Throws std::runtime_error
/// with operator and place in the user's source; a lack of memory stays one.
std::vector<c10::IValue> run_program(const Program& program, const std::vector<c10::IValue>& inputs,
                                     const Placement& placement);

}  // namespace torchstone::formats::exported
