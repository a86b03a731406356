#pragma once
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <torchstone/case.h>
#include <torchstone/result.h>

#include "cases/main/session.h"

namespace torchstone::listing {

/// Returns indices into `cases`, grouped by program, in the order of `selected`. Cases of one group differ in the
/// backend, the check or how strictly they are judged.
std::vector<std::vector<size_t>> groups_with_one_program(const std::vector<Case>& cases,
                                                         const std::vector<size_t>& selected);

/// The program of some cases, or the reason why it could not be captured.
struct ListedProgram {
  std::vector<std::string> cases{};  ///< names
  nlohmann::json description{};      ///< set unless capturing failed (fixtures/capture/program_walk.h)
  std::optional<Outcome> failure{};
};

/// Returns the names of the cases as comments, and the program (fixtures/capture/neutral_program.h) or the failure.
std::string to_text(const ListedProgram& program);
/// Returns {"cases": […], "program": {…}} or {"cases": […], "status": …, "reason": …, "phase": …, "detail": …}.
nlohmann::ordered_json to_json(const ListedProgram& program);

}  // namespace torchstone::listing

namespace torchstone {

/// Throws ConfigError for flags that cannot be combined with --torchstone_print_program.
void require_printable(const flags::Flags& flags);

/// --torchstone_print_program: prints the captured programs of the selected cases, each program once, and ends the
/// process. For a model that cannot be captured, the exit code is that of a run. It is 3 if no case is selected.
[[noreturn]] void print_programs(Session& session);

}  // namespace torchstone
