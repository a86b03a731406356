#pragma once
#include <string>

#include <torchstone/run_info.h>

namespace torchstone::write {

/// Workflow commands of GitHub Actions: at most eight `::error file=…,line=…,title=…::…`, each a case that is not as
/// expected with its cause and reproduction, then one that counts the rest (GitHub itself shows ten a step). Paths
/// below `workspace` are given relative to it, as GitHub wants them. A red run without such a case has one that says
/// its exit code. A notice names
/// the noisy speed-ups, at most eight. Empty when the run is green and nothing is noisy. Source: docs.github.com,
/// "Workflow commands for GitHub Actions".
std::string write_annotations(const Report& report, const std::string& workspace);

}  // namespace torchstone::write
