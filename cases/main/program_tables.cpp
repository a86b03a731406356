#include "cases/main/program_tables.h"

#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fixtures/checks/profile/case_profile.h"
#include "fixtures/isolate/signals.h"
#include "reports/base/terminal.h"
#include "reports/console/progress.h"
#include "reports/record/row.h"

namespace torchstone {

void add_program_tables(Session& session, size_t index, Result& result) {
  const Case& c = session.cases[index];
  if (!checks::wants_profile(session.flags.run) || isolate::interrupted()) return;
  if (info_of(result.outcome.status).junit == JUnitKind::skipped) return;
  const std::string name = short_name(name_of(c));
  const auto found = nlohmann::json::parse(session.runner.profile(
      index, [&](std::string_view phase) { console::show_progress(name, fmt::format("program: {}", phase)); }));
  if (const std::string tables = found.at("text"); !tables.empty()) {
    console::clear_progress();
    print_text(tables);
  }
  for (const auto& [note, text] : found.at("notes").items()) result.outcome.notes[note] = text;
}

}  // namespace torchstone
