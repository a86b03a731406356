#pragma once
#include <functional>
#include <string>

#include "cases/config/use.h"
#include "cases/config/yaml.h"

namespace torchstone::flags {

struct Flags;

/// One flag: its parsing, its environment twin, its lines in --help, in --torchstone_list=flags and in docs/flags.md.
struct FlagInfo {
  std::string name;   ///< without --torchstone_
  std::string value;  ///< what stands after `=`
  std::string help;
  std::string range{};     ///< "1 to 1000000"; empty where `value` says it
  std::string fallback{};  ///< the default, for people; empty: none
  std::string alias{};     ///< a second name
  std::string group{};     ///< heading in docs/flags.md
  bool path = false;       ///< made absolute, so that a reproduction works from anywhere
  bool repeats = false;
  bool boolean = false;    ///< may stand without a value
  bool reproduces = true;  ///< belongs to a reproduction of one case
  config::Use use{};       ///< the cases that it makes a difference to; for no such case it is refused
  std::function<void(Flags& flags, const config::Yaml& value)> set{};  ///< throws ConfigError

  FlagInfo also(const std::string& second_name) &&;
  FlagInfo otherwise(const std::string& what) &&;  ///< replaces `fallback`
  FlagInfo is_path() &&;
  FlagInfo repeatable() &&;
  FlagInfo of_output() &&;  ///< no case depends on it: left out of reproductions
  FlagInfo used_by(config::Use cases) &&;
};

/// TORCHSTONE_CACHE_LIMIT for cache_limit.
std::string environment_name(const FlagInfo& flag);

}  // namespace torchstone::flags
