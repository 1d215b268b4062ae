// The filter of filtered ranking (Bordes et al., NIPS 2013): for each question (known node, relation, side), the nodes
// that answer it in train, valid or test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "graph/graph.h"
#include "model/model_spec.h"

namespace octavo {

// Side::kTail asks (known, relation, ?), Side::kHead asks (?, relation, known).
struct LinkQuestion {
  NodeId known{};
  RelationId relation{};
  Side side = Side::kTail;

  friend auto operator<=>(const LinkQuestion&, const LinkQuestion&) = default;
  template <typename H>
  friend H AbslHashValue(H hash, const LinkQuestion& question) {
    return H::combine(std::move(hash), Value(question.known), Value(question.relation), question.side == Side::kHead);
  }
};

// Different questions and the index of each. Constant after construction; any thread.
class QuestionIndex {
 public:
  // Sorts the questions and drops the repeated ones.
  explicit QuestionIndex(std::vector<LinkQuestion> questions);

  static constexpr std::uint32_t kAbsent = UINT32_MAX;
  std::size_t size() const { return questions_.size(); }
  const LinkQuestion& operator[](std::size_t index) const { return questions_[index]; }
  // Returns the index of `question`, or kAbsent.
  std::uint32_t Find(const LinkQuestion& question) const;

 private:
  std::vector<LinkQuestion> questions_;
  absl::flat_hash_map<LinkQuestion, std::uint32_t> index_;
};

// Ascending, different node ids for each question. Constant after Gather; any thread.
class KnownAnswers {
 public:
  // Streams the edges of all three splits, in parallel, and keeps the answers in partitions [first, last) of the graph
  // to `questions`. Cells that can hold none are not read. Memory: at most 16 bytes for each edge in those cells, twice
  // that while gathering.
  static absl::StatusOr<KnownAnswers> Gather(const Graph& graph, const QuestionIndex& questions,
                                             std::uint32_t first_partition, std::uint32_t last_partition);

  // REQUIRES: question < the questions' size()
  std::span<const std::uint64_t> Of(std::size_t question) const {
    return std::span(nodes_).subspan(offsets_[question], offsets_[question + 1] - offsets_[question]);
  }

 private:
  std::vector<std::uint64_t> offsets_;  // [questions + 1]
  std::vector<std::uint64_t> nodes_;
};

// Returns the number of edges of all three splits with an end in partitions [first, last): a bound on the answers that
// Gather keeps for each side.
std::uint64_t EdgesOfPartitions(const Graph& graph, std::uint32_t first_partition, std::uint32_t last_partition);

}  // namespace octavo
