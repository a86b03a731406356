#include "reports/base/text.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "reports/base/time.h"

namespace torchstone {
namespace {

TEST(Utf8, KnowsWellFormedCharacters) {
  EXPECT_EQ(utf8_size("a", 0), 1u);
  EXPECT_EQ(utf8_size("ß", 0), 2u);
  EXPECT_EQ(utf8_size("模", 0), 3u);
  EXPECT_EQ(utf8_size("😀", 0), 4u);
  EXPECT_EQ(utf8_size("", 0), 0u);
}

TEST(Utf8, RefusesOverlongSurrogateAndCutCharacters) {
  for (const char* text : {"\xc0\x80", "\xe0\x80\x80", "\xf0\x80\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                           "\xe6\xa8", "\xff", "\x80"}) {
    EXPECT_EQ(utf8_size(text, 0), 0u) << text;
  }
}

TEST(Printable, EscapesControlCharactersAndBrokenBytes) {
  EXPECT_EQ(printable("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(printable("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(printable("\xff größe"), "\\xff größe");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");           // a terminal takes U+009B for ESC [
  EXPECT_EQ(printable("\xef\xbf\xbe"), "\\xef\\xbf\\xbe");  // U+FFFE is forbidden in XML
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(ValidUtf8, LeavesControlCharactersAlone) { EXPECT_EQ(valid_utf8("\x01\xc3\x28"), "\x01\\xc3("); }

TEST(Shortened, CutsBetweenCharacters) {
  EXPECT_EQ(shortened("größe", 5), "größe");
  EXPECT_EQ(shortened("größer", 5), "größ…");
  EXPECT_EQ(shortened("模型模型", 1), "…");
  EXPECT_EQ(shortened("abc", 0), "");
}

TEST(Capitalised, BeginsWithACapital) {
  EXPECT_EQ(capitalised("two words"), "Two words");
  EXPECT_EQ(capitalised("Two"), "Two");
  EXPECT_EQ(capitalised("größer"), "Größer");
  EXPECT_EQ(capitalised("ßa"), "ßa");
  EXPECT_EQ(capitalised(""), "");
}

TEST(Exact, ReadsBackAsTheSameDouble) {
  for (const double value :
       {0.1, -0.0, 1e300, 5e-324, 1.0 / 3, 123456789.123456789, std::numeric_limits<double>::max()}) {
    const auto back = parse_number(exact(value));
    ASSERT_TRUE(back.has_value()) << exact(value);
    EXPECT_EQ(*back, value);
    EXPECT_EQ(std::signbit(*back), std::signbit(value));
  }
  EXPECT_TRUE(std::isnan(*parse_number(exact(std::nan("")))));
  EXPECT_EQ(*parse_number("-Infinity"), -std::numeric_limits<double>::infinity());
}

TEST(ParseNumber, TakesNothingElse) {
  for (const char* text : {"", " 1", "1 ", "1.5x", "0x10", "inf", "nan", "infinity", "1e999", "1,5"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(ParseInteger, TakesNothingElse) {
  EXPECT_EQ(parse_integer<int64_t>("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(parse_integer<int32_t>("2147483647"), 2147483647);
  for (const char* text : {"", " 1", "1 ", "1.5", "1e3", "0x10", "+1", "2147483648", "one"}) {
    EXPECT_EQ(parse_integer<int32_t>(text), std::nullopt) << text;
  }
}

TEST(ParseCounter, TakesDigitsOnly) {
  EXPECT_EQ(parse_counter("18446744073709551616"), 18446744073709551616.0);
  for (const char* text : {"", "-1", "+1", "1.5", "1e3", "max", "NaN", "1 "}) {
    EXPECT_EQ(parse_counter(text), std::nullopt) << text;
  }
}

TEST(HashOf, IsFnv1a) {
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8u);
}

TEST(Xml, EscapesMarkupAndKeepsLineBreaksInAttributes) {
  EXPECT_EQ(xml_text("a<b>&\"c\"]]>"), "a&lt;b&gt;&amp;\"c\"]]&gt;");
  EXPECT_EQ(xml_open("e", {{"k", "a\"b\nc\td<"}}), "<e k=\"a&quot;b&#10;c&#9;d&lt;\"");
}

TEST(Time, SortsAsText) {
  EXPECT_EQ(format_utc(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_utc(1769860800.25), "2026-01-31T12:00:00.250Z");
  EXPECT_LT(format_utc(1e9), utc_now());
}

}  // namespace
}  // namespace torchstone
