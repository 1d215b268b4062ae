#include "parse/index_rows.h"

#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "parse/name_list.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

template <typename Value>
ParsedChunk Parse(const std::vector<Value>& values, const char* columns, const NameList* nodes = nullptr,
                  const NameList* relations = nullptr) {
  const LineLayout layout = {
      .format = InputFormat::kNpy,
      .columns = ParseColumns(columns).value(),
      .indexes = {
          .value_bytes = sizeof(Value), .is_signed = Value(-1) < Value(0), .nodes = nodes, .relations = relations}};
  std::string bytes(values.size() * sizeof(Value), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  ParsedChunk chunk;
  ParseIndexRows(bytes, layout, chunk);
  return chunk;
}

std::string TextOf(const ParsedChunk& chunk) {
  std::string out;
  for (const ParsedEdge& edge : chunk.edges) {
    out += std::string(edge.head) + " " + std::string(edge.relation) + " " + std::string(edge.tail) + ";";
  }
  return out;
}

TEST(ParseIndexRows, NumbersAreTheNames) {
  EXPECT_EQ(TextOf(Parse<std::int32_t>({0, 2147483647, 10, 7}, "head,tail")), "0  2147483647;10  7;");
  EXPECT_EQ(TextOf(Parse<std::uint32_t>({4294967295U, 0}, "tail,head")), "0  4294967295;");
  EXPECT_EQ(TextOf(Parse<std::int64_t>({1, 2, 3}, "head,relation,tail")), "1 2 3;");
  EXPECT_EQ(TextOf(Parse<std::uint64_t>({18446744073709551615U, 9, 1}, "head,-,tail")), "18446744073709551615  1;");
}

TEST(ParseIndexRows, TellsRowsOfIndexesOutOfRange) {
  const TemporaryFolder folder;
  WriteFileBytes(folder / "nodes", "a\n# b\n\xFF c\n");
  WriteFileBytes(folder / "relations", "r\n");
  const NameList nodes = NameList::Read((folder / "nodes").string(), UINT64_MAX).value();
  const NameList relations = NameList::Read((folder / "relations").string(), UINT64_MAX).value();
  const ParsedChunk chunk = Parse<std::int64_t>({0, 0, 1, 3, 0, 1, 2, 1, 0, 2, 0, -1, 2, 0, INT64_MIN, 1, 0, 2},
                                                "head,relation,tail", &nodes, &relations);
  EXPECT_EQ(TextOf(chunk), "a r # b;# b r \xFF c;");
  EXPECT_EQ(chunk.lines, 6U);
  EXPECT_EQ(chunk.bad_line_count, 4U);
  ASSERT_EQ(chunk.bad_lines.size(), 4U);
  const std::string expected = ", expected one below 3, the number of names in " + nodes.path();
  EXPECT_EQ(chunk.bad_lines[0].message, "found the head 3" + expected);
  EXPECT_EQ(chunk.bad_lines[1].message,
            "found the relation 1, expected one below 1, the number of names in " + relations.path());
  EXPECT_EQ(chunk.bad_lines[2].message, "found the tail -1" + expected);
  EXPECT_EQ(chunk.bad_lines[3].message, "found the tail -9223372036854775808" + expected);
  EXPECT_EQ(chunk.bad_lines[3].line, 4U);
  const ParsedChunk negative = Parse<std::int32_t>({5, -5}, "head,tail");
  ASSERT_EQ(negative.bad_lines.size(), 1U);
  EXPECT_EQ(negative.bad_lines[0].message, "found the tail -5, expected one from 0 on");
}

}  // namespace
}  // namespace octavo
