// Dynamo's facts about a Python subject in results.json.

#include "reports/base/text.h"
#include "reports/record/result_json.h"

namespace torchstone {
namespace {

GraphBreak graph_break_of(const nlohmann::json& json, const std::string& path) {
  const Members found(json, path);
  return {found.required_text("reason"), texts_of(found["user_stack"], found.at("user_stack")), found.integer("count")};
}

std::map<std::string, std::string> frame_of(const nlohmann::json& json, const std::string& path) {
  const Members found(json, path);
  std::map<std::string, std::string> fields;
  for (const auto& [name, value] : json.items()) fields[name] = text_of(value, found.at(name));
  return fields;
}

}  // namespace

void to_json(nlohmann::json& json, const DynamoFacts& facts) {
  json = {{"graph_breaks", nlohmann::json::array()},
          {"phases_s", nlohmann::json::object()},
          {"frames", nlohmann::json::array()}};
  for (const auto& [reason, user_stack, count] : facts.graph_breaks)
    json["graph_breaks"].push_back(
        {{"reason", valid_utf8(reason)}, {"user_stack", texts_to_json(user_stack)}, {"count", count}});
  for (const auto& [phase, seconds] : facts.phases_s) json["phases_s"][valid_utf8(phase)] = number_to_json(seconds);
  for (const auto& frame : facts.frames) json["frames"].push_back(text_map_to_json(frame));
}

DynamoFacts dynamo_facts_of(const nlohmann::json& json, const std::string& path) {
  const Members found(json, path);
  return {found.items("graph_breaks", graph_break_of), found.map("phases_s", number_of),
          found.items("frames", frame_of)};
}

}  // namespace torchstone
