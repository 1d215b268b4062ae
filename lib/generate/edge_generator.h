// Synthetic graphs of any size as streams of edges.
//
// The edges come in blocks. Each block is drawn from its own random stream, so the graph depends only on its options,
// and threads may make blocks in any order. No state is kept between blocks; memory does not grow with nodes or edges.
// Edges may repeat and, except with kSbm and kKg, may be loops, as in the original models; octavo import merges copies
// and can drop loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/random.h"

namespace octavo {

enum class GraphKind {
  kRmat,  // generate/rmat.h: degrees as skewed as a social network's
  kSbm,   // generate/stochastic_blocks.h: communities, similar degrees
  kKg,    // generate/knowledge_graph.h: typed relations that a model can learn
};

struct GenerateOptions {
  GraphKind kind = GraphKind::kRmat;
  std::uint64_t nodes = 0;  // at most: nodes that no edge has drawn are missing
  bool every_node = false;  // kRmat: edge i begins at node i while there are nodes left, so that none is missing
  std::uint64_t edges = 0;  // exactly
  std::uint64_t seed = 1;
  std::uint64_t relations = 10;  // kKg
  std::uint64_t types = 8;       // of nodes, kKg
  std::uint64_t blocks = 16;     // kSbm
  double mixing = 0.1;           // kSbm: share of edges between blocks; kKg: share of edges with a random tail
};

inline constexpr std::uint64_t kMaxGeneratedNodes = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kMaxGeneratedEdges = std::uint64_t{1} << 44;
inline constexpr std::uint64_t kMaxGeneratedRelations = 1'000'000;
inline constexpr std::uint64_t kMaxGeneratedTypes = 10'000;

// Checks the options, also in combination. Messages name the flags of the program.
absl::Status CheckGenerateOptions(const GenerateOptions& options);

struct GeneratedEdge {
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  std::uint64_t relation = 0;  // 0 if the kind has no relations

  friend bool operator==(const GeneratedEdge&, const GeneratedEdge&) = default;
};

// Constant after construction; any thread.
class EdgeGenerator {
 public:
  static constexpr std::uint64_t kBlockEdges = std::uint64_t{1} << 16;

  virtual ~EdgeGenerator() = default;
  EdgeGenerator(const EdgeGenerator&) = delete;
  EdgeGenerator& operator=(const EdgeGenerator&) = delete;

  std::uint64_t block_count() const { return (edges_ + kBlockEdges - 1) / kBlockEdges; }
  // Replaces `edges` with those of a block: kBlockEdges of them, fewer in the last block.
  // REQUIRES: block < block_count()
  void MakeBlock(std::uint64_t block, std::vector<GeneratedEdge>& edges) const;

 protected:
  explicit EdgeGenerator(const GenerateOptions& options)
      : seed_(options.seed), edges_(options.edges), fixed_heads_(options.every_node ? options.nodes : 0) {}
  // Random numbers for the graph's structure; edges use other streams.
  RandomStream StructureStream(std::uint64_t place) const;

 private:
  virtual void Draw(RandomStream& random, std::span<GeneratedEdge> edges) const = 0;

  std::uint64_t seed_;
  std::uint64_t edges_;
  std::uint64_t fixed_heads_;  // edges with smaller numbers begin at the node with their number
};

}  // namespace octavo
