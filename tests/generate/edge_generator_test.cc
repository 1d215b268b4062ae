#include "generate/edge_generator.h"

#include <cmath>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "generate/edge_text.h"
#include "generate/make_generator.h"
#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tests/generate/all_edges.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

constexpr GraphKind kKinds[] = {GraphKind::kRmat, GraphKind::kSbm, GraphKind::kKg};

GenerateOptions Options(GraphKind kind, std::uint64_t nodes, std::uint64_t edges) {
  GenerateOptions options;
  options.kind = kind;
  options.nodes = nodes;
  options.edges = edges;
  return options;
}

TEST(EdgeGenerator, MakesExactlyTheEdgesAskedForBetweenTheNodes) {
  for (const GraphKind kind : kKinds) {
    for (const std::uint64_t edges :
         {std::uint64_t{1}, EdgeGenerator::kBlockEdges, 2 * EdgeGenerator::kBlockEdges + 1}) {
      const auto generator = MakeEdgeGenerator(Options(kind, 777, edges));
      const std::vector<GeneratedEdge> all = AllEdges(*generator);
      EXPECT_EQ(all.size(), edges);
      for (const GeneratedEdge& edge : all) {
        ASSERT_LT(edge.head, 777U);
        ASSERT_LT(edge.tail, 777U);
      }
    }
  }
}

TEST(EdgeGenerator, ABlockIsTheSameWhateverWasMadeBefore) {
  for (const GraphKind kind : kKinds) {
    const auto generator = MakeEdgeGenerator(Options(kind, 1000, 3 * EdgeGenerator::kBlockEdges));
    const auto other = MakeEdgeGenerator(Options(kind, 1000, 3 * EdgeGenerator::kBlockEdges));
    std::vector<GeneratedEdge> first;
    std::vector<GeneratedEdge> second;
    generator->MakeBlock(0, first);
    generator->MakeBlock(2, first);
    other->MakeBlock(2, second);
    EXPECT_EQ(first, second);
    other->MakeBlock(1, second);
    EXPECT_NE(first, second);
  }
}

TEST(EdgeGenerator, TheSeedChangesTheGraph) {
  for (const GraphKind kind : kKinds) {
    GenerateOptions options = Options(kind, 1000, 100);
    const std::vector<GeneratedEdge> first = AllEdges(*MakeEdgeGenerator(options));
    options.seed = 2;
    EXPECT_NE(AllEdges(*MakeEdgeGenerator(options)), first);
  }
}

// Changing these changes the meaning of all existing seeds.
TEST(EdgeGenerator, BytesAreTheOnesOfTheFirstVersion) {
  constexpr std::uint64_t kGolden[] = {0xCAEC4B58F6ED7242, 0xDA3F2AC04A66549A, 0xE744671D7ADB9573};
  for (std::size_t i = 0; i < 3; ++i) {
    const GenerateOptions options = Options(kKinds[i], 10'000, 70'000);
    std::string text;
    EdgeText(options, NameStyle::kString).Append(AllEdges(*MakeEdgeGenerator(options)), text);
    EXPECT_EQ(Checksum64(std::as_bytes(std::span<const char>(text))), kGolden[i]) << text.substr(0, 100);
  }
}

TEST(EdgeGenerator, EveryNodeHasAnEdgeWhereThatIsAskedFor) {
  GenerateOptions options{.kind = GraphKind::kRmat, .nodes = 100'000, .edges = 150'000};
  const auto heads_of = [&] {
    std::set<std::uint64_t> nodes;
    const auto generator = MakeEdgeGenerator(options);
    std::vector<GeneratedEdge> edges;
    for (std::uint64_t block = 0; block < generator->block_count(); ++block) {
      generator->MakeBlock(block, edges);
      for (const GeneratedEdge& edge : edges) nodes.insert({edge.head, edge.tail});
    }
    return nodes.size();
  };
  EXPECT_LT(heads_of(), 90'000U);
  options.every_node = true;
  EXPECT_EQ(heads_of(), 100'000U);
  options.edges = 99'999;
  EXPECT_ERROR(CheckGenerateOptions(options), kUsage, "--edges: found 99999; expected a whole number from 100000");
}

TEST(CheckGenerateOptions, NamesTheFlagAndItsRange) {
  GenerateOptions options = Options(GraphKind::kSbm, 100, 10);
  EXPECT_OK(CheckGenerateOptions(options));
  options.blocks = 51;
  EXPECT_ERROR(CheckGenerateOptions(options), kUsage, "--blocks: found 51; expected a whole number from 2 to 50, half");
  options = Options(GraphKind::kKg, 15, 10);
  EXPECT_ERROR(CheckGenerateOptions(options), kUsage, "--types: found 8; expected a whole number from 1 to 7, half");
  options = Options(GraphKind::kKg, 16, 10);
  EXPECT_OK(CheckGenerateOptions(options));
  options.relations = 0;
  EXPECT_ERROR(CheckGenerateOptions(options), kUsage,
               "--relations: found 0; expected a whole number from 1 to 1000000");
  options = Options(GraphKind::kRmat, 3, 10);
  EXPECT_ERROR(CheckGenerateOptions(options), kUsage, "--nodes: found 3");
  options = Options(GraphKind::kRmat, 4, 0);
  EXPECT_ERROR(CheckGenerateOptions(options), kUsage, "--edges: found 0");
  options.edges = 1;
  EXPECT_OK(CheckGenerateOptions(options));
  options.mixing = std::nan("");
  EXPECT_ERROR(CheckGenerateOptions(options), kUsage, "--mixing");
}

}  // namespace
}  // namespace octavo
