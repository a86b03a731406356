#pragma once
#include <filesystem>

namespace torchstone::results_folder {

/// Removes what runs leave in a results folder, and nothing else.
void empty_results(const std::filesystem::path& folder);

}  // namespace torchstone::results_folder
