// JSON output had U+0080 to U+009F as they are: U+009B begins a control sequence of a terminal.
#include "base/json_escape.h"

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(JsonEscape, ControlsOfTerminalsAreEscapedAndNothingElse) {
  EXPECT_EQ(EscapeJsonControls("{\"a\": \"\xC2\x9B[31m\x7F\"}"), "{\"a\": \"\\u009b[31m\\u007f\"}");
  EXPECT_EQ(EscapeJsonControls("\xC2\x80\xC2\x9F\xC2\xA0"), "\\u0080\\u009f\xC2\xA0");
  EXPECT_EQ(EscapeJsonControls("\xE2\x82\xAC \xC3\x9B \xC2"), "\xE2\x82\xAC \xC3\x9B \xC2");
  EXPECT_EQ(EscapeJsonControls("\xE2\x80\xAA\xE2\x80\xAE"), "\\u202a\\u202e");
  EXPECT_EQ(EscapeJsonControls("\xE2\x81\xA6\xE2\x81\xA9"), "\\u2066\\u2069");
  EXPECT_EQ(EscapeJsonControls("\xE2\x80\xAF\xE2\x81"), "\xE2\x80\xAF\xE2\x81");
  EXPECT_EQ(EscapeJsonControls(""), "");
}

}  // namespace
}  // namespace octavo
