#include "reports/results_folder/process_facts.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/secrets.h"
#include "reports/base/text.h"

namespace torchstone::results_folder {
namespace {

std::string text_of(pid_t pid, const char* file) {
  std::ifstream stream(fmt::format("/proc/{}/{}", pid, file), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::optional<ProcessFacts> process_facts(pid_t pid) {
  // "PID (NAME) STATE PARENT …": the name may hold anything, so what follows is counted from its end (proc(5)).
  const std::string stat = text_of(pid, "stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string state, skipped;
  ProcessFacts facts;
  fields >> state >> facts.parent;
  constexpr int between_parent_and_start = 17;
  for (int i = 0; i < between_parent_and_start; ++i) fields >> skipped;
  if (!(fields >> facts.start_ticks) || state == "Z" || state == "X") return std::nullopt;
  std::vector<std::string> words;
  std::istringstream command(text_of(pid, "cmdline"));
  for (std::string word; std::getline(command, word, '\0');) words.push_back(word);
  facts.command = printable(fmt::format("{}", fmt::join(without_secrets(words), " ")));
  return facts;
}

bool descends_from(pid_t ancestor) {
  for (pid_t pid = getppid(); pid > 0;) {
    if (pid == ancestor) return true;
    const auto facts = process_facts(pid);
    pid = facts ? facts->parent : 0;
  }
  return false;
}

}  // namespace torchstone::results_folder
