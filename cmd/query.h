// What the ways of asking share: one question on the command line, many in a file, or an interactive prompt.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "cmd/index.h"
#include "cmd/program.h"
#include "cmd/run_flags.h"
#include "cmd/type_flags.h"
#include "nlohmann/json.hpp"
#include "query/answerer.h"

namespace octavo {

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

// Limits of an answerer in addition to the flags.
struct AnswerLimits {
  std::uint64_t most_answers = 0;         // per question
  std::uint64_t other_bytes = 0;          // held by its caller, out of --memory
  std::uint64_t suggesting = UINT64_MAX;  // failed questions for which similar names are suggested
  std::function<bool()> stop = nullptr;   // NodeSearchOptions::stop
};

// Opens the run of `flags` and its index for questions.
absl::StatusOr<Answerer> OpenAnswerer(Program& program, const QueryFlags& flags, const AnswerLimits& limits);

// Returns the recall of the index within --memory. REQUIRES: an index; sample, k > 0
double IndexRecall(const Program& program, const Answerer& answerer, std::uint64_t sample, std::uint64_t k);

// Warns, once, if a training has committed since the run was opened. Its arguments must outlive it.
class CommitWarning {
 public:
  CommitWarning(Program& program, const RunFlags& flags, const Answerer& answerer)
      : program_(program), flags_(flags), answerer_(answerer) {}
  // Call it at the end or between two questions.
  absl::Status Show();

 private:
  Program& program_;
  const RunFlags& flags_;
  const Answerer& answerer_;
  bool shown_ = false;
};

// Says which nodes of an answered question have no training edge; looking for one reads training edges. For people, who
// ask few questions.
absl::Status NoteUntrainedNodes(Program& program, const Answerer& answerer, const Question& question);
// Prints an answer as a table under a title.
void PrintAnswer(const Answer& answer);
// Prints an object, on one line or, with `indent` >= 0, on many.
void PrintObject(const nlohmann::ordered_json& object, int indent = -1);

// The work of the verbs. RunBatch: questions of a file, one per line.
absl::Status RunBatch(Program& program, const QueryFlags& flags, const std::string& path);
// Whether standard input and output are a terminal.
bool CanPrompt();
// Questions typed at a terminal. Without a terminal it is a usage error.
absl::Status RunPrompt(Program& program, const QueryFlags& flags);

}  // namespace octavo
