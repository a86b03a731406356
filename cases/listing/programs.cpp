#include "cases/listing/programs.h"

#include <map>

#include <fmt/format.h>

#include "fixtures/capture/neutral_program.h"

namespace torchstone::listing {
namespace {

/// What a captured program depends on.
std::string subject_of(const Case& c) {
  return nlohmann::json{c.model,         to_string(c.mode),   to_string(c.dtype), static_cast<int>(c.amp_dtype),
                        c.device,        to_string(c.preset), c.batch_size,       c.weights,
                        c.channels_last, c.eval_in_training,  c.loss_divisor,     c.seed}
      .dump();
}

}  // namespace

std::vector<std::vector<size_t>> groups_with_one_program(const std::vector<Case>& cases,
                                                         const std::vector<size_t>& selected) {
  std::map<std::string, size_t> group_of;
  std::vector<std::vector<size_t>> groups;
  for (const size_t index : selected) {
    const auto [place, is_new] = group_of.try_emplace(subject_of(cases.at(index)), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(index);
  }
  return groups;
}

std::string to_text(const ListedProgram& program) {
  std::string text;
  for (const auto& name : program.cases) text += fmt::format("# {}\n", name);
  if (!program.failure) return text + capture::program_text(program.description);
  const Outcome& failure = *program.failure;
  text += fmt::format("{}: {}\n", to_string(failure.status), failure.reason);
  if (!failure.detail.empty()) text += failure.detail + (failure.detail.ends_with('\n') ? "" : "\n");
  return text;
}

nlohmann::ordered_json to_json(const ListedProgram& program) {
  nlohmann::ordered_json one{{"cases", program.cases}};
  if (!program.failure) {
    one["program"] = program.description;
    return one;
  }
  one["status"] = to_string(program.failure->status);
  one["reason"] = program.failure->reason;
  one["phase"] = program.failure->phase;
  one["detail"] = program.failure->detail;
  return one;
}

}  // namespace torchstone::listing
