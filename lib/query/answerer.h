// Answers questions to a run within a memory limit: neighbours of a node, likely ends of an edge, analogies.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "evaluate/nearest.h"
#include "evaluate/node_labels.h"
#include "evaluate/type_rules.h"
#include "index/cosine_index.h"
#include "query/opened_index.h"
#include "query/question.h"
#include "run/trained_run.h"

namespace octavo {

struct AnswererOptions {
  std::string verb = "query";      // the command, for messages about memory
  std::string folder = {};         // of the run, for messages
  std::uint64_t memory_bytes = 0;  // limit for all that the answerer and its run hold
  int threads = 1;                 // that one search may use
  bool complete_texts = false;     // names and labels of answers are complete; otherwise as tables show them
  // What questions that do not say otherwise have.
  std::string metric = "cosine";
  std::string known = "hide";
  std::string index = {};  // file; empty: none
  std::uint64_t ef = kDefaultEf;
  bool typed = false;
  bool may_be_typed = false;  // questions may have `typed` set even if the options do not
  double type_share = kTypeShare;
  std::optional<NodeLabels> types = {};  // given types of nodes
  // Limits.
  std::uint64_t most_answers = 0;         // per question
  std::uint64_t other_bytes = 0;          // held by the caller, out of memory_bytes
  std::uint64_t index_searches = 1;       // at the same time
  std::uint64_t suggesting = UINT64_MAX;  // failed questions for which similar names are suggested
  std::function<bool()> stop = nullptr;   // NodeSearchOptions::stop
};

// A run and, if asked for, an index, opened for questions. Questions for which PassesOver is true may be asked by one
// thread at a time; all others by any thread, `index_searches` of them at once.
class Answerer {
 public:
  static absl::StatusOr<Answerer> Open(TrainedRun run, AnswererOptions options);

  // Returns up to k answers. A usage error concerns only the question: an unknown name, a missing word, or answers
  // whose names need more memory than there is. `stop`, if set, is called during the search, also from other threads,
  // and ends it with a cancelled error.
  // REQUIRES: k <= most_answers; ef <= that of the options
  absl::StatusOr<Answer> Ask(const Question& question, std::uint64_t k, const std::function<bool()>& stop = nullptr);

  // Whether the question compares all vectors of the table.
  bool PassesOver(const Question& question) const;

  // Returns the recall of the index (CosineIndex::Recall) for searches by `threads` threads. REQUIRES: an index;
  // sample, k, threads > 0
  double Recall(std::uint64_t sample, std::uint64_t k, int threads) const {
    return index_->Recall(sample, k, options_.ef, threads);
  }

  const TrainedRun& run() const { return run_; }
  const CosineIndex* index() const { return index_ ? &*index_ : nullptr; }
  const AnswererOptions& options() const { return options_; }
  // Memory that a search may hold; with an index, what is left beside it.
  std::uint64_t search_bytes() const { return search_bytes_; }
  std::uint64_t rest_bytes() const { return rest_bytes_; }

 private:
  struct Counts {
    std::atomic<std::uint64_t> refused = 0;   // questions that failed
    std::atomic<std::uint64_t> readings = 0;  // names read
  };

  Answerer(TrainedRun run, AnswererOptions options);
  absl::Status ShareMemory();
  bool Suggests(const Answer& answer) const {
    return answer.question.suggest && counts_->refused < options_.suggesting;
  }
  absl::StatusOr<Answer> Find(const Question& question, std::uint64_t k, const std::function<bool()>& stop);
  // These replace labels among the words by names and set the labels.
  absl::StatusOr<std::vector<ScoredNode>> Neighbors(Answer& answer, const NodeSearchOptions& search);
  absl::StatusOr<std::vector<ScoredNode>> Analogy(Answer& answer, const NodeSearchOptions& search);
  absl::StatusOr<Predictions> Predict(Answer& answer, const NodeSearchOptions& search);
  // Returns the rule of types at the open end of a question; valid until the next call.
  absl::StatusOr<const TypeRules*> RulesFor(const LinkQuestion& link, const std::function<bool()>& stop);
  absl::StatusOr<NodeId> TakeNode(Answer& answer, std::size_t word);
  // Adds the rows' names.
  absl::Status NameRows(std::span<const NodeId> nodes, std::vector<AnswerRow>& rows);
  NodeSearchOptions OptionsFor(std::uint64_t k, const std::function<bool()>& stop) const;
  // The text as a row has it: escaped and short for a table, otherwise complete.
  absl::StatusOr<std::string> RowText(std::string_view text, std::uint64_t& bytes, std::uint64_t most) const;
  // Regularly drops the pages that names and labels were read from.
  void CountReading();
  std::uint64_t TypeCount() const { return options_.types ? options_.types->names.size() : 0; }

  AnswererOptions options_;
  TrainedRun run_;
  std::optional<CosineIndex> index_;
  std::map<std::uint64_t, TypeRules> rules_;  // of places that were asked about
  std::uint64_t rule_bytes_ = 0;
  std::uint64_t search_bytes_ = 0;
  std::uint64_t rest_bytes_ = 0;    // with an index: unused memory
  std::unique_ptr<Counts> counts_;  // a pointer, so that answerers can be moved
};

}  // namespace octavo
