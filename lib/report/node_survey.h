// The degree and the norm of every node's embedding, and the nodes with the highest degrees. Makes one pass over the
// tables. The degrees of as many nodes as fit the memory are counted at once; each such part takes a pass over the
// training edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "evaluate/embedded_graph.h"

namespace octavo {

// The number of nodes for each range of degree and norm. The ranges of degrees are {0}, {1}, {2}, {3}, {4, 5}, {6, 7},
// {8 to 11}, {12 to 15} and so on, two for each doubling; norms have kNormSteps for each doubling.
class DegreeNorms {
 public:
  static constexpr int kNormSteps = 64;

  static std::size_t DegreeRange(std::uint64_t degree);
  static std::uint64_t LeastDegree(std::size_t range);  // the smallest degree in it

  DegreeNorms();
  void Add(std::uint64_t degree, double norm);

  struct Cell {
    std::size_t degree_range = 0;
    double norm_from = 0;
    double norm_to = 0;
    std::uint64_t nodes = 0;
  };
  // Returns the cells that are not empty, by degree and then norm. Merges neighbouring ranges of norms until at most
  // `most` are used.
  // REQUIRES: most > 0
  std::vector<Cell> Cells(std::size_t most) const;
  // The number of nodes with norm 0, which has no logarithm.
  std::uint64_t zeros() const { return zeros_; }

 private:
  std::vector<std::uint64_t> counts_;  // [degree ranges, norm ranges]
  std::uint64_t zeros_ = 0;
};

struct SurveyedNode {
  std::uint64_t node = 0;
  std::uint64_t degree = 0;

  friend bool operator==(const SurveyedNode&, const SurveyedNode&) = default;
};

struct SurveyOptions {
  std::uint64_t top = 0;                      // how many nodes with the highest degrees to return
  std::span<const std::uint64_t> first{};     // nodes, ascending, that come before all others
  std::uint64_t memory_bytes = 0;             // limit for what the survey holds
  std::function<void(double)> progress = {};  // called with the share done
};

struct NodeSurvey {
  DegreeNorms norms;
  std::vector<SurveyedNode> top;  // those of options.first, then others; by descending degree, then id
};

// The smallest SurveyOptions::memory_bytes that a survey respects.
std::uint64_t LeastSurveyMemory(const EmbeddedGraph& embedded, std::uint64_t top);

// A node's degree is the number of its training edges, in and out, with self-loops counted twice. The result is a
// function of graph, tables, options.top and options.first. Runs on the calling thread and one that reads ahead. A NaN
// or infinite value is an error that names its place.
absl::StatusOr<NodeSurvey> SurveyNodes(const EmbeddedGraph& embedded, const SurveyOptions& options);

}  // namespace octavo
