#include "io/text_encoding.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/status.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

using std::string_view_literals::operator""sv;

// A list that a Windows program had written was read as one line, or as names with NUL bytes.
TEST(RefuseUtf16, NamesTheFileAndTheProgramThatConvertsIt) {
  EXPECT_ERROR(RefuseUtf16("\xFF\xFE"
                           "a\0\t\0"sv,
                           "list"),
               kInput, "list: found UTF-16 (a byte order mark); expected UTF-8, which iconv -f UTF-16 -t UTF-8 writes");
  EXPECT_ERROR(RefuseUtf16("\xFE\xFF\0a"sv, "list"), kInput, "iconv -f UTF-16 -t UTF-8");
  EXPECT_ERROR(RefuseUtf16("a\0\t\0b\0\n\0c\0"sv, "list"), kInput,
               "list: found UTF-16 (a NUL in every second byte of the first line); expected UTF-8, which iconv -f "
               "UTF-16LE -t UTF-8 writes");
  EXPECT_ERROR(RefuseUtf16("\0a\0\t\0b\0\n\0c"sv, "list"), kInput, "iconv -f UTF-16BE -t UTF-8");
}

TEST(RefuseUtf16, LeavesOtherTextAlone) {
  for (const std::string_view text :
       {""sv, "a"sv, "a\tb\n"sv,
        "\xEF\xBB\xBF"
        "a\tb\n"sv,
        "a\0"sv, "a\0b\n"sv, "a\tb\0c\n"sv, "\0\0\0\0\0\0"sv, "\n\0a\0b"sv, "\xFF\tb\n"sv}) {
    ASSERT_OK(RefuseUtf16(text, "list")) << text;
  }
}

}  // namespace
}  // namespace octavo
