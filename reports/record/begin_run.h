#pragma once
#include <string>
#include <vector>

#include <torchstone/run_info.h>

namespace torchstone {

/// The run that begins now, with everything that needs no torch. Secrets in the command line are hidden
/// (reports/base/secrets.h). `more_names`: variables to record beside those of reports/record/result_variables.h.
RunInfo begin_run(int argc, const char* const* argv, const std::vector<std::string>& more_names = {});

/// The variables of this process that are recorded, by name: never one whose name or value looks like a secret.
Facts environment_facts(const std::vector<std::string>& more_names = {});

}  // namespace torchstone
