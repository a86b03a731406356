#include "reports/results_folder/holder.h"

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/base/process.h"
#include "reports/base/text.h"
#include "reports/base/time.h"
#include "reports/results_folder/process_facts.h"

namespace torchstone::results_folder {

NLOHMANN_JSON_SERIALIZE_ENUM(Holder::Kind, {{Holder::Kind::run, "run"},
                                            {Holder::Kind::shard, "shard"},
                                            {Holder::Kind::part, "part"},
                                            {Holder::Kind::group, "group"}})

namespace {

Holder holder_of(pid_t pid, Holder::Kind kind) {
  const ProcessFacts facts = process_facts(pid).value_or(ProcessFacts{});
  Holder holder;
  holder.kind = kind;
  holder.pid = pid;
  holder.start_ticks = facts.start_ticks;
  holder.since = utc_now();
  holder.command = facts.command;
  return holder;
}

int number_in(const char* variable, int fallback) {
  const auto number = parse_number(environment_variable(variable));
  return number ? static_cast<int>(*number) : fallback;
}

}  // namespace

Holder this_process(Holder::Kind kind) {
  Holder holder = holder_of(getpid(), kind);
  holder.shards = number_in("GTEST_TOTAL_SHARDS", 1);
  holder.shard = number_in("GTEST_SHARD_INDEX", 0);
  if (kind == Holder::Kind::run && holder.shards > 1) holder.kind = Holder::Kind::shard;
  return holder;
}

Holder parent_process() { return holder_of(getppid(), Holder::Kind::group); }

bool may_share(const Holder& newcomer, const Holder& holder, bool holder_is_ancestor) {
  using enum Holder::Kind;
  if (holder.kind == group) return holder_is_ancestor && (newcomer.kind == part || newcomer.kind == group);
  if (newcomer.kind != holder.kind) return false;
  if (newcomer.kind == shard) return newcomer.shards == holder.shards && newcomer.shard != holder.shard;
  return newcomer.kind == part;
}

std::string to_string(const Holder& holder) {
  constexpr size_t longest = 400;
  return fmt::format("process {} since {}: {}", holder.pid, holder.since, shortened(holder.command, longest));
}

std::string to_json(const Holder& holder) {
  const nlohmann::ordered_json json{{"kind", nlohmann::json(holder.kind)},
                                    {"pid", holder.pid},
                                    {"since", holder.since},
                                    {"command", holder.command},
                                    {"start_ticks", holder.start_ticks},
                                    {"shard", holder.shard},
                                    {"shards", holder.shards}};
  return json.dump() + "\n";
}

Holder parse_holder(const std::string& text) {
  Holder holder;
  try {
    const auto json = nlohmann::json::parse(text);
    holder.kind = json.at("kind").get<Holder::Kind>();
    holder.pid = json.at("pid").get<pid_t>();
    holder.since = json.at("since").get<std::string>();
    holder.command = printable(json.at("command").get<std::string>());
    holder.start_ticks = json.at("start_ticks").get<uint64_t>();
    holder.shard = json.at("shard").get<int>();
    holder.shards = json.at("shards").get<int>();
  } catch (const nlohmann::json::exception&) {
    return {};
  }
  return holder;
}

}  // namespace torchstone::results_folder
