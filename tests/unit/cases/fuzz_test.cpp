// Seeded mutations of valid YAML and flags. Each must give a result or a ConfigError with a message.
// TORCHSTONE_FUZZ_INPUTS sets the number of mutations. The seed is fixed, so that failures repeat.
#include <fstream>
#include <iterator>
#include <random>
#include <stdlib.h>

#include <gtest/gtest.h>

#include "cases/selection/expected_status.h"
#include "cases/selection/listing.h"
#include "tests/unit/cases/support.h"

namespace torchstone {
namespace {

int inputs() {
  const char* text = getenv("TORCHSTONE_FUZZ_INPUTS");
  return text ? std::max(1, atoi(text)) : 300;
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string mutated(std::string text) {
    for (size_t n = 1 + below(4); n > 0; --n) mutate(text);
    return text;
  }

 private:
  size_t below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random_); }

  void mutate(std::string& text) {
    static const std::vector<std::string> pieces{"[",
                                                 "]",
                                                 "{",
                                                 "}",
                                                 ":",
                                                 ": ",
                                                 "- ",
                                                 "\n",
                                                 "  ",
                                                 "&a ",
                                                 "*a",
                                                 "~",
                                                 "!!int ",
                                                 "? ",
                                                 "|\n",
                                                 ">-\n",
                                                 "'",
                                                 "\"",
                                                 "#",
                                                 "%",
                                                 "---\n",
                                                 "<<: ",
                                                 "\t",
                                                 "\xff",
                                                 "\xc3",
                                                 std::string(1, '\0'),
                                                 "1e999",
                                                 "-1",
                                                 "99999999999999999999",
                                                 "nan",
                                                 "true",
                                                 ",",
                                                 "=",
                                                 "\\",
                                                 "[[[[[[[[[[[[[[[[",
                                                 "accuracy",
                                                 "models"};
    const size_t at = below(text.size() + 1);
    switch (below(5)) {
      case 0:
        text.insert(at, pieces[below(pieces.size())]);
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      case 3:
        text.insert(below(text.size() + 1), text.substr(at, 1 + below(40)));
        break;
      default:
        text.replace(at, std::min(text.size() - at, below(6)), pieces[below(pieces.size())]);
        break;
    }
  }

  std::mt19937 random_;
};

// Returns true for success, and false for a ConfigError with a message. Any other exception fails the test.
template <typename Action>
bool survives(const Action& action) {
  try {
    action();
    return true;
  } catch (const config::ConfigError& error) {
    EXPECT_STRNE(error.what(), "");
    return false;
  }
}

TEST(Fuzz, SuitesEndInCasesOrAnError) {
  const test::Folder folder;
  folder.write("p.yaml", "skip: {all: [third.v2]}\n");
  const std::string valid =
      "suite: small\npolicy: p.yaml\ndefaults: {preset: mini, seed: 5}\nmatrix:\n"
      "  - {checks: [accuracy], modes: [inference], dtypes: [float32, bfloat16], backends: [torchscript, {inductor: "
      "{freezing: true}}]}\n"
      "  - {checks: [performance], backends: &b [inductor], required_speedup: 1.1, time_limit: 50}\n"
      "  - {checks: [tolerance], backends: *b, models: [first]}\n"
      "models:\n  - first\n  - second: {batch_size: 3, expected: crash, reason: x}\n  - third.v2\n";
  Mutator mutator(1);
  int good = 0;
  for (int i = 0; i < inputs(); ++i) {
    const std::string file = folder.write("s.yaml", i == 0 ? valid : mutator.mutated(valid));
    good += survives([&] {
      const auto suites = suite::read_suites(file);
      for (const auto& c : expand(suites, test::fake_known(), flags::Flags{}).cases) ASSERT_FALSE(name_of(c).empty());
    });
  }
  EXPECT_GE(good, 1);
}

TEST(Fuzz, PoliciesEndInListsOrAnError) {
  std::ifstream stream(std::string(TORCHSTONE_SOURCE_DIR) + "/cases/policies/torchbench.yaml");
  const std::string valid((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const test::Folder folder;
  Mutator mutator(2);
  int good = 0;
  for (int i = 0; i < inputs() / 3 + 1; ++i) {
    const std::string file = folder.write("p.yaml", i == 0 ? valid : mutator.mutated(valid));
    good += survives([&] {
      Case c;
      c.model = "yolov3";
      apply_policy(policy::read_policy(file, "torchbench"), test::fake("yolov3", 16, 8), c);
    });
  }
  EXPECT_GE(good, 1);
}

TEST(Fuzz, ExpectedStatusesEndInEntriesOrAnErrorAndTheirUpdateReadsBack) {
  const std::vector<std::pair<std::string, std::string>> valid{
      {"e.yaml",
       "# head\n- {model: first, backend: inductor, status: crash, reason: x, issue: https://x/1, expires: "
       "2027-03-01}\n"
       "\n- model: second\n  dtype: float32\n  status: fail_accuracy\n  reason: |\n    # two\n    lines\n# end\n"},
      {"e.csv", "name,accuracy,graph_breaks\nfirst,pass,0\n\n\n\n\"second\",fail_to_run,2\n"}};
  std::vector<Case> cases(2);
  std::map<std::string, Outcome> seen;
  for (size_t i = 0; i < 2; ++i) {
    cases[i].model = i == 0 ? "first" : "second";
    cases[i].backend.name = "inductor";
    seen[name_of(cases[i])].status = i == 0 ? Status::pass : Status::timeout;
  }
  const test::Folder folder;
  Mutator mutator(4);
  int good = 0, updated = 0;
  for (int i = 0; i < inputs(); ++i) {
    const auto& [name, text] = valid[static_cast<size_t>(i) % valid.size()];
    const std::string file = folder.write(name, i < 2 ? text : mutator.mutated(text));
    std::vector<expected_status::ExpectedFile> files;
    good += survives([&] { files = {expected_status::read_expected(file, "", false)}; });
    if (files.empty()) continue;
    updated += survives([&] {
      for (const auto& change : update_expected(files, "2026-01-01", cases, seen)) folder.write(name, change.text);
      auto after = cases;
      expected_status::apply_expected({expected_status::read_expected(file, "", false)}, "2026-01-01", after);
      EXPECT_EQ(after[0].expected_status, Status::pass) << test::fs::path(file) << "\n" << text;
      EXPECT_EQ(after[1].expected_status, Status::timeout);
    });
  }
  EXPECT_GE(good, 2);
  EXPECT_GE(updated, 2);
}

TEST(Fuzz, FlagsEndInSettingsOrAnError) {
  const std::vector<std::string> valid{"--torchstone_backends=inductor:a=1,b=2,eager",
                                       "--torchstone_checks=accuracy,performance",
                                       "--torchstone_seed=12",
                                       "--torchstone_confidence=0.9",
                                       "--torchstone_devices=cuda:1",
                                       "--torchstone_strict_undecided",
                                       "--torchstone_plugin=[a,b].so",
                                       "--torchstone_only=a.pt",
                                       "--gtest_filter=*"};
  Mutator mutator(3);
  int good = 0;
  for (int i = 0; i < inputs(); ++i) {
    std::vector<std::string> arguments{"prog"};
    for (const auto& flag : valid)
      arguments.push_back(i > 0 && i % static_cast<int>(valid.size()) == &flag - valid.data() ? mutator.mutated(flag)
                                                                                              : flag);
    good += survives([&] { flags::parse_flags(arguments); });
  }
  EXPECT_GE(good, 1);
}

}  // namespace
}  // namespace torchstone
