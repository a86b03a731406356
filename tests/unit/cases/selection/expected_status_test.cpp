#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "cases/main/run_end.h"
#include "models/core/model_registry.h"
#include "reports/base/files.h"
#include "reports/base/time.h"
#include "tests/unit/cases/support.h"

namespace torchstone::expected_status {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto today = "2026-06-15";

std::string read_error(const std::string& text, const std::string& file = "e.yaml") {
  return error_of([&] { parse_expected(text, file, ""); });
}

Case a_case(const std::string& model, const std::string& backend = "inductor", DType dtype = DType::float32) {
  Case c;
  c.suite = "small";
  c.model = model;
  c.backend = parse_backend(backend);
  c.dtype = dtype;
  return c;
}

Outcome outcome_of(Status status, const std::string& reason = "") {
  Outcome outcome;
  outcome.status = status;
  outcome.reason = reason;
  return outcome;
}

TEST(ExpectedFiles, ReadYamlWithSelectorsReasonIssueAndLastDay) {
  const auto file = parse_expected(
      "- {model: first, check: accuracy, mode: inference, dtype: float32, backend: 'inductor:a=b', device: cuda,\n"
      "   preset: full, suite: small, status: fail_accuracy, reason: known, issue: https://x/1, expires: 2027-03-01}\n"
      "- name: small/Accuracy.CompiledMatchesEager/second_inference_float32_inductor_cpu\n"
      "  status: pass\n",
      "e.yaml", "");
  ASSERT_EQ(file.entries.size(), 2U);
  const Expectation& entry = file.entries[0];
  EXPECT_EQ(origin_of(entry.place), "e.yaml:1");
  EXPECT_EQ(entry.selectors.size(), 7U);
  EXPECT_EQ(entry.status, Status::fail_accuracy);
  EXPECT_EQ(entry.issue, "https://x/1");
  EXPECT_FALSE(entry.expired("2027-03-01"));
  EXPECT_TRUE(entry.expired("2027-03-02"));
  EXPECT_GT(file.entries[1].strength(), entry.strength());
  EXPECT_TRUE(file.entries[1].matches(a_case("second")));
  EXPECT_FALSE(file.entries[1].matches(a_case("second", "eager")));
}

TEST(ExpectedFiles, OfASuiteAreNotWarnedAboutForModelsThatTheRunDoesNotSelect) {
  auto file = parse_expected(
      "- {name: small/Accuracy.CompiledMatchesEager/second_training_float32_inductor_cpu, status: crash, reason: a}\n"
      "- {model: second, mode: training, status: crash, reason: b}\n"
      "- {model: secnd, status: crash, reason: typo}\n",
      "e.yaml", "");
  std::vector<Case> cases{a_case("first")};
  const std::vector<std::string> known{"first", "second"};
  EXPECT_THAT(apply_expected({file}, today, cases, known), ElementsAre(HasSubstr("3 entries match no case")));
  file.of_suite = true;
  EXPECT_THAT(apply_expected({file}, today, cases, known),
              ElementsAre(testing::AllOf(HasSubstr("1 entry matches no case"), HasSubstr("line 3 (secnd"))));
}

TEST(ExpectedFiles, TakeTheSectionOfAPageForAnIssue) {
  const auto file = parse_expected(
      "- {model: first, status: crash, reason: x, issue: docs/faults.md#a-crash, expires: 2026-06-14}\n", "e.yaml", "");
  std::vector<Case> cases{a_case("first")};
  EXPECT_THAT(
      apply_expected({file}, today, cases),
      ElementsAre(
          "e.yaml:1: the expectation crash of first expired on 2026-06-14 and is ignored (docs/faults.md#a-crash)"));
}

TEST(ExpectedFiles, ReadUpstreamsCsvAndNothingButItsFirstColumns) {
  const auto file = parse_expected(
      "name,accuracy,graph_breaks\nfirst,pass,0\n\n\n\nsecond,fail_to_run,7\nelsewhere,infra_error,0\n", "e.csv", "");
  ASSERT_EQ(file.entries.size(), 3U);
  EXPECT_EQ(file.entries[1].status, Status::fail_to_run);
  EXPECT_EQ(origin_of(file.entries[1].place), "e.csv:6");
  Case timing = a_case("second");
  EXPECT_TRUE(file.entries[1].matches(timing));
  timing.check = "performance";
  EXPECT_FALSE(file.entries[1].matches(timing));
  // An unknown status is an error only for a model that runs here.
  EXPECT_EQ(deciding({file}, a_case("first"), today)->status, Status::pass);
  EXPECT_THAT(error_of([&] { deciding({file}, a_case("elsewhere"), today); }),
              HasSubstr("e.csv:7: elsewhere: 'infra_error' is not a status"));
}

TEST(ExpectedFiles, RefuseWhatTheyCannotMean) {
  const auto entry = [](const std::string& keys) { return read_error("- {" + keys + "}\n"); };
  EXPECT_THAT(entry("model: a, status: crash, reson: x"), HasSubstr("e.yaml:1: [0].reson: unknown key"));
  EXPECT_THAT(entry("model: a, status: crash, reson: x"), HasSubstr("did you mean reason?"));
  EXPECT_THAT(entry("model: a, status: crsh, reason: x"), HasSubstr("'crsh' is not a status"));
  EXPECT_THAT(entry("model: a, status: crsh, reason: x"), HasSubstr("did you mean crash?"));
  EXPECT_EQ(entry("model: a, status: crash"),
            "e.yaml:1: [0]: a known failure without a reason (expected the key reason)");
  EXPECT_THAT(entry("model: a, reason: x"), HasSubstr("the key status is missing"));
  EXPECT_THAT(entry("status: crash, reason: x"), HasSubstr("expected either the key name or the key model"));
  EXPECT_THAT(entry("model: a, name: a, status: pass"), HasSubstr("expected either the key name or the key model"));
  EXPECT_THAT(entry("model: '', status: pass"), HasSubstr("expected the name of a model"));
  EXPECT_THAT(entry("model: a, status: pass, expires: 2027-02-30"), HasSubstr("is not a date (expected one such as"));
  EXPECT_THAT(entry("model: a, status: pass, expires: soon"), HasSubstr("[0].expires: 'soon' is not a date"));
  for (const char* issue : {"'#12'", "docs/page.md", "docs/page.md#", ".md#section", "a page.md#section"})
    EXPECT_THAT(entry(std::string("model: a, status: pass, issue: ") + issue),
                HasSubstr("is not the address of an issue (expected https://…, or a section of a page: docs/page.md#"))
        << issue;
  EXPECT_EQ(entry("model: a, status: crash, reason: x, max_error: 3"),
            "e.yaml:1: [0].max_error: a bound of the error of crash (expected it with status: fail_accuracy)");
  EXPECT_THAT(entry("model: a, status: fail_accuracy, reason: x, max_error: 0.5"), HasSubstr("[0].max_error: "));
  EXPECT_THAT(entry("model: a, status: pass, dtype: floot32"), HasSubstr("did you mean float32?"));
  EXPECT_EQ(read_error("- {model: a, status: pass}\n- {model: a, status: pass}\n"),
            "e.yaml:2: [1]: a already has an expectation at e.yaml:1");
  EXPECT_THAT(read_error("model: a\n"), HasSubstr("expected a list of"));
  EXPECT_THAT(read_error("name,speedup\n", "e.csv"), HasSubstr("e.csv:1: expected a column accuracy"));
  EXPECT_THAT(read_error("name,accuracy\na,\n", "e.csv"), HasSubstr("e.csv:2: a: no status"));
  EXPECT_THAT(read_error("name,accuracy\n,pass\n", "e.csv"), HasSubstr("e.csv:2: no name"));
  EXPECT_THAT(read_error("name,accuracy\na,pass\na,pass\n", "e.csv"),
              HasSubstr("e.csv:3: a: a already has an expectation"));
  EXPECT_THAT(error_of([] { read_expected("/no/such.yaml", "", false); }), HasSubstr("no such file"));
  EXPECT_TRUE(read_expected("/no/such.yaml", "", true).entries.empty());
}

TEST(ExpectedFiles, DecideByTheFirstFileAndTheEntryThatSaysMore) {
  const auto strong = parse_expected(
      "- {model: first, status: crash, reason: x}\n"
      "- {model: first, backend: inductor, status: timeout, reason: x}\n"
      "- {model: first, backend: inductor, dtype: bfloat16, status: pass, expires: 2020-01-01}\n",
      "strong.yaml", "");
  const auto weak = parse_expected(
      "- {model: first, backend: inductor, dtype: float32, status: OOM, reason: x}\n"
      "- {model: second, status: OOM, reason: x}\n",
      "weak.yaml", "small");
  const auto status = [&](const Case& c) { return *deciding({strong, weak}, c, today)->status; };
  EXPECT_EQ(status(a_case("first", "eager")), Status::crash);
  EXPECT_EQ(status(a_case("first")), Status::timeout);
  EXPECT_EQ(status(a_case("first", "inductor:a=b", DType::bfloat16)), Status::timeout);
  EXPECT_EQ(status(a_case("second")), Status::OOM);
  Case other = a_case("second");
  other.suite = "other";
  EXPECT_EQ(deciding({strong, weak}, other, today), nullptr);
  const auto torn = parse_expected(
      "- {model: first, dtype: float32, status: crash, reason: x}\n- {model: first, backend: inductor, status: pass}\n",
      "torn.yaml", "");
  EXPECT_THAT(
      error_of([&] { deciding({torn}, a_case("first"), today); }),
      HasSubstr("torn.yaml:2: [1]: matches small/Accuracy.CompiledMatchesEager/first_inference_float32_inductor_cpu as "
                "well as torn.yaml:1 does"));
}

TEST(ExpectedFiles, AreAppliedWithOriginsAndWarnAboutWhatIsOld) {
  const auto file = parse_expected(
      "- {model: first, status: crash, reason: known, issue: https://x/1, expires: 2027-01-01}\n"
      "- {model: second, status: crash, reason: old, issue: https://x/2, expires: 2026-06-14}\n"
      "- {model: secnd, status: crash, reason: typo}\n",
      "e.yaml", "");
  std::vector<Case> cases{a_case("first"), a_case("second")};
  cases[1].expected_status = Status::timeout;
  const auto warnings = apply_expected({file}, today, cases);
  EXPECT_EQ(cases[0].expected_status, Status::crash);
  EXPECT_EQ(cases[0].origin.at("expected_status"), "e.yaml:1");
  EXPECT_EQ(cases[0].origin.at("expected_reason"), "known, https://x/1, until 2027-01-01, e.yaml:1");
  EXPECT_EQ(cases[1].expected_status, Status::timeout);
  EXPECT_THAT(
      warnings,
      ElementsAre(
          "e.yaml:2: the expectation crash of second expired on 2026-06-14 and is ignored (https://x/2)",
          "e.yaml: 1 entry matches no case that flags and suites select: line 3 (secnd; did you mean second?)"));
  Result repaired, broken;
  repaired.expected = "crash";
  repaired.outcome.status = Status::pass;
  note_expectation(cases[0], repaired);
  EXPECT_EQ(repaired.outcome.reason, "pass although e.yaml:1 expects crash: remove that expectation");
  EXPECT_EQ(repaired.outcome.notes.at("expected_because"), cases[0].origin.at("expected_reason"));
  broken.outcome = outcome_of(Status::crash, "signal 11");
  note_expectation(cases[1], broken);
  EXPECT_EQ(broken.outcome.reason, "signal 11; " + warnings[0]);
}

TEST(ExpectedFiles, MayNameReleasesOfTorch) {
  const auto file = parse_expected(
      "- {model: first, torch: '>=2.0', status: crash, reason: of this release}\n"
      "- {model: first, torch: '<2.0', status: timeout, reason: of old ones}\n"
      "- {model: second, torch: '<2.0', status: timeout, reason: of old ones}\n"
      "- {model: third, status: OOM, reason: x}\n"
      "- {model: third, torch: '>=2.0,<99.0', status: crash, reason: more specific}\n",
      "e.yaml", "");
  std::vector<Case> cases{a_case("first"), a_case("second"), a_case("third")};
  EXPECT_THAT(apply_expected({file}, today, cases), testing::IsEmpty()) << "entries of other releases are no typos";
  EXPECT_EQ(cases[0].expected_status, Status::crash);
  EXPECT_EQ(cases[1].expected_status, Status::pass);
  EXPECT_EQ(cases[2].expected_status, Status::crash);
  EXPECT_TRUE(file.entries[0].is_of_this_torch());
  EXPECT_FALSE(file.entries[1].is_of_this_torch());
  EXPECT_TRUE(file.entries[3].is_of_this_torch());
  EXPECT_THAT(read_error("- {model: a, torch: 2.13, status: pass}\n"),
              HasSubstr("e.yaml:1: [0].torch: '2.13' is no range of releases (expected one such as \">=2.12,<2.14\")"));
  EXPECT_THAT(read_error("- {model: a, torch: '>=new', status: pass}\n"), HasSubstr("'new' is no version of torch"));
  EXPECT_THAT(read_error("- {model: a, torch: '<3.0', status: pass}\n- {model: a, torch: '<3.0', status: pass}\n"),
              HasSubstr("already has an expectation"));
}

TEST(ABound, MakesALargerErrorUnexpectedAndNamesBothNumbers) {
  const auto file = parse_expected(
      "- {model: first, status: fail_accuracy, reason: known, max_error: 3}\n"
      "- {model: second, status: fail_accuracy, reason: known}\n",
      "e.yaml", "");
  std::vector<Case> cases{a_case("first"), a_case("second")};
  cases[1].max_error = 2;  // set by the suite; the file replaces that expectation
  apply_expected({file}, today, cases);
  EXPECT_EQ(cases[0].max_error, 3);
  EXPECT_EQ(cases[0].origin.at("max_error"), "e.yaml:1");
  EXPECT_EQ(cases[1].max_error, std::nullopt);
  const auto with_error = [&](std::optional<double> error) {
    Result r;
    r.expected = "fail_accuracy";
    r.max_error = cases[0].max_error;
    r.outcome = outcome_of(Status::fail_accuracy, "wrong");
    if (error) r.outcome.metrics["error_of_limit"] = *error;
    note_expectation(cases[0], r);
    return r;
  };
  EXPECT_TRUE(with_error(3).as_expected());
  EXPECT_EQ(with_error(3).outcome.reason, "wrong");
  EXPECT_FALSE(with_error(5.2134).as_expected());
  EXPECT_EQ(with_error(5.2134).outcome.reason,
            "wrong; an error of 5.213× the allowed one, more than the 3× of the known failure (max_error, e.yaml:1)");
  EXPECT_FALSE(with_error(std::numeric_limits<double>::quiet_NaN()).as_expected());
  EXPECT_FALSE(with_error(std::nullopt).as_expected());
  EXPECT_THAT(with_error(std::nullopt).outcome.reason, HasSubstr("an unknown error, more than the 3×"));
}

/// Cases of first and second in float32 and bfloat16, and an update of one file from their outcomes.
struct Update {
  test::Folder folder;
  std::vector<Case> cases;
  std::map<std::string, Outcome> seen;

  Update() {
    for (const char* model : {"first", "second"})
      for (const DType dtype : {DType::float32, DType::bfloat16}) cases.push_back(a_case(model, "inductor", dtype));
  }
  Update& saw(size_t index, Status status, const std::string& reason = "measured") {
    seen[name_of(cases[index])] = outcome_of(status, info_of(status).passing ? "" : reason);
    return *this;
  }
  /// Returns the file's text after the update, or an empty string if nothing changes.
  std::string of(const std::string& text, const std::string& name = "e.yaml") {
    const std::string path = folder.write(name, text);
    const auto changes = update_expected({read_expected(path, "", false)}, today, cases, seen);
    return changes.empty() ? "" : changes.at(0).text;
  }
};

TEST(AnUpdate, ChangesOnlyEntriesOfCasesThatRan) {
  const std::string text =
      "# Known failures of the nightly run.\n"
      "\n"
      "# a comment on the first\n"
      "- {model: first, dtype: float32, status: crash, reason: old, issue: https://x/1}  # aside\n"
      "- model: first\n  dtype: bfloat16\n  status: OOM\n  reason: kept   # with its comment\n"
      "\n"
      "# a comment on the third\n"
      "- {model: second, dtype: float32, status: timeout, reason: gone}\n"
      "- {model: elsewhere, status: crash, reason: kept}\n"
      "# the end\n";
  Update update;
  update.saw(0, Status::fail_accuracy, "a \"new\"\treason\nsecond line").saw(2, Status::pass).saw(3, Status::crash);
  EXPECT_EQ(update.of(text),
            "# Known failures of the nightly run.\n"
            "\n"
            "# a comment on the first\n"
            "- {model: first, dtype: float32, status: fail_accuracy, reason: \"a \\\"new\\\"\\treason\", issue: "
            "\"https://x/1\", expires: 2026-09-13}\n"
            "- model: first\n  dtype: bfloat16\n  status: OOM\n  reason: kept   # with its comment\n"
            "\n"
            "# a comment on the third\n"
            "- {model: elsewhere, status: crash, reason: kept}\n"
            "# the end\n"
            "- name: small/Accuracy.CompiledMatchesEager/second_inference_bfloat16_inductor_cpu\n"
            "  status: crash\n"
            "  reason: \"measured\"\n"
            "  expires: 2026-09-13\n");
}

TEST(AnUpdate, ChangesNothingThatIsTrue) {
  Update update;
  update.saw(0, Status::crash).saw(1, Status::crash).saw(2, Status::pass).saw(3, Status::undecided);
  EXPECT_EQ(update.of("- {model: first, status: crash, reason: x}\n"), "");
  EXPECT_EQ(update.of("name,accuracy\nfirst,crash\nsecond,pass\n", "e.csv"), "");
}

TEST(AnUpdate, GivesACaseItsOwnEntryWhereAWiderOneSpeaksOfOthers) {
  Update update;
  EXPECT_EQ(update.saw(0, Status::pass).of("- {model: first, status: crash, reason: x}\n"),
            "- {model: first, status: crash, reason: x}\n"
            "- name: small/Accuracy.CompiledMatchesEager/first_inference_float32_inductor_cpu\n"
            "  status: pass\n");
  EXPECT_EQ(update.saw(1, Status::pass).of("- {model: first, status: crash, reason: x}\n"), "[]\n");
}

TEST(AnUpdate, WritesAPassWhereSomethingWeakerExpectsAFailure) {
  Update update;
  update.cases[0].expected_status = Status::crash;  // set by its suite
  EXPECT_EQ(update.saw(0, Status::pass).of("[]\n"),
            "- name: small/Accuracy.CompiledMatchesEager/first_inference_float32_inductor_cpu\n  status: pass\n");
}

TEST(AnUpdate, RenewsWhatHasExpiredAndDropsWhatPassesNow) {
  Update update;
  update.saw(0, Status::crash, "new words").saw(1, Status::pass);
  EXPECT_EQ(update.of("- {model: first, dtype: float32, status: crash, reason: kept, expires: 2020-01-01}\n"
                      "- {model: first, dtype: bfloat16, status: crash, reason: x, expires: 2020-01-01}\n"),
            "- {model: first, dtype: float32, status: crash, reason: \"kept\", expires: 2026-09-13}\n");
}

TEST(AnUpdate, KeepsEntriesOfOtherReleasesAndTheReleasesOfAnEntry) {
  Update update;
  update.saw(0, Status::pass);
  EXPECT_EQ(update.of("- {model: first, torch: '>2.0', status: crash, reason: x}\n"),
            "- {model: first, torch: '>2.0', status: crash, reason: x}\n"
            "- name: small/Accuracy.CompiledMatchesEager/first_inference_float32_inductor_cpu\n"
            "  torch: \">2.0\"\n"
            "  status: pass\n");
  update.saw(1, Status::pass);
  EXPECT_EQ(update.of("- {model: first, torch: '<2.0', status: crash, reason: of old ones}\n"
                      "- {model: first, torch: '>2.0', status: crash, reason: x}\n"),
            "- {model: first, torch: '<2.0', status: crash, reason: of old ones}\n");
}

TEST(AnUpdate, KeepsALastDayThatIsToCome) {
  Update update;
  update.saw(0, Status::timeout, "slow");
  EXPECT_EQ(update.of("- {model: first, dtype: float32, status: crash, reason: x, expires: 2026-06-15}\n"),
            "- {model: first, dtype: float32, status: timeout, reason: \"slow\", expires: 2026-06-15}\n");
}

TEST(AnUpdate, RaisesABoundThatTheErrorExceeds) {
  const std::string bounded = "- {model: first, dtype: float32, status: fail_accuracy, reason: x, max_error: 3}\n";
  const auto updated = [&](double error) {
    Update update;
    update.saw(0, Status::fail_accuracy);
    update.seen.begin()->second.metrics["error_of_limit"] = error;
    return update.of(bounded);
  };
  EXPECT_EQ(updated(2.5), "");
  const std::string head = "- {model: first, dtype: float32, status: fail_accuracy, reason: \"x\", ";
  EXPECT_EQ(updated(5.213), head + "max_error: 5.3, expires: 2026-09-13}\n");
  EXPECT_EQ(updated(1e6), head + "max_error: 1000000, expires: 2026-09-13}\n");
  // An infinite or unknown error has no bound, so the update drops max_error.
  EXPECT_EQ(updated(std::numeric_limits<double>::infinity()), head + "expires: 2026-09-13}\n");
  Update unmeasured;
  EXPECT_EQ(unmeasured.saw(0, Status::fail_accuracy).of(bounded), head + "expires: 2026-09-13}\n");
}

TEST(AnUpdate, KeepsTheBoundForACaseWithAnEntryOfItsOwn) {
  Update update;
  update.saw(0, Status::fail_accuracy);
  update.seen.begin()->second.metrics["error_of_limit"] = 4;
  const std::string wide = "- {model: first, status: fail_accuracy, reason: x, max_error: 3}\n";
  EXPECT_EQ(update.of(wide), wide +
                                 "- name: small/Accuracy.CompiledMatchesEager/first_inference_float32_inductor_cpu\n"
                                 "  status: fail_accuracy\n  reason: \"measured\"\n  max_error: 4\n"
                                 "  expires: 2026-09-13\n");
}

TEST(AnUpdate, LeavesOutWhatSaysNothingAboutTheProgram) {
  Update update;
  update.saw(0, Status::unsupported).saw(1, Status::interrupted).saw(2, Status::fail_to_compile);
  update.seen[name_of(update.cases[2])].infrastructure_fault = "no compiler";
  EXPECT_EQ(update.of("- {model: second, dtype: bfloat16, status: crash, reason: x}\n"), "");
}

TEST(AnUpdate, KeepsTheRowsOfACsvApartAndItsOtherColumns) {
  Update update;
  update.cases = {a_case("first"), a_case("second"), a_case("third")};
  update.saw(0, Status::fail_accuracy).saw(1, Status::pass).saw(2, Status::crash);
  EXPECT_EQ(update.of("name,accuracy,graph_breaks\nfirst,pass,5\n\n\n\nother,pass,0\n\n\n\nsecond,OOM,7\n", "e.csv"),
            "name,accuracy,graph_breaks\nfirst,fail_accuracy,5\n\n\n\nother,pass,0\n\n\n\nsecond,pass,7\n\n\n\n"
            "third,crash,\n");
}

TEST(AnUpdate, RefusesWhatACsvCannotSay) {
  Update update;
  update.saw(0, Status::crash).saw(1, Status::pass);
  EXPECT_THAT(
      error_of([&] { update.of("name,accuracy\nfirst,pass\n", "e.csv"); }),
      HasSubstr(
          "cannot distinguish the crash of small/Accuracy.CompiledMatchesEager/first_inference_float32_inductor_cpu "
          "from other cases of first (expected a YAML file)"));
  Update timing;
  timing.cases[0].check = "performance";
  timing.saw(0, Status::fail_speedup);
  EXPECT_THAT(error_of([&] { timing.of("name,accuracy\n", "e.csv"); }), HasSubstr("a CSV holds accuracy only"));
}

TEST(AnUpdate, NeedsAFileAndMakesOne) {
  const test::Folder folder;
  folder.write("s.yaml",
               "suite: small\nexpected_file: known/e.yaml\nmodels: [first]\nmatrix:\n"
               "  - {checks: [accuracy], backends: [eager, inductor]}\n");
  const auto suites = suite::read_suites(folder.path() + "/s.yaml");
  EXPECT_EQ(suites[0].expected_file, folder.path() + "/known/e.yaml");
  auto cases = expand(suites, test::fake_known(), {}).cases;
  flags::Flags flags = test::flags_of({});
  EXPECT_THAT(error_of([&] { expect(suites, test::fake_known(), flags, cases); }, folder.path()),
              HasSubstr("known/e.yaml: no such file"));
  flags.update_expected = true;
  const ExpectedRun run = expect(suites, test::fake_known(), flags, cases);
  Result seen;
  seen.name = name_of(cases[1]);
  seen.outcome = outcome_of(Status::crash, "signal 11");
  EXPECT_THAT(write_expected(run, {seen}), HasSubstr("0 changed, 0 removed, 1 new"));
  const std::string last_day = read_expected(folder.path() + "/known/e.yaml", "", false).entries.at(0).expires;
  EXPECT_GT(last_day, utc_now().substr(0, 10));
  EXPECT_EQ(read_text(folder.path() + "/known/e.yaml"),
            "- name: " + seen.name + "\n  status: crash\n  reason: \"signal 11\"\n  expires: " + last_day + "\n");
  const ExpectedRun again = expect(suites, test::fake_known(), flags, cases);
  EXPECT_EQ(cases[1].expected_status, Status::crash);
  EXPECT_EQ(write_expected(again, {seen}), "expected statuses: nothing to change\n");
  suite::Suite without = suites[0];
  without.expected_file.clear();
  EXPECT_THAT(error_of([&] { expect({without}, test::fake_known(), flags, cases); }),
              HasSubstr("there is no file to update"));
}

std::vector<Expectation> shipped() {
  std::vector<Expectation> entries;
  for (const auto& file : std::filesystem::directory_iterator(TORCHSTONE_SOURCE_DIR "/cases/expected"))
    for (const auto& entry : read_expected(file.path().string(), "", /*may_be_missing=*/false).entries)
      entries.push_back(entry);
  return entries;
}

TEST(ShippedExpectations, AreOfModelsOfTheZooAndSayWhy) {
  std::set<std::string> models;
  for (const auto* info : all_models()) models.insert(info->name);
  for (const auto& entry : shipped()) {
    const bool of_a_case = std::ranges::any_of(
        models, [&](const std::string& model) { return entry.name.find("/" + model + "_") != std::string::npos; });
    EXPECT_TRUE(of_a_case || models.contains(entry.name)) << entry.name;
    EXPECT_NE(entry.status, Status::pass) << entry.name;
  }
  EXPECT_GT(shipped().size(), 0U);
}

// If the reference is a section of a document, docs_test.py checks that it exists.
TEST(ShippedExpectations, HaveAReferenceAndALastDay) {
  for (const auto& entry : shipped()) {
    EXPECT_NE(entry.issue, "") << origin_of(entry.place);
    EXPECT_NE(entry.expires, "") << origin_of(entry.place);
  }
}

// This test does not start to fail as time passes: the limit moves on, so an entry that is allowed stays allowed.
TEST(ShippedExpectations, EndWithinAYear) {
  const std::string now = utc_now();
  const std::string in_a_year = std::to_string(std::stoi(now.substr(0, 4)) + 1) + now.substr(4, 6);
  for (const auto& entry : shipped()) EXPECT_LE(entry.expires, in_a_year) << origin_of(entry.place);
}

// An entry with backend `inductor` matches any options. The fault does not occur with the patch, so these entries give
// full case names.
TEST(ShippedExpectations, OfAFaultThatAPatchMendsSpeakOfTheCompilerAsItIsShippedAlone) {
  size_t entries = 0;
  for (const auto& entry : shipped()) {
    if (entry.issue != "https://github.com/pytorch/pytorch/issues/185509") continue;
    EXPECT_TRUE(entry.name.ends_with("_inductor_cpu")) << origin_of(entry.place);
    ++entries;
  }
  EXPECT_GT(entries, 0U);
}

}  // namespace
}  // namespace torchstone::expected_status
