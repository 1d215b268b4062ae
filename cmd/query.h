// What the ways to ask share: one question on the command line, many in a file, or a conversation at a prompt.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
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
  // The name of a node, or head, relation and tail; the tail is empty where the graph has one relation only and it was
  // left out.
  std::array<std::string, 3> words;
};

struct AnswerRow {
  std::string name;
  float score = 0.0F;
  bool known = false;
};

struct Answer {
  Question question;            // with its relation
  std::vector<AnswerRow> rows;  // best first
};

// What an answerer keeps to beside the flags.
struct AnswerLimits {
  std::uint64_t most_answers = 0;         // of a question
  std::uint64_t other_bytes = 0;          // what its caller holds, of --memory
  bool predicts = true;                   // there may be questions for edges
  std::uint64_t suggesting = UINT64_MAX;  // refused questions that get near spellings of an unknown name
  std::function<bool()> stop = nullptr;   // SearchOptions::stop
};

// A run, and with --index an index, opened for questions within --memory. One thread asks.
class Answerer {
 public:
  // `program` and `flags` must outlive the answerer.
  static absl::StatusOr<Answerer> Open(Program& program, const QueryFlags& flags, AnswerLimits limits);

  // Returns up to k answers. A usage error is the question's own: a name that is not there, or a word too few.
  // REQUIRES: k <= most_answers
  absl::StatusOr<Answer> Ask(const Question& question, std::uint64_t k);

  // Warns, once, where a training committed meanwhile. For the end, or between two questions.
  absl::Status WarnOfCommits();

  const TrainedRun& run() const { return run_; }
  const std::optional<CosineIndex>& index() const { return index_; }

 private:
  Answerer(Program& program, const QueryFlags& flags, AnswerLimits limits, TrainedRun run);
  absl::Status ShareMemory();
  bool Suggests() const { return refused_ < limits_.suggesting; }
  absl::StatusOr<Answer> Find(const Question& question, std::uint64_t k);
  absl::StatusOr<std::vector<ScoredNode>> Neighbors(const std::string& name, std::uint64_t k);
  absl::StatusOr<std::vector<Prediction>> Predictions(const Question& question, std::uint64_t k);
  SearchOptions OptionsFor(std::uint64_t k) const;
  std::string NameOf(NodeId node);

  Program* program_;
  const QueryFlags* flags_;
  AnswerLimits limits_;
  TrainedRun run_;
  std::optional<CosineIndex> index_;
  std::uint64_t search_bytes_ = 0;
  std::uint64_t refused_ = 0;   // questions
  std::uint64_t readings_ = 0;  // of names
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
