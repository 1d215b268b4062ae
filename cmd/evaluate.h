// What octavo evaluate does beside ranking, and what its kinds share.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "cmd/program.h"
#include "cmd/run_flags.h"
#include "evaluate/classification.h"
#include "evaluate/link_prediction.h"
#include "nlohmann/json_fwd.hpp"

namespace octavo {

struct ClassificationFlags {
  std::string labels;  // file of labels; empty: no classification is asked for
  std::string part = "all";
  std::string label_test;  // file of the nodes to test; empty: random splits
  ClassificationOptions options;
};
absl::Status RunClassification(Program& program, const RunFlags& run, const ClassificationFlags& flags, bool json);

absl::Status RunLinkPrediction(Program& program, const RunFlags& run, const LinkPredictionOptions& options, bool json);

// Times an evaluation, and shows how far it is.
class EvaluationClock {
 public:
  // `what` is e.g. "ranking". `program` must outlive the clock.
  EvaluationClock(Program& program, std::string what) : program_(program), what_(std::move(what)) {}
  double Seconds() const;
  // Shows the share that is done and the time left, any thread.
  void Show(double share) const;

 private:
  Program& program_;
  const std::string what_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Adds the keys that every report ends with.
void AddRunKeys(nlohmann::ordered_json& object, const TrainedRun& run, double seconds);
void PrintReport(const nlohmann::ordered_json& object);

}  // namespace octavo
