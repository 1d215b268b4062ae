#include "base/escape.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace octavo {
namespace {

using std::string_view_literals::operator""sv;

TEST(Escape, LeavesPlainTextAndUtf8Alone) {
  for (const std::string_view text : {""sv, "plain text"sv, "Zürich"sv, "東京"sv, "😀"sv, "/m/027rn"sv}) {
    EXPECT_EQ(Escape(text), text);
  }
}

TEST(Escape, WritesControlBytesVisibly) {
  EXPECT_EQ(Escape("a\tb\nc\rd"), "a\\tb\\nc\\rd");
  EXPECT_EQ(Escape("\x1b[31m"), "\\x1B[31m");
  EXPECT_EQ(Escape("a\0b"sv), "a\\x00b");
  EXPECT_EQ(Escape("\x7f"), "\\x7F");
  EXPECT_EQ(Escape("\"\\"), "\\\"\\\\");
}

TEST(Escape, WritesBytesThatAreNoUtf8AsHexadecimal) {
  EXPECT_EQ(Escape("\xff"), "\\xFF");
  EXPECT_EQ(Escape("\xc0\xaf"), "\\xC0\\xAF");                    // overlong
  EXPECT_EQ(Escape("\xe0\x80\xaf"), "\\xE0\\x80\\xAF");           // overlong
  EXPECT_EQ(Escape("\xed\xa0\x80"), "\\xED\\xA0\\x80");           // surrogate
  EXPECT_EQ(Escape("\xf4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(Escape("\xc2\x9b"), "\\xC2\\x9B");                    // a C1 control: CSI for some terminals
  EXPECT_EQ(Escape("\xe6\x9d"), "\\xE6\\x9D");                    // cut short
}

TEST(Escape, CutsLongText) {
  EXPECT_EQ(Escape("abcdef", 3), "abc...");
  EXPECT_EQ(Escape("abc", 3), "abc");
  EXPECT_EQ(Escape("ab\xe6\x9d\xb1x", 3), "ab\xe6\x9d\xb1...");  // never splits a character
}

// They were printed unchanged, and a name could reorder the line of a terminal that it is in.
TEST(Escape, WritesBidirectionalControlsVisibly) {
  EXPECT_EQ(Escape("a\xe2\x80\xae"
                   "b"),
            "a\\xE2\\x80\\xAEb");                        // U+202E
  EXPECT_EQ(Escape("\xe2\x80\xaa"), "\\xE2\\x80\\xAA");  // U+202A
  EXPECT_EQ(Escape("\xe2\x81\xa6\xe2\x81\xa9"), "\\xE2\\x81\\xA6\\xE2\\x81\\xA9");
  for (const std::string_view text : {"\xe2\x80\xa9"sv, "\xe2\x80\xaf"sv, "\xe2\x81\xa5"sv, "\xe2\x81\xaa"sv}) {
    EXPECT_EQ(Escape(text), text);  // their neighbours
    EXPECT_EQ(EscapeControls(text), text);
  }
  EXPECT_EQ(EscapeControls("a\xe2\x80\xae"
                           "b"),
            "a\\xE2\\x80\\xAEb");
  EXPECT_EQ(ReadableText("a\xe2\x80\xae"
                         "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(Unescape(Escape("\xe2\x80\xae\xe2\x81\xa9")), "\xe2\x80\xae\xe2\x81\xa9");
}

// Quotes were escaped in tables, so that names could not be copied.
TEST(EscapeCell, LeavesQuotesUnlessSomethingElseIsEscaped) {
  EXPECT_EQ(EscapeCell("O'Brien \"Bob\""), "O'Brien \"Bob\"");
  EXPECT_EQ(EscapeCell("a\"b\tc"), "a\\\"b\\tc");
  EXPECT_EQ(EscapeCell("a\"b\\"), "a\\\"b\\\\");
  EXPECT_EQ(EscapeCell("\"\xe2\x80\xae"), "\\\"\\xE2\\x80\\xAE");
  EXPECT_EQ(EscapeCell("\"abcdefgh\"", 6), "\"a...fgh\"");
}

TEST(EscapeName, CutsTheMiddle) {
  const std::string iri = "http://example.org/a/very/long/path/to/country/C3";
  EXPECT_EQ(EscapeName(iri), iri);
  EXPECT_EQ(EscapeName(iri, 16), "http:.../country/C3");
  EXPECT_EQ(EscapeName("\x1b[31mabcdefgh", 9), "\\x1B[3...cdefgh");
  // Never splits a character; invalid bytes take no more room.
  EXPECT_EQ(EscapeName("a\xe6\x9d\xb1"
                       "bc\xe6\x9d\xb1"
                       "d",
                       6),
            "a...\xe6\x9d\xb1"
            "d");
  EXPECT_EQ(EscapeName(std::string(12, '\x80'), 3).substr(0, 3), "...");
}

TEST(ShellWord, IsOneWordToAShell) {
  EXPECT_EQ(ShellWord("http://a.org/b:c-d_e"), "http://a.org/b:c-d_e");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("?"), "'?'");
  EXPECT_EQ(ShellWord("it's $HOME"), "'it'\\''s $HOME'");
}

TEST(Unescape, ReadsWhatEscapeWrote) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& text : {all, std::string("Zürich \\x41 \"東京\" \\\\n"), std::string()}) {
    EXPECT_EQ(Unescape(Escape(text, text.size())), text);
  }
}

TEST(Unescape, LeavesOtherBackslashesAlone) {
  for (const std::string_view text : {"\\"sv, "a\\b"sv, "\\x4"sv, "\\xg1"sv, "\\x-1"sv, "\\x"sv})
    EXPECT_EQ(Unescape(text), text);
  EXPECT_EQ(Unescape("\\x4a\\x4Ax"), "JJx");
}

TEST(EscapeControls, LeavesAllButControlBytes) {
  EXPECT_EQ(EscapeControls("error: a/\"b\"\\ \xe6\x9d\xb1 \xff\nnext"), "error: a/\"b\"\\ \xe6\x9d\xb1 \xff\nnext");
  EXPECT_EQ(EscapeControls("\x1b[31m\t\r\x7f"), "\\x1B[31m\\x09\\x0D\\x7F");
  EXPECT_EQ(EscapeControls("a\0b"sv), "a\\x00b");
  EXPECT_EQ(EscapeControls("\xc2\x9b \xc2\xa0 \xe2\x80\x9b"), "\xc2\\x9B \xc2\xa0 \xe2\x80\x9b");
}

TEST(ReadableText, KeepsCharactersAndReplacesWhatIsNone) {
  EXPECT_EQ(ReadableText("\"a\\ \u00E4\U0001F600"), "\"a\\ \u00E4\U0001F600");
  EXPECT_EQ(ReadableText("\n\xFF\x7F\xC3"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(ReadableText("\xC2\x85"), "\uFFFD\uFFFD");  // a control character of two bytes
  EXPECT_EQ(ReadableText("abc", 3), "abc");
  EXPECT_EQ(ReadableText("abcd", 3), "a\u2026cd");
  EXPECT_EQ(ReadableText("a\u00E4\u00E4", 3), "a\u2026\u00E4");
  EXPECT_EQ(ReadableText("abc\u00E4d", 3), "a\u2026d");  // never splits a character
}

}  // namespace
}  // namespace octavo
