#include "cases/config/case_field.h"
#include "cases/config/settings.h"
#include "cases/flags/flag_types.h"

namespace torchstone::flags {
namespace {

/// A tournament is held with each of several values.
bool is_swept(const std::string& key) { return key == "batch_size" || key == "threads"; }

std::vector<config::Yaml> swept_values(const config::Yaml& value) {
  auto values = split(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (values[i].text == values[j].text) fail(value, fmt::format("{} stands there twice", values[i].text));
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
    flag.help += "; of tournament also several, each combination a tournament of its own";
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
  FlagInfo flag{
      .name = "batch_size_file", .value = "FILE", .help = "a line NAME,SIZE for each model that gets its own"};
  flag.set = [](Flags& f, const config::Yaml& v) { f.batch_sizes = read_batch_sizes(text_of(v)); };
  return std::move(flag).is_path();
}

}  // namespace

std::vector<FlagInfo> case_flags() {
  std::vector<FlagInfo> flags;
  for (const auto& field : config::case_fields())
    if (!field.flag.empty()) flags.push_back(flag_of(field));
  flags.push_back(batch_size_file_flag());
  flags.push_back(text_flag(
                      "compare_outputs", "FOLDER",
                      "compare the compiled answer of each case of accuracy, number for number, with what save_outputs "
                      "left there",
                      [](Flags & f) -> auto& { return f.run.compare_outputs; })
                      .is_path()
                      .used_by(config::accuracy_cases()));
  return flags;
}

}  // namespace torchstone::flags
