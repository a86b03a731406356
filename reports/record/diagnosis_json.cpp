#include <limits>

#include "reports/base/text.h"
#include "reports/record/diagnosis_text.h"
#include "reports/record/result_json.h"

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

json observed_of(const Diagnosis& diagnosis) {
  json observed = {{"seen", diagnosis.seen}};
  if (!diagnosis.unseen.empty()) observed["fault"] = valid_utf8(diagnosis.unseen);
  if (!diagnosis.first_wrong) return observed;
  const FirstWrongValue& first = *diagnosis.first_wrong;
  add_node(observed, first.node);
  observed["kernel"] = valid_utf8(first.kernel);
  observed["fused"] = texts_to_json(first.fused);
  observed["difference"] = number_to_json(first.difference);
  observed["allowed"] = number_to_json(first.allowed);
  observed["eager_error"] = number_to_json(first.eager_error);
  add_element(observed, first.element);
  return observed;
}

/// Returns a number, which diagnosis.json may spell "inf", "-inf" or "nan".
double number_in(const Members& members, const char* key, double otherwise = 0) {
  const json& value = members[key];
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf" || value == "-inf") return std::numeric_limits<double>::infinity() * (value == "inf" ? 1 : -1);
  return value.is_null() ? otherwise : members.number(key);
}

std::vector<std::string> texts_in(const Members& members, const char* key) {
  return members.items(key, [](const json& value, const std::string& path) { return text_of(value, path); });
}

DiagnosedNode node_of(const json& value, const std::string& path) {
  const Members node(value, path);
  return {node.text("value"), node.text("operation"), node.text("shape"), node.text("module"), node.text("source")};
}

DiagnosedElement element_of(const Members& members) {
  return {members.items("element", integer_of), number_in(members, "expected"), number_in(members, "found")};
}

NarrowedRange narrowed_range_of(const json& value, const std::string& path) {
  const Members range(value, path);
  return {range.text("dimension"), range.text("text"), range.items("kept", integer_of), range.text("value"),
          range.text("kept_by")};
}

void read_observed(const json& value, const std::string& path, Diagnosis& diagnosis) {
  const Members observed(value, path);
  diagnosis.seen = observed.integer("seen");
  diagnosis.unseen = observed.text("fault");
  if (observed.text("value").empty()) return;
  diagnosis.first_wrong = FirstWrongValue{node_of(value, path),
                                          observed.text("kernel"),
                                          texts_in(observed, "fused"),
                                          number_in(observed, "difference"),
                                          number_in(observed, "allowed"),
                                          number_in(observed, "eager_error", std::numeric_limits<double>::quiet_NaN()),
                                          element_of(observed)};
}

}  // namespace

void to_json(json& json, const GuiltyPart& guilty) {
  json = {{"sentence", valid_utf8(guilty.sentence)}, {"trials", guilty.trials}};
  if (!guilty.name.empty()) json["name"] = valid_utf8(guilty.name);
  if (!guilty.kind.empty()) json["kind"] = valid_utf8(guilty.kind);
  if (guilty.confirmation != Confirmation::untried) json["confirmation"] = to_string(guilty.confirmation);
}

void to_json(json& json, const DiagnosedReproducer& reproducer) {
  json = {{"runs", reproducer.runs}, {"failed", reproducer.failed}};
  if (!reproducer.command.empty()) json["command"] = valid_utf8(reproducer.command);
  if (!reproducer.fault.empty()) json["fault"] = valid_utf8(reproducer.fault);
}

void to_json(json& json, const Diagnosis& diagnosis) {
  json = {{"outcome", to_string(diagnosis.outcome)},
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
    if (errors->fault) verdict["fault"] = to_string(*errors->fault);
    if (!errors->reason.empty()) verdict["reason"] = valid_utf8(errors->reason);
    add_element(verdict, errors->element);
  }
  if (diagnosis.guilty) json["guilty"] = *diagnosis.guilty;
  if (diagnosis.reproducer) json["reproducer"] = *diagnosis.reproducer;
  if (!diagnosis.files.empty()) json["files"] = texts_to_json(diagnosis.files);
  if (!diagnosis.faults.empty()) json["faults"] = texts_to_json(diagnosis.faults);
}

Diagnosis diagnosis_of(const json& json, const std::string& path) {
  const Members found(json, path);
  Diagnosis diagnosis{diagnosis_outcome_of(found.text("outcome")),
                      found.text("sentence"),
                      found.text("message"),
                      found.integer("nodes"),
                      found.integer("trials"),
                      number_in(found, "seconds")};
  if (!found.absent("observed")) read_observed(found["observed"], found.at("observed"), diagnosis);
  diagnosis.part = found.items("part", node_of);
  diagnosis.confirmation = confirmation_of(found.text("confirmation"));
  diagnosis.ranges = found.items("range", narrowed_range_of);
  diagnosis.sizes = found.map("sizes", integer_of);
  if (!found.absent("verdict")) {
    const Members verdict = found.object("verdict");
    diagnosis.errors = {verdict.text("worst"),
                        number_in(verdict, "eager_error"),
                        number_in(verdict, "compiled_error"),
                        number_in(verdict, "allowed"),
                        element_of(verdict),
                        result_fault_of(verdict.text("fault")),
                        verdict.text("reason")};
  }
  if (!found.absent("guilty")) {
    const Members guilty = found.object("guilty");
    diagnosis.guilty = {guilty.text("name"), guilty.text("kind"), guilty.text("sentence"), guilty.integer("trials"),
                        confirmation_of(guilty.text("confirmation"))};
    if (const std::string fault = guilty.text("fault"); !fault.empty()) diagnosis.guilty->sentence = fault;
  }
  if (!found.absent("reproducer")) {
    const Members again = found.object("reproducer");
    diagnosis.reproducer = {again.text("command"), again.integer("runs"), again.integer("failed"), again.text("fault")};
  }
  diagnosis.files = texts_in(found, "files");
  diagnosis.faults = texts_in(found, "faults");
  return diagnosis;
}

}  // namespace torchstone
