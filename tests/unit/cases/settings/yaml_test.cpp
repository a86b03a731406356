#include "cases/settings/yaml.h"

#include <gtest/gtest.h>

#include "tests/unit/cases/support.h"

namespace torchstone::config {
namespace {

using test::error_of;
using testing::HasSubstr;

std::string parse_error(const std::string& text) {
  return error_of([&] { parse_yaml(text, "f.yaml"); });
}

TEST(Yaml, KeepsValuesWithTheirLinesAndPaths) {
  const Yaml root = parse_yaml("a: 1\nb:\n  - x\n  - {c: ~}\n", "f.yaml");
  EXPECT_EQ(text_of(*root.find("a")), "1");
  const Yaml& list = *root.find("b");
  EXPECT_EQ(list.line, 2);
  EXPECT_EQ(list.items.at(0).line, 3);
  EXPECT_EQ(list.items.at(1).find("c")->path, "b[1].c");
  EXPECT_EQ(list.items.at(1).find("c")->kind, Yaml::Kind::null);
  EXPECT_EQ(origin_of(*list.items.at(1).find("c")), "f.yaml:4");
  EXPECT_EQ(root.find("z"), nullptr);
}

TEST(Yaml, FollowsAliasesAndFlattensListsAsUpstreamsFilesNeed) {
  const Yaml root = parse_yaml("empty: &e\nbase: &b [x, y]\nall:\n  - *e\n  - *b\n  - z\n", "f.yaml");
  std::vector<std::string> texts;
  for (const auto& item : list_of(*root.find("all"))) texts.push_back(item.text);
  EXPECT_THAT(texts, testing::ElementsAre("x", "y", "z"));
  EXPECT_EQ(list_of(*root.find("empty")).size(), 0U);
}

TEST(Yaml, RefusesWhatIsNoSingleMapOfText) {
  EXPECT_EQ(parse_error(""), "f.yaml: the file is empty");
  EXPECT_EQ(parse_error("# only a comment\n"), "f.yaml: the file is empty");
  EXPECT_EQ(parse_error("a: 1\n---\nb: 2\n"),
            "f.yaml: something follows the first document (expected one; is there a stray , or ] or }?)");
  // YAML::LoadAll of yaml-cpp 0.7 never returns from this.
  EXPECT_THAT(parse_error(",a: {b: 1!\nc: [d]\n"), HasSubstr("f.yaml: something follows the first document"));
  EXPECT_THAT(parse_error("a: 1\n]\n"), HasSubstr("f.yaml"));
  EXPECT_EQ(parse_error("a: 1\nb: \xff\n"), "f.yaml:2: not valid UTF-8");
  EXPECT_EQ(parse_error("a: 1\n\x04: 2\n"), "f.yaml:2: control character 4 (expected text)");
  EXPECT_EQ(parse_error(std::string("a: 1\0", 5)), "f.yaml:1: control character 0 (expected text)");
  EXPECT_EQ(parse_error("a: 1\nb: 2\na: 3\n"), "f.yaml:3: a: the key is repeated");
  EXPECT_EQ(parse_error("m: {a: 1, a: 2}\n"), "f.yaml:1: m.a: the key is repeated");
  EXPECT_EQ(parse_error("[1, 2]: x\n"), "f.yaml:1: a key that is not text (expected key: value)");
  EXPECT_THAT(parse_error("a: [1\nb: 2\n"), HasSubstr("f.yaml:2: not valid YAML: "));
  EXPECT_THAT(parse_error("a: *missing\n"), HasSubstr("f.yaml:1: not valid YAML: "));
  EXPECT_THAT(parse_error(std::string(2 << 20, 'x')), HasSubstr("bytes (expected at most 1048576)"));
}

TEST(Yaml, RefusesNestingAndAliasBombs) {
  EXPECT_THAT(parse_error(std::string(100, '[') + std::string(100, ']')),
              HasSubstr("nested too deeply (expected at most 32 levels)"));
  EXPECT_THAT(parse_error(std::string(100'000, '[')), HasSubstr("f.yaml:"));
  EXPECT_THAT(parse_error(std::string(300'000, '-') + " x: {"), HasSubstr("f.yaml:"));
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    bomb += fmt::format("a{0}: &a{0} [", i);
    for (int j = 0; j < 10; ++j) bomb += fmt::format("*a{}, ", i - 1);
    bomb += "]\n";
  }
  EXPECT_THAT(parse_error(bomb), HasSubstr("too many values (expected at most 100000; do aliases repeat each other?)"));
  EXPECT_THAT(parse_error("a: &a [*a]\n"), HasSubstr("f.yaml:"));
}

TEST(Yaml, ValuesOfTheWrongTypeSayWhatWasExpected) {
  const Yaml root = parse_yaml(
      "n: 12\nx: 0.5\nt: word\nhuge: 99999999999999999999999\nbig: 1e999\nnan: nan\nyes: true\nlist: [1]\nmap: {a: "
      "1}\nnone:\n",
      "f.yaml");
  const auto at = [&](const char* key) -> const Yaml& { return *root.find(key); };
  EXPECT_EQ(integer_of(at("n"), 0, 100), 12);
  EXPECT_EQ(number_of(at("x"), 0, 1), 0.5);
  EXPECT_TRUE(boolean_of(at("yes")));
  EXPECT_EQ(error_of([&] { integer_of(at("n"), 0, 10); }), "f.yaml:1: n: '12' (expected a whole number from 0 to 10)");
  EXPECT_EQ(error_of([&] { integer_of(at("x"), 0, 10); }), "f.yaml:2: x: '0.5' (expected a whole number from 0 to 10)");
  EXPECT_EQ(error_of([&] { integer_of(at("huge"), 0, 10); }),
            "f.yaml:4: huge: '99999999999999999999999' (expected a whole number from 0 to 10)");
  EXPECT_EQ(error_of([&] { number_of(at("big"), 0, 10); }), "f.yaml:5: big: '1e999' (expected a number from 0 to 10)");
  EXPECT_EQ(error_of([&] { number_of(at("nan"), 0, 10); }), "f.yaml:6: nan: 'nan' (expected a number from 0 to 10)");
  EXPECT_EQ(error_of([&] { boolean_of(at("t")); }), "f.yaml:3: t: 'word' (expected true or false)");
  EXPECT_EQ(error_of([&] { text_of(at("list")); }), "f.yaml:8: list: a list (expected a text)");
  EXPECT_EQ(error_of([&] { text_of(at("none")); }), "f.yaml:10: none: nothing (expected a text)");
  EXPECT_EQ(error_of([&] { list_of(at("map")); }), "f.yaml:9: map: a map (expected a list)");
  EXPECT_EQ(error_of([&] { require_map(at("t")); }), "f.yaml:3: t: 'word' (expected a map key: value)");
  EXPECT_EQ(error_of([&] { require(root, "suite"); }), "f.yaml:1: the key suite is missing");
  EXPECT_EQ(error_of([&] {
              require_keys(at("map"), {"ab", "xyz"});
            }),
            "f.yaml:9: map.a: unknown key (expected one of ab, xyz; did you mean ab?)");
}

TEST(Yaml, NamesAFileThatCannotBeRead) {
  const test::Folder folder;
  EXPECT_EQ(error_of([&] { read_yaml(folder.path() + "/none.yaml"); }, folder.path()),
            "none.yaml: the file cannot be read");
  EXPECT_THAT(error_of([&] { read_yaml(folder.path()); }), HasSubstr("the file cannot be read"));
  EXPECT_THAT(error_of([&] { read_yaml("/dev/zero"); }), HasSubstr("bytes (expected at most"));
}

TEST(Nearest, FindsATypoAndRefusesAGuess) {
  const std::vector<std::string> words{"accuracy", "performance", "tolerance"};
  EXPECT_EQ(nearest("acuracy", words), "accuracy");
  EXPECT_EQ(nearest("tolerence", words), "tolerance");
  EXPECT_EQ(nearest("banana", words), "");
  EXPECT_EQ(nearest(std::string(5000, 'a'), words), "");
  EXPECT_EQ(expected_one_of("x", {}), "expected none at all");
  EXPECT_EQ(expected_one_of("x", std::vector<std::string>(23, "word")).substr(0, 21), "expected one of word,");
  EXPECT_THAT(expected_one_of("x", std::vector<std::string>(23, "word")), HasSubstr("and 3 more"));
}

}  // namespace
}  // namespace torchstone::config
