#include "base/byte_size.h"

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

TEST(ParseByteSize, ReadsNumbersWithUnits) {
  const std::pair<std::string_view, std::uint64_t> kSizes[] = {
      {"0", 0},
      {"4096", 4096},
      {"17B", 17},
      {"1kB", 1000},
      {"800MB", 800000000},
      {"1.5GB", 1500000000},
      {"2TB", 2000000000000},
      {"1KiB", 1024},
      {"512MiB", 512 << 20},
      {"1.5GiB", 3ULL << 29},
      {"1gib", 1ULL << 30},
      {"1 GiB", 1ULL << 30},
      {"1TiB", 1ULL << 40},
      {"4k", 4096},
      {"1M", 1 << 20},
      {"3G", 3ULL << 30},
      {"1T", 1ULL << 40},
      {"0.5K", 512},
  };
  for (const auto& [text, bytes] : kSizes) {
    const absl::StatusOr<std::uint64_t> parsed = ParseByteSize(text);
    ASSERT_OK(parsed) << text;
    EXPECT_EQ(*parsed, bytes) << text;
  }
}

TEST(ParseByteSize, RefusesEverythingElseAndNamesIt) {
  for (const std::string text : {"", " ", "GiB", "-1", "-0", "+1", "1e3", "nan", "inf", "1 GiB ", "1  GiB", "1GiBs",
                                 "1,5GiB", "0x10", "99999999999999999999", "9000000000GiB", "1PB", " 1"}) {
    EXPECT_ERROR(ParseByteSize(text), kUsage, "\"" + text + "\"") << text;
  }
}

TEST(FormatByteSize, PicksAUnit) {
  EXPECT_EQ(FormatByteSize(0), "0 B");
  EXPECT_EQ(FormatByteSize(17), "17 B");
  EXPECT_EQ(FormatByteSize(1023), "1023 B");
  EXPECT_EQ(FormatByteSize(1536), "1.5 KiB");
  EXPECT_EQ(FormatByteSize(512ULL << 20), "512 MiB");
  EXPECT_EQ(FormatByteSize(3ULL << 29), "1.5 GiB");
  EXPECT_EQ(FormatByteSize(5ULL << 50), "5120 TiB");
}

}  // namespace
}  // namespace octavo
