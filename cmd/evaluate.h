// The kinds of octavo evaluate other than ranking, and what all kinds share.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cmd/program.h"
#include "cmd/run_flags.h"
#include "cmd/type_flags.h"
#include "evaluate/classification.h"
#include "evaluate/link_prediction.h"
#include "evaluate/node_labels.h"
#include "evaluate/ranking.h"
#include "nlohmann/json_fwd.hpp"

namespace octavo {

struct ClassificationFlags {
  std::string labels;  // file of labels; empty: no classification
  std::string part = "all";
  // Files of the nodes to train on and to test. One of them: the others do the other. None: random splits.
  std::string label_train;
  std::string label_test;
  ClassificationOptions options;
};
absl::Status RunClassification(Program& program, const RunFlags& run, const ClassificationFlags& flags, bool json);

// Of ranking and of link prediction.
struct HeldOutFlags {
  std::string split = "test";
  bool split_given = false;
  std::string candidates;  // file of nodes, or of questions with their candidates; empty: by options.candidates
  std::string negatives;   // file of edges, of link prediction; empty: random ones
  RankingOptions options;
  TypeFlags types;  // of ranking
};
absl::Status RunRanking(Program& program, const RunFlags& run, const HeldOutFlags& flags, bool json);
absl::Status RunLinkPrediction(Program& program, const RunFlags& run, const HeldOutFlags& flags, bool json);

// Returns the nodes of a file of names for --candidates, ascending; warns of those that the graph lacks. `what` is the
// command, for a message about --memory.
absl::StatusOr<std::vector<std::uint64_t>> ReadCandidates(Program& program, const std::string& what, TrainedRun& run,
                                                          const std::string& path);
absl::Status CheckCandidatesExist(const std::string& path);
void WarnOfUnknownNames(Program& program, const std::string& file, const UnknownNames& unknown, const Graph& graph);
Split SplitOf(const std::string& name);

// Measures the time of an evaluation and shows its progress.
class EvaluationClock {
 public:
  // `what` is e.g. "ranking". `program` must outlive the clock.
  EvaluationClock(Program& program, std::string what) : program_(program), what_(std::move(what)) {}
  double Seconds() const;
  // Shows the share done and the time left. Any thread.
  void Show(double share) const;

 private:
  Program& program_;
  const std::string what_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Adds the keys at the end of every report.
void AddRunKeys(nlohmann::ordered_json& object, const TrainedRun& run, double seconds);
void PrintReport(const nlohmann::ordered_json& object);

}  // namespace octavo
