#include "generate/edge_generator.h"

#include <algorithm>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// Streams of RandomPurpose::kGenerate: one for the graph's structure, one for its blocks of edges.
constexpr std::uint32_t kStructure = 0;
constexpr std::uint32_t kEdges = 1;

absl::Status CheckRange(std::string_view flag, std::uint64_t value, std::uint64_t least, std::uint64_t most,
                        std::string_view why) {
  if (value >= least && value <= most) return absl::OkStatus();
  return UsageError(
      fmt::format("{}: found {}; expected a whole number from {} to {}{}", flag, value, least, most, why));
}

}  // namespace

absl::Status CheckGenerateOptions(const GenerateOptions& options) {
  RETURN_IF_ERROR(CheckRange("--nodes", options.nodes, 4, kMaxGeneratedNodes, ""));
  const std::uint64_t least = options.every_node ? options.nodes : 1;
  RETURN_IF_ERROR(
      CheckRange("--edges", options.edges, least, kMaxGeneratedEdges, options.every_node ? ", one for each node" : ""));
  constexpr std::string_view kHalf = ", half the nodes";
  if (options.kind == GraphKind::kSbm) {
    RETURN_IF_ERROR(CheckRange("--blocks", options.blocks, 2, options.nodes / 2, kHalf));
  }
  if (options.kind == GraphKind::kKg) {
    const std::uint64_t most = std::min(kMaxGeneratedTypes, options.nodes / 2);
    RETURN_IF_ERROR(CheckRange("--types", options.types, 1, most, most < kMaxGeneratedTypes ? kHalf : ""));
    RETURN_IF_ERROR(CheckRange("--relations", options.relations, 1, kMaxGeneratedRelations, ""));
  }
  if (options.mixing >= 0 && options.mixing <= 1) return absl::OkStatus();
  return UsageError(fmt::format("--mixing: found {}; expected a number from 0 to 1", options.mixing));
}

RandomStream EdgeGenerator::StructureStream(std::uint64_t place) const {
  return {seed_, RandomPurpose::kGenerate, kStructure, place};
}

void EdgeGenerator::MakeBlock(std::uint64_t block, std::vector<GeneratedEdge>& edges) const {
  edges.resize(std::min(kBlockEdges, edges_ - block * kBlockEdges));
  RandomStream random(seed_, RandomPurpose::kGenerate, kEdges, block);
  Draw(random, edges);
  const std::uint64_t first = block * kBlockEdges;
  for (std::uint64_t i = 0; i < edges.size() && first + i < fixed_heads_; ++i) edges[i].head = first + i;
}

}  // namespace octavo
