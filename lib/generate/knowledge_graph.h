// A knowledge graph with typed relations and a structure that a model can learn.
//
// Node n has type n mod `types`. The m-th node of a type (m = n / types) is in cluster m mod C; C is a type's number of
// nodes divided by kClusterNodes. Each relation r has a head type, a tail type and a shift. An edge is drawn
// as follows:
//
//   r      by Zipf's law over the relations
//   head   by Zipf's law over the nodes of r's head type
//   tail   from cluster (head's cluster + r's shift) mod C of r's tail type, by Zipf's law over its nodes;
//          or, in a share `mixing` of the edges, by Zipf's law over all nodes of r's tail type
//
// A model that has learned the clusters therefore ranks a tail among the nodes of one cluster, about kClusterNodes of
// them, in all edges except the share `mixing`. A model that knows only the types ranks it among nodes / types. TransE,
// RotatE and ComplEx can express adding a shift to a cluster exactly. Ranks are permuted, so that a node's number says
// nothing about its degree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generate/edge_generator.h"
#include "generate/permutation.h"
#include "generate/zipf.h"

namespace octavo {

// Makes no loops.
class KnowledgeGraph final : public EdgeGenerator {
 public:
  static constexpr std::uint64_t kClusterNodes = 16;

  explicit KnowledgeGraph(const GenerateOptions& options);

  std::uint64_t TypeOf(std::uint64_t node) const { return node % types_; }
  std::uint64_t ClusterOf(std::uint64_t node) const { return node / types_ % clusters_; }
  // REQUIRES: relation < the options' relations
  std::uint64_t HeadType(std::uint64_t relation) const { return relations_[relation].head_type; }
  std::uint64_t TailType(std::uint64_t relation) const { return relations_[relation].tail_type; }
  // Returns the cluster of the tails for heads in `head_cluster`.
  std::uint64_t TailCluster(std::uint64_t relation, std::uint64_t head_cluster) const {
    return (head_cluster + relations_[relation].shift) % clusters_;
  }

 private:
  struct Relation {
    std::uint64_t head_type = 0;
    std::uint64_t tail_type = 0;
    std::uint64_t shift = 0;  // below clusters_
  };

  void Draw(RandomStream& random, std::span<GeneratedEdge> edges) const override;
  std::uint64_t SizeOf(std::uint64_t type) const { return (nodes_ - type + types_ - 1) / types_; }
  std::uint64_t DrawOfType(std::uint64_t type, RandomStream& random) const;
  std::uint64_t DrawOfCluster(std::uint64_t type, std::uint64_t cluster, RandomStream& random) const;

  std::uint64_t nodes_;
  std::uint64_t types_;
  std::uint64_t clusters_;  // of each type
  std::uint64_t mixing_;    // as a fraction of 2^32
  std::vector<Relation> relations_;
  std::vector<Permutation> rank_to_node_;  // [types]
  Permutation rank_to_relation_;
  Zipf relation_ranks_;
  Zipf type_ranks_;     // of the largest type
  Zipf cluster_ranks_;  // of the largest cluster
};

}  // namespace octavo
