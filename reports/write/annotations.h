#pragma once
#include <string>
#include <vector>

#include <torchstone/result.h>

namespace torchstone::write {

/// Workflow commands of GitHub Actions: at most eight `::error file=…,line=…,title=…::…`, each a case that is not as
/// expected with its cause and reproduction, then one that counts the rest (GitHub itself shows ten a step). Paths
/// below `workspace` are given relative to it, as GitHub wants them. Empty when all is as expected. Source:
/// docs.github.com, "Workflow commands for GitHub Actions".
std::string write_annotations(const std::vector<Result>& results, const std::string& workspace);

}  // namespace torchstone::write
