#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>

#include "reports/record/diagnosis_text.h"
#include "reports/record/report_json.h"
#include "reports/record/result_json.h"
#include "tests/unit/reports/diagnosed.h"
#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

Result diagnosed_result() {
  Result r = simple_result("suite/A.B/c", Status::fail_accuracy);
  r.outcome.diagnosis = diagnosed("softmax");
  return r;
}

TEST(DiagnosisJson, LosesNothingInResultsJson) {
  const Result r = diagnosed_result();
  const json written = *r.outcome.diagnosis;
  EXPECT_EQ(json(*parse_json(write_json({r}, {}), "results.json").results[0].outcome.diagnosis), written);
  EXPECT_EQ(json(*parse_case_json(write_case_json(r), "case.json").outcome.diagnosis), written);
  EXPECT_EQ(written["observed"]["difference"], "Infinity");
  EXPECT_FALSE(parse_json(write_json({simple_result("a", Status::pass)}, {}), "").results[0].outcome.diagnosis);
}

TEST(DiagnosisJson, ReadsWhatADiagnosisWritesItself) {
  const auto found = diagnosis_of(json::parse(R"({"schema": 1, "outcome": "located", "sentence": "why", "nodes": 14,
      "observed": {"seen": 3, "wrong": true, "value": "v2", "operation": "aten::exp", "kernel": "k", "fused": ["v1"],
                   "difference": "inf", "allowed": 1e-6, "element": [1], "expected": "nan", "found": "-inf"},
      "verdict": {"wrong": true, "worst": "v2", "eager_error": 1e-8, "compiled_error": "inf", "allowed": 1e-6},
      "guilty": {"fault": "no interpreter"}, "later": {"member": 1}})"),
                                  "diagnosis");
  ASSERT_TRUE(found.first_wrong);
  EXPECT_EQ(found.first_wrong->difference, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(found.first_wrong->eager_error)) << "older diagnoses do not report it";
  EXPECT_TRUE(std::isnan(found.first_wrong->element.expected));
  EXPECT_EQ(found.errors->compiled, std::numeric_limits<double>::infinity());
  EXPECT_EQ(found.guilty->sentence, "no interpreter");
  EXPECT_TRUE(diagnosis_of(json::object(), "d").sentence.empty());
}

TEST(DiagnosisJson, NamesWhatHasTheWrongForm) {
  const auto read = [](const char* text) { return [=] { diagnosis_of(json::parse(text), "d"); }; };
  EXPECT_THAT(read("[]"), ThrowsMessage<std::invalid_argument>(HasSubstr("d: expected an object")));
  EXPECT_THAT(read(R"({"part": 3})"), ThrowsMessage<std::invalid_argument>(HasSubstr("d.part: expected an array")));
  EXPECT_THAT(read(R"({"part": [{}, {"value": 7}]})"),
              ThrowsMessage<std::invalid_argument>(HasSubstr("d.part[1].value: expected a string, found 7")));
  EXPECT_THAT(read(R"({"nodes": 1.5})"),
              ThrowsMessage<std::invalid_argument>(HasSubstr("d.nodes: expected an integer")));
  EXPECT_THAT(read(R"({"range": [{"kept": [2, "15"]}]})"),
              ThrowsMessage<std::invalid_argument>(HasSubstr("d.range[0].kept[1]: expected an integer")));
  EXPECT_THAT(read(R"({"sizes": {"batch": 7.5}})"),
              ThrowsMessage<std::invalid_argument>(HasSubstr("d.sizes.batch: expected an integer")));
  EXPECT_THAT(read(R"({"observed": {"value": "v", "fused": "v"}})"),
              ThrowsMessage<std::invalid_argument>(HasSubstr("d.observed.fused: expected an array")));
  EXPECT_THAT(read(R"({"guilty": null, "reproducer": {"runs": "ten"}})"),
              ThrowsMessage<std::invalid_argument>(HasSubstr("d.reproducer.runs: expected an integer")));
}

TEST(DiagnosisText, CountsThePartsThatWereTriedInAPhase) {
  EXPECT_EQ(text_of_diagnosis_phase("capture", 0), "diagnosis: capture");
  EXPECT_EQ(text_of_diagnosis_phase("compile", 1), "diagnosis: compile, 1 part tried");
  EXPECT_EQ(text_of_diagnosis_phase("compile", 12), "diagnosis: compile, 12 parts tried");
}

TEST(DiagnosisText, SaysEachThingOnce) {
  const auto lines = lines_of(diagnosed("softmax"), 1);
  std::string text;
  for (const auto& line : lines) text += line.title + ": " + line.text + "\n";
  EXPECT_EQ(
      text,
      "narrowed range: batch from 2 to 64 to 2 to 15: batch < 16\n"
      "sizes: batch 7, length 128\n"
      "first wrong value: aten::softmax → v7 float32[8, 64] (in layer3.0, net.py:12)\n"
      "its kernel: cpp_fused_softmax_0 computes v5, v7\n"
      "its error: it differs from eager's by inf, at most 1e-06 is rounding; eager's own error against float64 is "
      "1e-08; at [0, 3] 1.5 where eager has 1.2\n"
      "smallest part: aten::softmax → v7 float32[8, 64] (in layer3.0, net.py:12)\n"
      ": and 1 more operator\n"
      "message: words of the compiler\n"
      "errors: v7: error against float64 0.25, eager's 1e-08, at most 1e-06 is rounding; at [0, 3] 1.5 where eager "
      "has 1.2\n"
      "guilty pass: online_softmax (setting): right without `online_softmax`; 14 trials\n"
      "reproducer: python reproduce.py: failed in 10 of 10 runs\n"
      "effort: 87 operators, 12 parts were tried, 71.5 s; 10 values of the compiled program were compared with "
      "eager's\n"
      "damaged: tensors.pt is not used: it is empty\n");
  EXPECT_TRUE(lines_of({}).empty());
  // In a diagnosis of a range of operators, the program is not reduced.
  const auto of_range = lines_of({.nodes = 13, .seconds = 9.1, .part = {{"v1", "aten::conv2d", "", ""}}}, 1);
  EXPECT_EQ(of_range.front().title, "operator");
  EXPECT_EQ(of_range.back().text, "13 operators, 9.1 s");
  EXPECT_EQ(effort_text({.nodes = 1, .trials = 1, .seconds = 2, .seen = 1}),
            "1 operator, 1 part was tried, 2.0 s; 1 value of the compiled program was compared with eager's");
  EXPECT_EQ(text_of(DiagnosedReproducer{"", 3, 0, ""}), "did not fail in 3 of 3 runs");
  EXPECT_EQ(text_of(DiagnosedReproducer{"", 1, 1, ""}), "failed in 1 of 1 run");
  EXPECT_EQ(text_of(DiagnosedNode{"v1", "aten::relu", "", "after layer3.0"}), "aten::relu → v1 (after layer3.0)");
  EXPECT_EQ(text_of(DiagnosedNode{"v1", "aten::relu", "", "", "net.py:12"}), "aten::relu → v1 (net.py:12)");
  EXPECT_EQ(text_of(GuiltyPart{"", "", "no part is guilty alone", 22}),
            "not found: no part is guilty alone; 22 trials");
}

TEST(DiagnosisText, SaysWhatIsWrongOfAnIntegerAndWhatHeldOnTheWholeProgram) {
  const auto found = diagnosis_of(
      json::parse(R"({"outcome": "located", "confirmation": "confirmed", "verdict": {"worst": "v1", "fault": "integer",
          "reason": "64 of 64 integers differ", "compiled_error": 1, "allowed": 0, "element": [0], "expected": 3, "found": 3.5},
          "guilty": {"name": "argmin", "kind": "lowering", "sentence": "the part is right without it", "trials": 3,
                     "confirmation": "refuted"}})"),
      "d");
  EXPECT_EQ(found.confirmation, Confirmation::confirmed);
  EXPECT_EQ(text_of(*found.errors), "v1: 64 of 64 integers differ; at [0] 3.5 where eager has 3");
  EXPECT_EQ(text_of(*found.guilty),
            "argmin (lowering): the part is right without it; 3 trials; refuted on the whole program");
  EXPECT_EQ(json(diagnosis_of(json(found), "d")), json(found));
}

Outcome outcome_with(const json& notes) {
  Outcome outcome;
  from_json({{"status", "fail_accuracy"}, {"notes", notes}}, outcome);
  return outcome;
}

TEST(DiagnosisJson, IsInTheNotesThatReadersOfVersion2Know) {
  Outcome written;
  written.diagnosis = diagnosed("softmax");
  written.diagnosis->folder = "diagnosis/a";
  written.why_noisy = "two processes differ by 12 %";
  written.operator_name = "aten.tanh.default";
  const json notes = json(written).at("notes");
  EXPECT_EQ(notes, json({{"diagnosis", written.diagnosis->sentence},
                         {"diagnosis_outcome", "located"},
                         {"diagnosis_folder", "diagnosis/a"},
                         {"noisy", "two processes differ by 12 %"},
                         {"operator", "aten.tanh.default"}}));
  Outcome found;
  from_json(json(written), found);
  EXPECT_TRUE(found.notes.empty()) << "each text has one place";
  EXPECT_EQ(found.diagnosis->folder, "diagnosis/a");
  EXPECT_EQ(found.why_noisy, written.why_noisy);
  EXPECT_EQ(found.operator_name, written.operator_name);
  EXPECT_EQ(json(found), json(written));
}

TEST(DiagnosisJson, IsReadFromTheNotesOfRecordsOfOlderVersions) {
  EXPECT_FALSE(outcome_with(json::object()).diagnosis);
  const Outcome refused = outcome_with({{"diagnosis", "not diagnosed: 10 cases were"}});
  EXPECT_FALSE(refused.diagnosis);
  EXPECT_EQ(refused.undiagnosed, "not diagnosed: 10 cases were");
  EXPECT_EQ(json(refused).at("notes").at("diagnosis"), "not diagnosed: 10 cases were");
  const Outcome old = outcome_with({{"diagnosis", "v7 is wrong"}, {"diagnosis_outcome", "located"}});
  ASSERT_TRUE(old.diagnosis);
  EXPECT_EQ(old.diagnosis->sentence, "v7 is wrong");
  EXPECT_EQ(old.diagnosis->outcome, DiagnosisOutcome::located);
  EXPECT_EQ(old.undiagnosed, "");
}

TEST(DiagnosisJson, TakesUnknownWordsOfLaterVersionsForUnknown) {
  const auto found = diagnosis_of(json::parse(R"({"outcome": "later", "verdict": {"fault": "later"}})"), "d");
  EXPECT_EQ(found.outcome, DiagnosisOutcome::unknown);
  EXPECT_FALSE(found.errors->fault);
}

}  // namespace
}  // namespace torchstone
