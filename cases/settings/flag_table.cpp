#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "cases/settings/case_fields.h"
#include "cases/settings/flag_types.h"
#include "reports/base/files.h"
#include "reports/base/text.h"

namespace torchstone::flags {

namespace {

/// Whether several values may be given, each for a tournament of its own.
bool is_swept(const std::string& key) { return key == "batch_size" || key == "threads"; }

std::vector<config::Yaml> swept_values(const config::Yaml& value) {
  auto values = split(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (values[i].text == values[j].text) fail(value, fmt::format("{} is given twice", values[i].text));
  return values;
}

FlagInfo flag_of(const config::CaseField& field) {
  FlagInfo flag{.name = field.flag, .value = field.value, .help = field.help, .range = field.range};
  flag.fallback = field.fallback;
  flag.boolean = field.boolean;
  flag.path = field.path;
  flag.use = field.use;
  if (is_swept(field.key)) {
    flag.value += "[,…]";
    flag.help += "; with tournament also several values, each combination a tournament of its own";
  }
  flag.set = [key = field.key](Flags& flags, const config::Yaml& given) {
    const auto values = is_swept(key) ? swept_values(given) : std::vector<config::Yaml>{given};
    for (const auto& value : values) check_setting(key, value);
    flags.sweeps.erase(key);
    if (values.size() > 1) flags.sweeps[key] = values;
    const config::Yaml& value = values.front();
    std::erase_if(flags.overrides, [&](const auto& setting) { return setting.first == key; });
    flags.overrides.emplace_back(key, value);
  };
  return flag;
}

FlagInfo batch_size_file_flag() {
  FlagInfo flag{.name = "batch_size_file",
                .value = "FILE",
                .help = "file with batch sizes of single models, a line NAME,SIZE for each"};
  flag.set = [](Flags& f, const config::Yaml& v) { f.batch_sizes = read_batch_sizes(text_of(v)); };
  return std::move(flag).is_path();
}

}  // namespace

BatchSizes read_batch_sizes(const std::string& file) {
  try {
    return parse_batch_sizes(read_at_most(file, mebibyte), file);
  } catch (const ReportError& error) {
    throw config::ConfigError(fmt::format("{} (expected a file with a line NAME,SIZE for each model)", error.what()));
  }
}

BatchSizes parse_batch_sizes(const std::string& text, const std::string& file) {
  std::istringstream stream(text);
  BatchSizes sizes;
  config::Yaml value;
  value.kind = config::Yaml::Kind::scalar;
  value.file = file;
  for (std::string line; std::getline(stream, line);) {
    ++value.line;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const auto comma = line.find(',');
    const std::string name = trimmed(line.substr(0, comma));
    if (comma == std::string::npos || name.empty()) fail(value, fmt::format("'{}' (expected NAME,SIZE)", line));
    value.text = trimmed(line.substr(comma + 1));
    if (!sizes.try_emplace(name, config::Choice<int64_t>{integer_of(value, 1, 1'000'000), value}).second)
      fail(value, fmt::format("{} is listed twice", name));
  }
  return sizes;
}

std::vector<FlagInfo> case_flags() {
  std::vector<FlagInfo> flags;
  for (const auto& field : config::case_fields())
    if (!field.flag.empty()) flags.push_back(flag_of(field));
  flags.push_back(batch_size_file_flag());
  flags.push_back(text_flag("compare_outputs", "FOLDER",
                            "compare the compiled answer of each case of accuracy, number for number, with the one "
                            "that save_outputs wrote there",
                            &RunOptions::compare_outputs)
                      .is_path()
                      .used_by(config::accuracy_cases()));
  return flags;
}

const std::vector<FlagInfo>& flag_table() {
  static const std::vector<FlagInfo> table = [] {
    std::vector<FlagInfo> all;
    const auto add = [&](const char* group, std::vector<FlagInfo> flags) {
      for (auto& flag : flags) {
        flag.group = group;
        all.push_back(std::move(flag));
      }
    };
    add("What runs", selection_flags());
    add("Models of the suites operators and fastrnns", model_suite_flags());
    add("How a case is judged and timed", case_flags());
    add("How cases are run and compiled", process_flags());
    add("What comes out", output_flags());
    return all;
  }();
  return table;
}

const FlagInfo* find_flag(const std::string& name) {
  for (const auto& flag : flag_table())
    if (name == flag.name || (!flag.alias.empty() && name == flag.alias)) return &flag;
  return nullptr;
}

std::string environment_name(const FlagInfo& flag) {
  std::string name = "TORCHSTONE_" + flag.name;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

}  // namespace torchstone::flags
