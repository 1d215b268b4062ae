// What the ways of asking share: one question on the command line, many in a file, or an interactive prompt.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "cmd/index.h"
#include "cmd/program.h"
#include "cmd/run_flags.h"
#include "cmd/type_flags.h"
#include "evaluate/nearest.h"
#include "evaluate/node_labels.h"
#include "evaluate/type_rules.h"
#include "index/cosine_index.h"
#include "nlohmann/json.hpp"
#include "run/trained_run.h"

namespace octavo {

inline constexpr std::string_view kAsked = "?";

struct QueryFlags {
  RunFlags run;
  std::uint64_t k = 10;
  bool json = false;
  // of neighbors
  std::string metric = "cosine";
  std::string index;
  std::uint64_t ef = kDefaultEf;
  // of predict
  std::string known = "hide";
  TypeFlags types;
};

struct Question {
  enum class Kind { kNeighbors, kPredict };
  Kind kind = Kind::kNeighbors;
  // The name of a node, or head, relation and tail. With only two words the tail is empty: they are a head and a
  // relation, or the two ends if the graph has only one relation.
  std::array<std::string, 3> words;
  std::string known;   // "hide" or "mark"; empty: as in QueryFlags
  bool typed = false;  // also if QueryFlags say so
};

struct AnswerRow {
  std::string name;   // complete for JSON, otherwise as the table shows it
  std::string label;  // the same; empty for none
  float score = 0.0F;
  bool known = false;
  bool plausible = true;
};

struct Answer {
  Question question;        // with all words, as names where they were labels, and the treatment of known answers
  bool has_labels = false;  // the graph
  std::array<std::string, 3> labels;  // of the words; empty for none
  std::vector<AnswerRow> rows;        // best first
  std::uint64_t known = 0;            // for predict: nodes that answer it in the graph, hidden or marked
};

// Limits of an answerer in addition to the flags.
struct AnswerLimits {
  std::uint64_t most_answers = 0;         // per question
  std::uint64_t other_bytes = 0;          // held by its caller, out of --memory
  std::uint64_t suggesting = UINT64_MAX;  // failed questions for which similar names are suggested
  // A node without a training edge gets a note; looking for one reads training edges. For people, who ask few
  // questions.
  bool notes_untrained = false;
  std::function<bool()> stop = nullptr;  // NodeSearchOptions::stop
};

// A run and, with --index, an index, opened for questions within --memory. One thread may ask.
class Answerer {
 public:
  // `program` and `flags` must outlive the answerer.
  static absl::StatusOr<Answerer> Open(Program& program, const QueryFlags& flags, AnswerLimits limits);

  // Returns up to k answers. A usage error concerns only the question: an unknown name, a missing word, or answers
  // whose names need more memory than there is.
  // REQUIRES: k <= most_answers
  absl::StatusOr<Answer> Ask(const Question& question, std::uint64_t k);

  // Returns the recall of the index (CosineIndex::Recall) within --memory. REQUIRES: an index; sample, k > 0
  double Recall(std::uint64_t sample, std::uint64_t k) const;

  // Warns, once, if a training has committed since. Call it at the end or between two questions.
  absl::Status WarnOfCommits();

  const TrainedRun& run() const { return run_; }

 private:
  Answerer(Program& program, const QueryFlags& flags, AnswerLimits limits, TrainedRun run);
  absl::Status ShareMemory();
  bool Suggests() const { return refused_ < limits_.suggesting; }
  absl::StatusOr<Answer> Find(const Question& question, std::uint64_t k);
  // Both replace labels among the words by names and set the labels.
  absl::StatusOr<std::vector<ScoredNode>> Neighbors(Answer& answer, std::uint64_t k);
  absl::StatusOr<Predictions> Predict(Answer& answer, std::uint64_t k);
  // Returns the rule of types at the open end of a question; valid until the next call.
  absl::StatusOr<const TypeRules*> RulesFor(const LinkQuestion& link);
  absl::StatusOr<NodeId> TakeNode(Answer& answer, std::size_t word);
  // Adds the rows' names.
  absl::Status NameRows(std::span<const NodeId> nodes, std::vector<AnswerRow>& rows);
  NodeSearchOptions OptionsFor(std::uint64_t k) const;
  // The text as a row has it: escaped and short for a table, otherwise complete.
  absl::StatusOr<std::string> RowText(std::string_view text, std::uint64_t& bytes, std::uint64_t most) const;
  // Regularly drops the pages that names and labels were read from.
  void CountReading();

  Program* program_;
  const QueryFlags* flags_;
  AnswerLimits limits_;
  TrainedRun run_;
  std::optional<CosineIndex> index_;
  std::optional<NodeLabels> types_;           // of nodes, given by --types
  std::map<std::uint64_t, TypeRules> rules_;  // of places that were asked about
  std::uint64_t rule_bytes_ = 0;
  std::uint64_t search_bytes_ = 0;
  std::uint64_t rest_bytes_ = 0;  // with an index: unused memory
  std::uint64_t refused_ = 0;     // questions that failed
  std::uint64_t readings_ = 0;    // number of names read
  bool warned_ = false;
};

// Prints an answer as a table under a title.
void PrintAnswer(const QueryFlags& flags, const Answer& answer);
// Adds an answer to the keys of an object.
void AddAnswer(const QueryFlags& flags, const Answer& answer, nlohmann::ordered_json& object);
// Prints an object, on one line or, with `indent` >= 0, on many.
void PrintObject(const nlohmann::ordered_json& object, int indent = -1);

// The work of the verbs. RunBatch: questions of a file, one per line.
absl::Status RunBatch(Program& program, const QueryFlags& flags, const std::string& path);
// Whether standard input and output are a terminal.
bool CanPrompt();
// Questions typed at a terminal. Without a terminal it is a usage error.
absl::Status RunPrompt(Program& program, const QueryFlags& flags);

}  // namespace octavo
