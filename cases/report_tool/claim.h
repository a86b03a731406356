#pragma once
#include <CLI/CLI.hpp>

namespace torchstone {

/// `claim FOLDER`: for ctest and scripts that run cases as processes of their own.
void add_claim_command(CLI::App& app);

}  // namespace torchstone
