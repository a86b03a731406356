#include "reports/record/diagnosis_json.h"

#include "reports/base/text.h"
#include "reports/record/diagnosis_text.h"
#include "reports/record/fields.h"

namespace torchstone {
namespace {

using nlohmann::json;

void add_node(json& to, const DiagnosedNode& node) {
  to["value"] = valid_utf8(node.value);
  to["operation"] = valid_utf8(node.operation);
  for (const auto& [key, text] : {std::pair("shape", &node.shape), {"module", &node.module}, {"source", &node.source}})
    if (!text->empty()) to[key] = valid_utf8(*text);
}

void add_element(json& to, const DiagnosedElement& element) {
  if (element.index.empty()) return;
  to["element"] = element.index;
  to["expected"] = number_to_json(element.expected);
  to["found"] = number_to_json(element.found);
}

json range_of(const NarrowedRange& range) {
  json written = {{"dimension", valid_utf8(range.dimension)}, {"text", valid_utf8(range.text)}, {"kept", range.kept}};
  if (!range.value.empty()) written["value"] = valid_utf8(range.value);
  if (!range.kept_by.empty()) written["kept_by"] = valid_utf8(range.kept_by);
  return written;
}

json texts_of(const std::vector<std::string>& texts) {
  json list = json::array();
  for (const auto& text : texts) list.push_back(valid_utf8(text));
  return list;
}

json observed_of(const Diagnosis& diagnosis) {
  json observed = {{"seen", diagnosis.seen}};
  if (!diagnosis.unseen.empty()) observed["fault"] = valid_utf8(diagnosis.unseen);
  if (!diagnosis.first_wrong) return observed;
  const FirstWrongValue& first = *diagnosis.first_wrong;
  add_node(observed, first.node);
  observed["kernel"] = valid_utf8(first.kernel);
  observed["fused"] = texts_of(first.fused);
  observed["difference"] = number_to_json(first.difference);
  observed["allowed"] = number_to_json(first.allowed);
  observed["eager_error"] = number_to_json(first.eager_error);
  add_element(observed, first.element);
  return observed;
}

}  // namespace

void to_json(json& json, const Diagnosis& diagnosis) {
  json = {{"outcome", valid_utf8(diagnosis.outcome)},
          {"sentence", valid_utf8(diagnosis.sentence)},
          {"nodes", diagnosis.nodes},
          {"trials", diagnosis.trials},
          {"seconds", number_to_json(diagnosis.seconds)}};
  if (!diagnosis.message.empty()) json["message"] = valid_utf8(diagnosis.message);
  if (diagnosis.first_wrong || diagnosis.seen > 0 || !diagnosis.unseen.empty())
    json["observed"] = observed_of(diagnosis);
  for (const auto& node : diagnosis.part) add_node(json["part"].emplace_back(), node);
  if (diagnosis.confirmation != Confirmation::untried) json["confirmation"] = to_string(diagnosis.confirmation);
  for (const auto& range : diagnosis.ranges) json["range"].push_back(range_of(range));
  for (const auto& [dimension, size] : diagnosis.sizes) json["sizes"][valid_utf8(dimension)] = size;
  if (const auto& errors = diagnosis.errors) {
    auto& verdict = json["verdict"] = {{"worst", valid_utf8(errors->value)},
                                       {"eager_error", number_to_json(errors->eager)},
                                       {"compiled_error", number_to_json(errors->compiled)},
                                       {"allowed", number_to_json(errors->allowed)}};
    if (!errors->fault.empty()) verdict["fault"] = valid_utf8(errors->fault);
    if (!errors->reason.empty()) verdict["reason"] = valid_utf8(errors->reason);
    add_element(verdict, errors->element);
  }
  if (const auto& guilty = diagnosis.guilty) {
    json["guilty"] = {{"sentence", valid_utf8(guilty->sentence)}, {"trials", guilty->trials}};
    if (!guilty->name.empty()) json["guilty"]["name"] = valid_utf8(guilty->name);
    if (!guilty->kind.empty()) json["guilty"]["kind"] = valid_utf8(guilty->kind);
    if (guilty->confirmation != Confirmation::untried) json["guilty"]["confirmation"] = to_string(guilty->confirmation);
  }
  if (const auto& again = diagnosis.reproducer) {
    json["reproducer"] = {{"runs", again->runs}, {"failed", again->failed}};
    if (!again->command.empty()) json["reproducer"]["command"] = valid_utf8(again->command);
    if (!again->fault.empty()) json["reproducer"]["fault"] = valid_utf8(again->fault);
  }
  if (!diagnosis.files.empty()) json["files"] = texts_of(diagnosis.files);
  if (!diagnosis.faults.empty()) json["faults"] = texts_of(diagnosis.faults);
}

}  // namespace torchstone
