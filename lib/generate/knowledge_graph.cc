#include "generate/knowledge_graph.h"

#include <algorithm>

namespace octavo {
namespace {

// Places of the structure's random streams. Relation r uses place r.
constexpr std::uint64_t kTypePlace = std::uint64_t{1} << 62;
constexpr std::uint64_t kRelationPlace = kTypePlace + 1;

Permutation MakePermutation(std::uint64_t count, RandomStream random) { return Permutation(count, random); }

// Returns a rank below `count`, drawn from `zipf`.
std::uint64_t DrawBelow(const Zipf& zipf, std::uint64_t count, RandomStream& random) {
  while (true) {
    if (const std::uint64_t rank = zipf.Draw(random); rank < count) return rank;
  }
}

}  // namespace

KnowledgeGraph::KnowledgeGraph(const GenerateOptions& options)
    : EdgeGenerator(options),
      nodes_(options.nodes),
      types_(options.types),
      clusters_(std::max<std::uint64_t>(1, nodes_ / types_ / kClusterNodes)),
      mixing_(static_cast<std::uint64_t>(options.mixing * 0x1.0p32)),
      rank_to_relation_(MakePermutation(options.relations, StructureStream(kRelationPlace))),
      relation_ranks_(options.relations),
      type_ranks_(SizeOf(0)),
      cluster_ranks_((SizeOf(0) + clusters_ - 1) / clusters_) {
  for (std::uint64_t relation = 0; relation < options.relations; ++relation) {
    RandomStream random = StructureStream(relation);
    const std::uint64_t head_type = random.Below(types_);
    const std::uint64_t tail_type = random.Below(types_);
    relations_.push_back({head_type, tail_type, random.Below(clusters_)});
  }
  RandomStream random = StructureStream(kTypePlace);
  for (std::uint64_t type = 0; type < types_; ++type) rank_to_node_.emplace_back(SizeOf(type), random);
}

std::uint64_t KnowledgeGraph::DrawOfType(std::uint64_t type, RandomStream& random) const {
  const std::uint64_t rank = DrawBelow(type_ranks_, SizeOf(type), random);
  return rank_to_node_[type](rank) * types_ + type;
}

std::uint64_t KnowledgeGraph::DrawOfCluster(std::uint64_t type, std::uint64_t cluster, RandomStream& random) const {
  const std::uint64_t members = (SizeOf(type) - cluster + clusters_ - 1) / clusters_;
  const std::uint64_t rank = DrawBelow(cluster_ranks_, members, random);
  // Each cluster starts its ranks at another member. Otherwise the lowest numbers of a type would be its most frequent
  // nodes.
  const std::uint64_t member = (rank + rank_to_node_[type](cluster)) % members;
  return (member * clusters_ + cluster) * types_ + type;
}

void KnowledgeGraph::Draw(RandomStream& random, std::span<GeneratedEdge> edges) const {
  for (GeneratedEdge& edge : edges) {
    edge.relation = rank_to_relation_(relation_ranks_.Draw(random));
    const std::uint64_t tail_type = TailType(edge.relation);
    edge.head = DrawOfType(HeadType(edge.relation), random);
    const std::uint64_t cluster = TailCluster(edge.relation, ClusterOf(edge.head));
    const bool any_cluster = random.Next32() < mixing_;
    do {
      edge.tail = any_cluster ? DrawOfType(tail_type, random) : DrawOfCluster(tail_type, cluster, random);
    } while (edge.tail == edge.head);
  }
}

}  // namespace octavo
