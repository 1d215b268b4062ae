// Degree against norm of every node's embedding, and the nodes of the highest degree: one pass over the tables, and one
// over the training edges for each part of the nodes whose degrees fit the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "evaluate/embedded_graph.h"

namespace octavo {

// How many nodes have a degree and a norm in which range. Ranges of degrees are {0}, {1}, {2}, {3}, {4, 5}, {6, 7},
// {8 to 11}, {12 to 15} and so on, two for each doubling; those of norms are kNormSteps for each.
class DegreeNorms {
 public:
  static constexpr int kNormSteps = 64;

  static std::size_t DegreeRange(std::uint64_t degree);
  static std::uint64_t LeastDegree(std::size_t range);  // the least that is in it

  DegreeNorms();
  void Add(std::uint64_t degree, double norm);

  struct Cell {
    std::size_t degree_range = 0;
    double norm_from = 0;
    double norm_to = 0;
    std::uint64_t nodes = 0;
  };
  // Returns the cells that are not empty, by degree and then norm: neighbouring ranges of norms are put together so
  // that those that occur are at most `most`. REQUIRES: most > 0
  std::vector<Cell> Cells(std::size_t most) const;
  // Nodes of norm 0, which has no logarithm.
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
  std::uint64_t top = 0;                      // nodes of the highest degree to name
  std::span<const std::uint64_t> first{};     // nodes, ascending, that go before all others
  std::uint64_t memory_bytes = 0;             // bound on what the survey holds
  std::function<void(double)> progress = {};  // called with the share that is done
};

struct NodeSurvey {
  DegreeNorms norms;
  std::vector<SurveyedNode> top;  // those of options.first before others, then by falling degree, then by id
};

// The least SurveyOptions::memory_bytes that a survey keeps to.
std::uint64_t LeastSurveyMemory(const EmbeddedGraph& embedded, std::uint64_t top);

// A node's degree is its training edges, in and out, a self-loop counted twice. The result is a function of graph,
// tables and options.top and first. Runs on the calling thread and one that reads ahead. A NaN or infinite value is an
// error that names its place.
absl::StatusOr<NodeSurvey> SurveyNodes(const EmbeddedGraph& embedded, const SurveyOptions& options);

}  // namespace octavo
