#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "cases/settings/case_fields.h"

namespace torchstone::suite {

/// Folders in which logs of operator inputs are found by name.
struct OperatorLogFolders {
  std::filesystem::path upstream{};  ///< upstream's operator_inp_logs (pytorch, benchmarks/dynamo); empty: none
  std::filesystem::path own{};       ///< recorded from models of the zoo: MODEL_inference.txt, MODEL_training.txt
};

/// Returns the logs of a model, or of all models of a suite of upstream's (torchbench, timm, huggingface), sorted.
/// Upstream's logs are preferred. A model without a log gets the logs of its family. Throws ConfigError if there is no
/// log, or if the folder of upstream has no logs of any suite.
std::vector<std::string> operator_logs_of(const config::Choice<std::string>& name, const OperatorLogFolders& folders);

}  // namespace torchstone::suite
