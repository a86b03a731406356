#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "reports/record/diagnosis_json.h"
#include "reports/record/diagnosis_text.h"
#include "reports/record/fields.h"

namespace torchstone {
namespace {

using nlohmann::json;

/// The members of one object, each empty where it is absent.
class Members {
 public:
  Members(const json& object, std::string path) : object_(object_of(object, path)), path_(std::move(path)) {}

  const json& operator[](const char* key) const { return member_of(object_, key, path_); }
  std::string at(const char* key) const { return path_ + "." + key; }

  std::string text(const char* key) const { return absent(key) ? "" : text_of((*this)[key], at(key)); }
  int64_t integer(const char* key) const { return absent(key) ? 0 : integer_of((*this)[key], at(key)); }
  double number(const char* key, double otherwise = 0) const {
    const json& value = (*this)[key];
    if (value == "inf" || value == "-inf" || value == "nan")  // of diagnosis.json
      return value == "nan" ? std::numeric_limits<double>::quiet_NaN()
                            : std::numeric_limits<double>::infinity() * (value == "inf" ? 1 : -1);
    return value.is_null() ? otherwise : number_of(value, at(key));
  }
  bool absent(const char* key) const { return (*this)[key].is_null(); }

  /// What `read` makes of each item of an array, with its path.
  template <typename Read>
  auto items(const char* key, Read read) const {
    std::vector<decltype(read(json(), std::string()))> found;
    if (absent(key)) return found;
    if (!(*this)[key].is_array()) throw std::invalid_argument(at(key) + ": expected an array");
    for (const auto& item : (*this)[key]) found.push_back(read(item, fmt::format("{}[{}]", at(key), found.size())));
    return found;
  }
  std::vector<std::string> texts(const char* key) const {
    return items(key, [](const json& value, const std::string& path) { return text_of(value, path); });
  }

 private:
  const json& object_;
  std::string path_;
};

DiagnosedNode node_of(const json& value, const std::string& path) {
  const Members node(value, path);
  return {node.text("value"), node.text("operation"), node.text("shape"), node.text("module"), node.text("source")};
}

DiagnosedElement element_of(const Members& members) {
  return {members.items("element", integer_of), members.number("expected"), members.number("found")};
}

NarrowedRange narrowed_range_of(const json& value, const std::string& path) {
  const Members range(value, path);
  return {range.text("dimension"), range.text("text"), range.items("kept", integer_of), range.text("value"),
          range.text("kept_by")};
}

std::map<std::string, int64_t> sizes_of(const Members& found) {
  std::map<std::string, int64_t> sizes;
  if (found.absent("sizes")) return sizes;
  for (const auto& [dimension, size] : object_of(found["sizes"], found.at("sizes")).items())
    sizes[dimension] = integer_of(size, found.at("sizes") + "." + dimension);
  return sizes;
}

void read_observed(const Members& observed, const json& value, const std::string& path, Diagnosis& diagnosis) {
  diagnosis.seen = observed.integer("seen");
  diagnosis.unseen = observed.text("fault");
  if (observed.text("value").empty()) return;
  diagnosis.first_wrong = FirstWrongValue{
      node_of(value, path),       observed.text("kernel"),
      observed.texts("fused"),    observed.number("difference"),
      observed.number("allowed"), observed.number("eager_error", std::numeric_limits<double>::quiet_NaN()),
      element_of(observed)};
}

}  // namespace

Diagnosis diagnosis_of(const json& json, const std::string& path) {
  const Members found(json, path);
  Diagnosis diagnosis{found.text("outcome"),  found.text("sentence"),  found.text("message"),
                      found.integer("nodes"), found.integer("trials"), found.number("seconds")};
  if (!found.absent("observed"))
    read_observed({found["observed"], found.at("observed")}, found["observed"], found.at("observed"), diagnosis);
  diagnosis.part = found.items("part", node_of);
  diagnosis.confirmation = confirmation_of(found.text("confirmation"));
  diagnosis.ranges = found.items("range", narrowed_range_of);
  diagnosis.sizes = sizes_of(found);
  if (!found.absent("verdict")) {
    const Members verdict(found["verdict"], found.at("verdict"));
    diagnosis.errors = {verdict.text("worst"),     verdict.number("eager_error"), verdict.number("compiled_error"),
                        verdict.number("allowed"), element_of(verdict),           verdict.text("fault"),
                        verdict.text("reason")};
  }
  if (!found.absent("guilty")) {
    const Members guilty(found["guilty"], found.at("guilty"));
    diagnosis.guilty = {guilty.text("name"), guilty.text("kind"), guilty.text("sentence"), guilty.integer("trials"),
                        confirmation_of(guilty.text("confirmation"))};
    if (const std::string fault = guilty.text("fault"); !fault.empty()) diagnosis.guilty->sentence = fault;
  }
  if (!found.absent("reproducer")) {
    const Members again(found["reproducer"], found.at("reproducer"));
    diagnosis.reproducer = {again.text("command"), again.integer("runs"), again.integer("failed"), again.text("fault")};
  }
  diagnosis.files = found.texts("files");
  diagnosis.faults = found.texts("faults");
  return diagnosis;
}

}  // namespace torchstone
