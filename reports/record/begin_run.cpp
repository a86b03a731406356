#include "reports/record/begin_run.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "reports/base/secrets.h"
#include "reports/base/time.h"
#include "reports/record/machine_facts.h"
#include "reports/record/result_variables.h"

namespace torchstone {

Facts environment_facts(const std::vector<std::string>& more_names) {
  Facts facts;
  const auto take = [&](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    if (value != nullptr && !names_secret(name) && !looks_secret(value)) facts.emplace(name, value);
  };
  for (const auto name : result_variables()) take(std::string(name));
  for (const auto& name : more_names) take(name);
  return facts;
}

RunInfo begin_run(int argc, const char* const* argv, const std::vector<std::string>& more_names) {
  RunInfo run;
  run.started = utc_now();
  run.id = fmt::format("{}-{:x}", run.started, getpid());
  run.argv = without_secrets({argv, argv + argc});
  std::error_code ignored;
  run.directory = std::filesystem::current_path(ignored).string();
  run.machine = machine_facts();
  run.environment = environment_facts(more_names);
  return run;
}

}  // namespace torchstone
