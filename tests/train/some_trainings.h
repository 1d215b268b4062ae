// Trainings in which much can go wrong, and what they leave.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "format/paths.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "run/options.h"
#include "run/trained_run.h"
#include "tests/support/expect_status.h"
#include "tests/train/tiny_training.h"

namespace octavo {

// Options whose training is sensitive to everything that a stop could lose: Adam's count of steps, windows of several
// batches, the course of the learning rate.
inline TrainOptions TouchyOptions() {
  TrainOptions options = TinyOptions();
  options.optimizer = OptimizerKind::kAdam;
  options.accumulate = 3;
  options.batch = 9;
  options.chunk = 4;
  options.epochs = 4;
  options.learning_rate_schedule = LearningRateSchedule::kCosine;
  options.regularizer = RegularizerKind::kN3;
  options.regularization = 0.01;
  options.degree_fraction = 0.5;
  options.reciprocal = true;
  return options;
}

inline std::vector<TrainOptions> SomeTrainings() {
  TrainOptions plain = TinyOptions();
  TrainOptions rotate = TouchyOptions();
  rotate.model = ModelKind::kRotatE;
  rotate.loss = LossKind::kSelfAdversarial;
  TrainOptions dot = TinyOptions();
  dot.model = ModelKind::kDot;
  dot.optimizer = OptimizerKind::kSgd;
  dot.negatives = 0;
  TrainOptions words = TouchyOptions();
  words.storage = NpyElement::kBfloat16;
  TrainOptions words_at_once = words;
  words_at_once.accumulate = 1;
  TrainOptions one_chunk = TouchyOptions();
  one_chunk.accumulate = 1;
  one_chunk.batch = one_chunk.chunk = 3;
  one_chunk.epochs = 2;
  return {plain, TouchyOptions(), rotate, dot, words, words_at_once, one_chunk};
}

// The events of metrics.jsonl.
inline std::vector<nlohmann::json> Events(const std::filesystem::path& run) {
  std::vector<nlohmann::json> events;
  std::ifstream file(RunPaths(run).Metrics());
  for (std::string line; std::getline(file, line);) events.push_back(nlohmann::json::parse(line));
  return events;
}

inline bool AllFinite(const std::filesystem::path& folder) {
  const auto run = OpenTrainedRun(folder);
  EXPECT_OK(run);
  if (!run.ok()) return false;
  std::vector<float> rows(run->embeddings.rows() * run->embeddings.columns());
  EXPECT_OK(run->embeddings.ReadRows(0, rows));
  rows.insert(rows.end(), run->relations.begin(), run->relations.end());
  return std::all_of(rows.begin(), rows.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace octavo
