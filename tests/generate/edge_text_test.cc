#include "generate/edge_text.h"

#include <array>
#include <string>

#include "gtest/gtest.h"

namespace octavo {
namespace {

constexpr std::array<GeneratedEdge, 2> kTwoEdges = {{{0, 1000, 7}, {42, 5, 10}}};

std::string TextOf(GraphKind kind, NameStyle style) {
  GenerateOptions options;
  options.kind = kind;
  options.nodes = 1001;
  options.relations = 11;
  const EdgeText lines(options, style);
  std::string text = "before\n";
  lines.Append(kTwoEdges, text);
  EXPECT_LE(text.size(), 7 + 2 * lines.max_line_bytes());
  return text;
}

TEST(EdgeText, WritesNumbers) {
  EXPECT_EQ(TextOf(GraphKind::kRmat, NameStyle::kInteger), "before\n0\t1000\n42\t5\n");
  EXPECT_EQ(TextOf(GraphKind::kKg, NameStyle::kInteger), "before\n0\t7\t1000\n42\t10\t5\n");
}

TEST(EdgeText, WritesNamesOfOneLength) {
  EXPECT_EQ(TextOf(GraphKind::kSbm, NameStyle::kString), "before\nnode_0000\tnode_1000\nnode_0042\tnode_0005\n");
  EXPECT_EQ(TextOf(GraphKind::kKg, NameStyle::kString),
            "before\nnode_0000\trelation_07\tnode_1000\nnode_0042\trelation_10\tnode_0005\n");
}

}  // namespace
}  // namespace octavo
