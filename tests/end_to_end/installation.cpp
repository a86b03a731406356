#include "tests/end_to_end/installation.h"

#include <filesystem>
#include <stdexcept>

namespace torchstone {
namespace {

void must(const std::vector<std::string>& arguments) {
  const ProgramRun run = run_program(arguments, {{"TORCHSTONE_LIBTORCH", ""}, {"TORCHSTONE_PYTHON", ""}});
  if (run.exit_code == 0) return;
  std::string command;
  for (const auto& argument : arguments) command += argument + " ";
  throw std::runtime_error(command + "ended with " + std::to_string(run.exit_code) + ":\n" + run.out + run.err);
}

}  // namespace

Installation::Installation() { must({TORCHSTONE_CMAKE, "--install", TORCHSTONE_BUILD_DIR, "--prefix", prefix_}); }

std::string Installation::plugin(const std::string& example, const std::string& name) const {
  return build(example) + "/lib" + name + ".so";
}

std::string Installation::executable(const std::string& example, const std::string& name) const {
  return build(example) + "/" + name;
}

std::string Installation::build(const std::string& example) const {
  const std::string build = folder_.path() / example;
  if (std::filesystem::exists(build)) return build;
  must({TORCHSTONE_CMAKE, "-G", "Ninja", "-S", std::string(TORCHSTONE_SOURCE_DIR) + "/examples/" + example, "-B", build,
        "-DCMAKE_PREFIX_PATH=" + prefix_});
  must({TORCHSTONE_CMAKE, "--build", build});
  return build;
}

ProgramRun Installation::run(std::vector<std::string> arguments) const {
  std::vector<std::string> command{program("torchstone"), "--torchstone_out=" + results_folder()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_program(command);
}

nlohmann::json Installation::results() const {
  return nlohmann::json::parse(read_file(results_folder() + "/results.json"));
}

}  // namespace torchstone
