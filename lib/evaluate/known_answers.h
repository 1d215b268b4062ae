// The filter for filtered ranking (Bordes et al., NIPS 2013): for each question (anchor, relation, side), the nodes
// that answer it in train, valid or test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

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
};

// Distinct questions and the index of each. Constant after construction; any thread.
class QuestionIndex {
 public:
  // Sorts the questions and removes duplicates.
  explicit QuestionIndex(std::vector<LinkQuestion> questions);

  static constexpr std::uint32_t kAbsent = UINT32_MAX;
  std::size_t size() const { return questions_.size(); }
  const LinkQuestion& operator[](std::size_t index) const { return questions_[index]; }
  // Returns the index of `question`, or kAbsent.
  std::uint32_t Find(const LinkQuestion& question) const;

 private:
  // Returns the slot where the search for `question` begins.
  std::size_t SlotOf(const LinkQuestion& question) const;
  std::size_t After(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

  std::vector<LinkQuestion> questions_;
  // Indices, or kAbsent. Open addressing with linear probing, at most half full; several threads can fill it.
  std::vector<std::uint32_t> slots_;
};

// The nodes with ids in [first, last).
struct AnswerRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  std::uint64_t size() const { return last - first; }
  bool Contains(NodeId node) const { return Value(node) >= first && Value(node) < last; }
  friend bool operator==(const AnswerRange&, const AnswerRange&) = default;
};

// Ascending, distinct node ids for each question. Constant after Gather; any thread.
class KnownAnswers {
 public:
  // Memory of one answer, including its copies while gathering.
  static constexpr std::uint64_t kBytes = 64;

  // Reads the edges of all three splits, in parallel, and keeps the answers to `questions` among `nodes`. Skips cells
  // that cannot hold answers. Returns empty, as early as possible, if there are more than `max_answers`, counting
  // repeated ones each time.
  // REQUIRES: nodes.last <= graph.node_count()
  static absl::StatusOr<std::optional<KnownAnswers>> Gather(const Graph& graph, const QuestionIndex& questions,
                                                            const AnswerRange& nodes, std::uint64_t max_answers);

  // REQUIRES: question < the questions' size()
  std::span<const std::uint64_t> Of(std::size_t question) const {
    return {nodes_.get() + begins_[question], nodes_.get() + ends_[question]};
  }

 private:
  std::vector<std::uint64_t> begins_;  // of each question's nodes in nodes_
  std::vector<std::uint64_t> ends_;
  std::unique_ptr<std::uint64_t[]> nodes_;
};
}  // namespace octavo
