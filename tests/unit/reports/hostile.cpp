#include "tests/unit/reports/hostile.h"

#include "reports/record/result_json.h"
#include "reports/record/results_folder/side_files.h"
#include "tests/unit/reports/diagnosed.h"
#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

Diagnosis diagnosis_in(const std::string& text) {
  Diagnosis found = diagnosed(text);
  const DiagnosedNode node{text, text, text, text, text};
  found.message = found.unseen = found.errors->value = text;
  found.first_wrong->node = node;
  found.first_wrong->kernel = text;
  found.first_wrong->fused = found.faults = {text, text};
  found.files.push_back(text);
  found.part = {node, node};
  found.ranges = {{text, text, {2, 15}, text, text}};
  found.sizes = {{text, 7}};
  *found.guilty = {text, text, text, 1};
  *found.reproducer = {text, 2, 1, text};
  return found;
}

Result hostile_result(const std::string& text, Status status, const std::string& check) {
  Result r = simple_result(text, status, check);
  for (const auto& field : text_fields()) r.*field.member = text;
  r.check = check;
  r.outcome.reason = r.outcome.detail = r.outcome.phase = text;
  r.outcome.metrics = {{text, 1.5}, {"speedup", 1.5}, {"largest_batch", 8}, {"error_of_limit", 0.5}, {"compile_s", 2}};
  r.outcome.notes = {{text, text}, {"stop_reason", text}};
  r.outcome.samples = {{text, {1, 2}}, {"eager_s", {2, 2, 2}}, {"compiled_s", {1, 1, 1}}};
  for (const char* series :
       {"dynamic_batch", "dynamic_eager_ms", "dynamic_ms", "static_ms", "dynamic_speedup", "dynamic_speedup_low",
        "dynamic_speedup_high", "dynamic_cost", "dynamic_cost_low", "dynamic_cost_high"})
    r.outcome.samples[series] = {2, 4};
  r.outcome.diagnosis = diagnosis_in(text);
  r.outcome.dynamo = {.graph_breaks = {{text, {text, text}}}, .phases_s = {{text, 1}}, .frames = {{{text, text}}}};
  return r;
}

}  // namespace

std::vector<std::string> texts_to_escape() {
  using namespace std::string_literals;
  const std::vector<std::string> parts = {
      "=cmd|' /C calc'!A0",
      "\x1b[2J\x1b]0;planted\x07",
      "::error::planted",
      "<script>planted</script>",
      "\"'><img src=x onerror=planted>",
      "`` |` | planted",
      "@planted www.planted.example [planted](http://planted) ![planted](//planted)",
      "%0A::error::planted ##[error]planted",
      "\u202eplanted\u2066",
      "\xff\xfe\xc3",
      "\0\r\nplanted"s,
      "-1+planted",
      "\u009b31mplanted\x7f",
  };
  std::vector<std::string> texts;
  for (const size_t first : {0, 1, 2, 4, 6, 10, 11}) {  // parts with a meaning at the beginning of a text
    std::string text;
    for (size_t i = 0; i < parts.size(); ++i) text += (i % 4 == 3 ? "\n\n" : " ") + parts[(first + i) % parts.size()];
    texts.push_back(text.substr(1));
  }
  return texts;
}

Report report_of(const std::string& text) {
  Report report;
  report.results = {hostile_result(text, Status::fail_accuracy, "accuracy"),
                    hostile_result(text, Status::pass, "performance"),
                    hostile_result(text, Status::undecided, "performance")};
  for (size_t i = 0; i < report.results.size(); ++i) report.results[i].name += "." + std::to_string(i) + text;
  for (auto& r : report.results)
    r.outcome.diagnosis->folder = text + "/" + results_folder::diagnosis_path("", r.name).string();
  report.results[2].backend = "another " + text;
  report.results[2].expected = "undecided";
  Result of_operator = hostile_result(text, Status::pass, "performance");
  of_operator.name += ".operator";
  of_operator.outcome.operator_name = text;
  Result of_fastrnns = hostile_result(text, Status::pass, "performance");
  of_fastrnns.name += ".fastrnns";
  of_fastrnns.suite = "fastrnns";
  of_fastrnns.dynamic = "off";
  of_fastrnns.model = "lstm_" + text;
  of_fastrnns.outcome.samples["eager_forward_s"] = {2, 2};
  Result crash = hostile_result(text, Status::pass, text);
  crash.name += ".crash";
  crash.finished = false;
  for (const Result& r : {of_operator, of_fastrnns, crash}) report.results.push_back(r);
  RunInfo& run = report.run;
  run.id = run.started = run.directory = run.tag = run.exit_reason = text;
  run.argv = {text, text};
  run.machine = run.build = run.environment =
      run.policy = {{text, text}, {"cpu", text}, {"gpu", text}, {"torch", text}};
  return report;
}

}  // namespace torchstone
