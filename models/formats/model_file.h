#pragma once
#include <string>

namespace torchstone::formats {

/// Whether a path is taken for a model's file instead of a model's name: it ends with .pt or .pt2, or is a folder that
/// holds eval.pt2, train.pt2 or both.
bool is_model_file(const std::string& path);

/// The name of a file's model: the file's stem, or the folder's name, in [A-Za-z0-9_].
std::string model_name_of(const std::string& path);

}  // namespace torchstone::formats
