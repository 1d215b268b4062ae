// What the ways to ask share: one question on the command line, many in a file, or a conversation at a prompt.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
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
#include "evaluate/nearest.h"
#include "index/cosine_index.h"
#include "nlohmann/json.hpp"
#include "train/trained_run.h"

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
};

struct Question {
  enum class Kind { kNeighbors, kPredict };
  Kind kind = Kind::kNeighbors;
  // The name of a node, or head, relation and tail; the tail is empty where two words were given: a head and a
  // relation, or the two ends where the graph has one relation only.
  std::array<std::string, 3> words;
  std::string known;  // "hide" or "mark"; empty: as QueryFlags has it
};

struct AnswerRow {
  std::string name;  // whole for JSON, otherwise as the table shows it
  float score = 0.0F;
  bool known = false;
};

struct Answer {
  Question question;            // with all words, and what becomes of known answers
  std::vector<AnswerRow> rows;  // best first
  std::uint64_t known = 0;      // of predict: nodes that answer it in the graph, hidden or marked
};

// What an answerer keeps to beside the flags.
struct AnswerLimits {
  std::uint64_t most_answers = 0;         // of a question
  std::uint64_t other_bytes = 0;          // what its caller holds, of --memory
  std::uint64_t suggesting = UINT64_MAX;  // refused questions that get near spellings of an unknown name
  std::function<bool()> stop = nullptr;   // SearchOptions::stop
};

// A run, and with --index an index, opened for questions within --memory. One thread asks.
class Answerer {
 public:
  // `program` and `flags` must outlive the answerer.
  static absl::StatusOr<Answerer> Open(Program& program, const QueryFlags& flags, AnswerLimits limits);

  // Returns up to k answers. A usage error is the question's own: a name that is not there, a word too few, or answers
  // whose names take more memory than there is.
  // REQUIRES: k <= most_answers
  absl::StatusOr<Answer> Ask(const Question& question, std::uint64_t k);

  // Returns the recall of the index (CosineIndex::Recall) within --memory. REQUIRES: an index; sample, k > 0
  double Recall(std::uint64_t sample, std::uint64_t k) const;

  // Warns, once, where a training committed meanwhile. For the end, or between two questions.
  absl::Status WarnOfCommits();

  const TrainedRun& run() const { return run_; }

 private:
  Answerer(Program& program, const QueryFlags& flags, AnswerLimits limits, TrainedRun run);
  absl::Status ShareMemory();
  bool Suggests() const { return refused_ < limits_.suggesting; }
  absl::StatusOr<Answer> Find(const Question& question, std::uint64_t k);
  absl::StatusOr<std::vector<ScoredNode>> Neighbors(const std::string& name, std::uint64_t k);
  absl::StatusOr<Predictions> Predict(const Question& question, std::uint64_t k);
  // Adds the rows' names.
  absl::Status NameRows(std::span<const NodeId> nodes, std::vector<AnswerRow>& rows);
  SearchOptions OptionsFor(std::uint64_t k) const;
  std::string_view NameOf(NodeId node);

  Program* program_;
  const QueryFlags* flags_;
  AnswerLimits limits_;
  TrainedRun run_;
  std::optional<CosineIndex> index_;
  std::uint64_t search_bytes_ = 0;
  std::uint64_t rest_bytes_ = 0;  // with an index: what nobody holds
  std::uint64_t refused_ = 0;     // questions
  std::uint64_t readings_ = 0;    // of names
  bool warned_ = false;
};

// Prints an answer as a table under a title.
void PrintAnswer(const QueryFlags& flags, const Answer& answer);
// Adds an answer to the keys of an object.
void AddAnswer(const QueryFlags& flags, const Answer& answer, nlohmann::ordered_json& object);
// Prints an object, on one line or, with `indent` >= 0, on many.
void PrintObject(const nlohmann::ordered_json& object, int indent = -1);

// The verbs' work. Questions of a file, one a line.
absl::Status RunBatch(Program& program, const QueryFlags& flags, const std::string& path);
// Whether there is a terminal to ask at.
bool CanPrompt();
// Questions of a terminal. No terminal is a usage error.
absl::Status RunPrompt(Program& program, const QueryFlags& flags);

}  // namespace octavo
