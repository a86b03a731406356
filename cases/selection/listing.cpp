#include "cases/selection/listing.h"

#include <algorithm>
#include <fnmatch.h>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/settings/case_fields.h"
#include "fixtures/core/check_registry.h"
#include "fixtures/measure/gpus.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"

namespace torchstone::listing {
namespace {

using Json = nlohmann::ordered_json;

std::string cell(const Json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Json or_null(int64_t value) { return value > 0 ? Json(value) : Json(nullptr); }

/// Returns the models that --torchstone_suite and --torchstone_only select, or all models without these flags.
std::vector<const ModelInfo*> selected_models(const flags::Flags& flags, const std::vector<suite::Suite>& suites,
                                              const selection::Known& known) {
  if (flags.suites.empty() && flags.only.empty()) return known.models;
  std::set<std::string> names;
  for (const auto& suite : selection::chosen_suites(suites, known, flags))
    for (const auto& model : suite.models) names.insert(model.name);
  std::vector<const ModelInfo*> selected;
  for (const auto* info : known.models)
    if (names.contains(info->name)) selected.push_back(info);
  return selected;
}

Table models_table(const std::vector<const ModelInfo*>& models, const ParameterCount& mini_parameters) {
  Table table{{"model", "family", "suites", "train_batch", "eval_batch", "parameters_full", "parameters_mini"}, {}};
  for (const auto* info : models) {
    table.rows.push_back({info->name, info->family, fmt::format("{}", fmt::join(info->suites, ",")),
                          or_null(info->train_batch), or_null(info->eval_batch), or_null(info->parameters),
                          or_null(mini_parameters ? mini_parameters(*info) : 0)});
  }
  return table;
}

Table suites_table(const std::vector<suite::Suite>& suites, const selection::Expansion& expansion) {
  Table table{{"suite", "models"}, {}};
  for (const auto& check : check_names()) table.columns.push_back(check);
  for (const char* column : {"file", "policy"}) table.columns.push_back(column);
  for (const auto& suite : suites) {
    std::map<std::string, int> counts;
    for (const auto& c : expansion.cases)
      if (c.suite == suite.name) ++counts[c.check];
    std::vector<Json> row{suite.name, suite.models.size()};
    for (const auto& check : check_names()) row.push_back(counts[check]);
    row.push_back(suite.place.file);
    row.push_back(suite.policy.file.empty() ? Json(nullptr) : Json(suite.policy.file));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table cases_table(const std::vector<Case>& cases) {
  Table table{{"name", "batch_size", "tolerance", "cosine", "expected", "time_limit_s"}, {}};
  for (const auto& c : cases)
    table.rows.push_back({name_of(c), or_null(known_batch(c).value_or(0)), c.tolerance, c.cosine,
                          std::string(to_string(c.expected_status)), c.time_limit_s});
  return table;
}

Json cases_json(const std::vector<Case>& cases) {
  Json list = Json::array();
  for (const auto& c : cases) {
    Json one{{"name", name_of(c)}};
    for (const auto& [field, value] : fields_of(c)) one[field] = value;
    one["timed"] = check_info(c).timed;
    one["origin"] = c.origin;
    one["file"] = c.file;
    one["line"] = c.line;
    list.push_back(std::move(one));
  }
  return list;
}

Table skipped_table(const std::vector<selection::Skipped>& skipped) {
  Table table{{"name", "reason", "origin"}, {}};
  for (const auto& one : skipped) table.rows.push_back({one.name, one.reason, one.origin});
  return table;
}

Table backends_table(const selection::Known& known) {
  Table table{{"backend"}, {}};
  for (const auto& name : known.backends) table.rows.push_back({name});
  return table;
}

Table flags_table() {
  Table table{{"flag", "value", "range", "default", "meaning", "environment"}, {}};
  for (const auto& flag : flags::flag_table())
    table.rows.push_back(
        {"--torchstone_" + flag.name, flag.value, flag.range.empty() ? Json(nullptr) : Json(flag.range),
         flag.fallback.empty() ? Json(nullptr) : Json(flag.fallback), flag.help, environment_name(flag)});
  return table;
}

Table gpus_table() {
  Table table{{"device", "uuid", "bus", "model"}, {}};
  const auto gpus = measure::visible_gpus();
  for (size_t i = 0; i < gpus.size(); ++i)
    table.rows.push_back({fmt::format("cuda:{}", i), gpus[i].uuid, gpus[i].bus_id, gpus[i].name});
  return table;
}

Table table_of(const flags::Flags& flags, const std::vector<suite::Suite>& suites,
               const selection::Expansion& expansion, const selection::Known& known,
               const ParameterCount& mini_parameters) {
  using flags::Listing;
  if (flags.list == Listing::models) return models_table(selected_models(flags, suites, known), mini_parameters);
  if (flags.list == Listing::backends) return backends_table(known);
  if (flags.list == Listing::cases) return cases_table(expansion.cases);
  if (flags.list == Listing::suites) return suites_table(suites, expansion);
  if (flags.list == Listing::skipped) return skipped_table(expansion.skipped);
  if (flags.list == Listing::gpus) return gpus_table();
  return flags.list == Listing::flags ? flags_table() : Table{};
}

}  // namespace

std::string to_text(const Table& table) {
  std::vector<std::vector<std::string>> lines(1);
  for (const auto& column : table.columns) lines.front().push_back(terminal_line(column));
  for (const auto& row : table.rows) {
    lines.emplace_back();
    for (const auto& value : row) lines.back().push_back(terminal_line(cell(value)));
  }
  std::vector<size_t> widths(table.columns.size(), 0);
  for (const auto& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const auto& line : lines) {
    for (size_t i = 0; i + 1 < line.size(); ++i) text += fmt::format("{:<{}}  ", line[i], widths[i]);
    text += line.back() + "\n";
  }
  return text;
}

nlohmann::ordered_json to_json(const Table& table) {
  Json list = Json::array();
  for (const auto& row : table.rows) {
    Json one = Json::object();
    for (size_t i = 0; i < row.size(); ++i) one[table.columns[i]] = row[i];
    list.push_back(std::move(one));
  }
  return list;
}

std::string listing(const flags::Flags& flags, const std::vector<suite::Suite>& suites,
                    const selection::Expansion& expansion, const selection::Known& known,
                    const ParameterCount& mini_parameters) {
  using enum flags::Format;
  const bool of_cases = flags.list == flags::Listing::cases;
  const bool of_gpus = flags.list == flags::Listing::gpus;
  if (flags.format == ctest && !of_cases && !of_gpus)
    throw config::ConfigError("--torchstone_format=ctest is only for --torchstone_list=cases and gpus");
  if (flags.format == markdown && flags.list != flags::Listing::flags)
    throw config::ConfigError("--torchstone_format=markdown is only for --torchstone_list=flags");
  if (flags.format == ctest && of_gpus) return measure::ctest_resources(measure::visible_gpus());
  if (flags.format == ctest) return ctest_script(expansion.cases, flags, known);
  if (flags.format == markdown) return reference_page();
  if (of_cases && flags.format == json) return printable_json(cases_json(expansion.cases).dump(2)) + "\n";
  const Table table = table_of(flags, suites, expansion, known, mini_parameters);
  return flags.format == json ? printable_json(to_json(table).dump(2)) + "\n" : to_text(table);
}

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
    for (const auto& [field, value] : fields_of(c))
      table.rows.push_back({"  " + field, value, value_in(c.origin, field, "default")});
    const auto reason = c.origin.find("expected_reason");
    if (reason != c.origin.end()) table.rows.push_back({"  expected because", reason->second, ""});
    text += (text.empty() ? "" : "\n") + to_text(table);
  }
  if (text.empty())
    throw selection::NothingSelected(fmt::format(
        "--torchstone_explain={}: no case matches (expected a glob such as '*resnet18*'; see --torchstone_list=cases)",
        glob));
  return text;
}

}  // namespace torchstone::listing
