#include "graph/relation_list.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

TEST(RelationList, GivesNamesAndCountsInOrder) {
  ASSERT_OK_AND_ASSIGN(const auto relations, ParseRelationList("a\t3\na\tb\t0\nc\t12\n", "file"));
  ASSERT_EQ(relations.size(), 3U);
  EXPECT_EQ(relations[1].name, "a\tb");
  EXPECT_EQ(relations[1].train_edges, 0U);
  EXPECT_EQ(relations[2].train_edges, 12U);
  ASSERT_OK_AND_ASSIGN(const auto none, ParseRelationList("", "file"));
  EXPECT_TRUE(none.empty());
}

TEST(RelationList, AWrongLineIsNamed) {
  for (const std::string text : {"a\t3\nb\n", "a\t3\nb\tx\n", "a\t3\nb\t-1\n", "a\t3\nb\t1", "a\t3\na\t1\n"}) {
    EXPECT_ERROR(ParseRelationList(text, "file"), kCorrupt, "file:2: ") << text;
  }
}

}  // namespace
}  // namespace octavo
