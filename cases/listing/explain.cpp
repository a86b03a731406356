#include <fnmatch.h>

#include <fmt/format.h>

#include "cases/config/case_field.h"
#include "cases/listing/listing.h"

namespace torchstone::listing {
std::vector<std::pair<std::string, nlohmann::ordered_json>> fields_of(const Case& c) {
  std::vector<std::pair<std::string, nlohmann::ordered_json>> fields;
  for (const auto& field : config::case_fields())
    if (field.shown) fields.emplace_back(field.name, field.get(c));
  return fields;
}

std::string explanation(const std::vector<Case>& cases, const std::string& glob) {
  std::string text;
  for (const auto& c : cases) {
    if (fnmatch(glob.c_str(), name_of(c).c_str(), 0) != 0) continue;
    Table table{{name_of(c), "value", "decided by"}, {}};
    for (const auto& [field, value] : fields_of(c)) {
      const auto origin = c.origin.find(field);
      table.rows.push_back({"  " + field, value, origin == c.origin.end() ? "default" : origin->second});
    }
    const auto reason = c.origin.find("expected_reason");
    if (reason != c.origin.end()) table.rows.push_back({"  expected because", reason->second, ""});
    text += (text.empty() ? "" : "\n") + to_text(table);
  }
  if (text.empty())
    throw selection::NothingSelected(
        fmt::format("--torchstone_explain={}: no case has such a name (expected a glob such as '*resnet18*'; see "
                    "--torchstone_list=cases)",
                    glob));
  return text;
}

}  // namespace torchstone::listing
