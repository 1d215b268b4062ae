#include "format/known_rows.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

KnownRows Some() {
  KnownRows known = {.nodes = RowMarks(130), .relations = RowMarks(3)};
  for (const std::uint64_t row : {0U, 63U, 64U, 129U}) known.nodes.Mark(row);
  known.relations.Mark(2);
  return known;
}

TEST(KnownRows, ReadsBackWhatItWrote) {
  const std::string bytes = EncodeKnownRows(Some());
  EXPECT_EQ(bytes.size(), KnownRows::FileBytes(130, 3));
  ASSERT_OK_AND_ASSIGN(const KnownRows known, DecodeKnownRows(bytes, 130, 3, "k"));
  std::string nodes;
  for (std::uint64_t row = 0; row < 130; ++row) nodes += known.nodes.Has(row) ? std::to_string(row) + " " : "";
  EXPECT_EQ(nodes, "0 63 64 129 ");
  EXPECT_EQ(known.nodes.Count(), 4U);
  EXPECT_EQ(known.relations.Count(), 1U);
  EXPECT_TRUE(known.relations.Has(2));
}

// Older runs have these bytes.
TEST(KnownRows, IsTheLayoutOfItsHead) {
  const std::string bytes = EncodeKnownRows(Some());
  ASSERT_EQ(bytes.size(), 64U + 4 * 8);
  EXPECT_EQ(bytes.substr(0, 8), "OCTVKNWN");
  EXPECT_EQ(bytes.substr(8, 8), std::string("\1\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(16, 16), std::string("\x82\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", 16));
  EXPECT_EQ(bytes.substr(64), std::string("\1\0\0\0\0\0\0\x80"
                                          "\1\0\0\0\0\0\0\0"
                                          "\2\0\0\0\0\0\0\0"
                                          "\4\0\0\0\0\0\0\0",
                                          32));
}

TEST(KnownRows, RefusesEveryDamage) {
  const std::string whole = EncodeKnownRows(Some());
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    std::string bytes = whole;
    bytes[byte] = static_cast<char>(bytes[byte] ^ 1);
    EXPECT_ERROR(DecodeKnownRows(bytes, 130, 3, "known.rows"), kCorrupt, "known.rows: ") << byte;
    EXPECT_ERROR(DecodeKnownRows(whole.substr(0, byte), 130, 3, "known.rows"), kCorrupt, "known.rows: ") << byte;
  }
  EXPECT_ERROR(DecodeKnownRows(whole + "x", 130, 3, "known.rows"), kCorrupt, "97 bytes; expected 96");
  EXPECT_ERROR(DecodeKnownRows(whole, 131, 3, "known.rows"), kCorrupt, "130 nodes and 3 relation rows; expected 131");
}

}  // namespace
}  // namespace octavo
