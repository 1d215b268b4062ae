// A random graph with random parameters, in memory for the oracle and on disk for the tested code.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/random.h"
#include "evaluate/embedded_graph.h"
#include "fmt/format.h"
#include "tests/evaluate/naive_ranking.h"
#include "tests/support/small_graph.h"

namespace octavo {

struct FixtureOptions {
  ModelSpec model{ModelKind::kComplEx, Norm::kL1, 6};
  bool reciprocal = false;
  std::uint64_t nodes = 12;
  std::uint32_t relations = 3;
  std::array<std::size_t, 3> edges = {40, 10, 10};  // train, valid, test; before duplicates are dropped
  // Parameters are whole numbers of [-range, range], so that scores are exact in any order of summation and often tie.
  // RotatE's phases are 0: other rotations are not exact.
  std::uint64_t range = 2;
  std::uint64_t seed = 1;
};

class EmbeddedFixture {
 public:
  explicit EmbeddedFixture(const FixtureOptions& options) {
    RandomStream random(options.seed, RandomPurpose::kSplit, 0, 0);
    const auto draw = [&] {
      return static_cast<float>(random.Below(2 * options.range + 1)) - static_cast<float>(options.range);
    };
    naive.spec = options.model;
    naive.reciprocal = options.reciprocal;
    naive.nodes = options.nodes;
    naive.relation_count = options.relations;
    naive.embeddings.resize(options.nodes * options.model.dim);
    std::generate(naive.embeddings.begin(), naive.embeddings.end(), draw);
    const std::size_t width = WidthOf(options.model);
    naive.relations.resize(options.relations * (options.reciprocal ? 2 : 1) * width);
    if (options.model.kind != ModelKind::kRotatE) std::generate(naive.relations.begin(), naive.relations.end(), draw);

    graph_.names = NumberedNames(options.nodes);
    graph_.relations.clear();
    for (std::uint32_t r = 0; r < options.relations; ++r) graph_.relations.push_back(fmt::format("r{}", 1000 + r));
    EdgeSet seen;
    const std::array<std::vector<Edge>*, 3> splits = {&graph_.train, &graph_.valid, &graph_.test};
    for (std::size_t split = 0; split < splits.size(); ++split) {
      for (std::size_t i = 0; i < options.edges[split]; ++i) {
        const Edge edge{NodeId{random.Below(options.nodes)}, NodeId{random.Below(options.nodes)},
                        RelationId{static_cast<std::uint32_t>(random.Below(options.relations))}, 1.0F};
        if (seen.insert({Value(edge.head), Value(edge.relation), Value(edge.tail)}).second) {
          splits[split]->push_back(edge);
        }
      }
    }
    Write();
  }

  // Writes the current graph and table.
  void Write() {
    opened_ = WriteGraph(graph_, folder_.path() / "graph");
    table_.emplace(WriteTable(naive.embeddings, naive.spec.dim, graph_.partition_rows, folder_.path()));
    filter = SetOf(std::array<std::vector<Edge>, 3>{graph_.train, graph_.valid, graph_.test});
  }

  EmbeddedGraph Embedded() const { return {*opened_, *table_, naive.relations, naive.spec, naive.reciprocal}; }
  SmallGraph& graph() { return graph_; }
  const Graph& opened() const { return *opened_; }
  const TemporaryFolder& folder() const { return folder_; }

  NaiveModel naive;
  EdgeSet filter;

 private:
  static std::size_t WidthOf(const ModelSpec& model) {
    if (model.kind == ModelKind::kDot || model.kind == ModelKind::kSourceContext) return 0;
    if (model.kind == ModelKind::kRescal) return model.dim * (model.block == 0 ? model.dim : model.block);
    return model.kind == ModelKind::kRotatE ? model.dim / 2 : model.dim;
  }

  TemporaryFolder folder_;
  SmallGraph graph_;
  std::unique_ptr<Graph> opened_;
  std::optional<TableReader> table_;
};

// Every model, small enough for exact whole-number scores.
inline std::vector<ModelSpec> AllModels() {
  return {{ModelKind::kSourceContext, Norm::kL1, 6}, {ModelKind::kDot, Norm::kL1, 5},
          {ModelKind::kDistMult, Norm::kL1, 5},      {ModelKind::kComplEx, Norm::kL1, 6},
          {ModelKind::kTransE, Norm::kL1, 5},        {ModelKind::kTransE, Norm::kL2, 5},
          {ModelKind::kRotatE, Norm::kL1, 2},        {ModelKind::kRotatE, Norm::kL2, 4},
          {ModelKind::kRescal, Norm::kL1, 3},        {ModelKind::kRescal, Norm::kL1, 6, 2}};
}

}  // namespace octavo
