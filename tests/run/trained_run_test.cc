#include "run/trained_run.h"

#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/train/tiny_training.h"

namespace octavo {
namespace {

TEST(OpenTrainedRun, GivesWhatTheFilesHold) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.reciprocal = true;
  const RunBytes bytes = training.Train(options);
  ASSERT_OK_AND_ASSIGN(const TrainedRun run, OpenTrainedRun(training.run_folder()));
  EXPECT_EQ(run.graph->node_count(), 30U);
  EXPECT_EQ(run.model.kind, options.model);
  EXPECT_EQ(run.model.dim, options.dim);
  EXPECT_TRUE(run.reciprocal);
  EXPECT_EQ(run.relation_rows, 6U);
  EXPECT_EQ(run.epochs_done, 2U);
  EXPECT_GE(run.generation, 3U);
  std::vector<float> rows(30 * options.dim);
  ASSERT_OK(run.embeddings.ReadRows(0, rows));
  EXPECT_EQ(std::memcmp(rows.data(), bytes.embeddings.data() + kNpyHeaderBytes, rows.size() * sizeof(float)), 0);
  ASSERT_EQ(run.relations.size(), 6 * options.dim);
  EXPECT_EQ(
      std::memcmp(run.relations.data(), bytes.relations.data() + kNpyHeaderBytes, run.relations.size() * sizeof(float)),
      0);
}

TEST(OpenTrainedRun, MakesFloatsOfBfloat16) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.storage = NpyElement::kBfloat16;
  const RunBytes bytes = training.Train(options);
  ASSERT_EQ(bytes.embeddings.size(), kNpyHeaderBytes + 30 * options.dim * 2);
  ASSERT_OK_AND_ASSIGN(const TrainedRun run, OpenTrainedRun(training.run_folder()));
  EXPECT_EQ(run.embeddings.element(), NpyElement::kBfloat16);
  std::vector<float> rows(30 * options.dim);
  ASSERT_OK(run.embeddings.ReadRows(0, rows));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &rows[i], sizeof(bits));
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.embeddings.data() + kNpyHeaderBytes + 2 * i, 2);
    ASSERT_EQ(bits, word << 16) << i;
  }
}

// During a training a reader gets the last commit, whichever slots it is in.
TEST(OpenTrainedRun, ReadsTheLastCommitBesideATraining) {
  const TinyTraining training;
  TrainOptions options = TinyOptions();
  options.epochs = 5;
  std::vector<std::string> seen;
  const auto read = [&] {
    ASSERT_OK_AND_ASSIGN(const TrainedRun run, OpenTrainedRun(training.run_folder()));
    std::vector<float> rows(30 * options.dim);
    ASSERT_OK(run.embeddings.ReadRows(0, rows));
    EXPECT_EQ(run.epochs_done, seen.size() + 1);
    seen.emplace_back(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(float));
  };
  ASSERT_OK(training.Start(options, "run", {.memory = kPlenty},
                           {.on_batch = {}, .on_epoch = [&](const EpochEvent&) { read(); }}));
  ASSERT_EQ(seen.size(), 5U);
  for (std::uint64_t epochs = 1; epochs <= 5; ++epochs) {
    options.epochs = epochs;
    const std::string name = "of" + std::to_string(epochs);
    EXPECT_EQ(training.Train(options, name).embeddings.substr(kNpyHeaderBytes), seen[epochs - 1]) << epochs;
  }
}

TEST(OpenTrainedRun, RefusesAnotherGraph) {
  const TinyTraining training;
  training.Train(TinyOptions());
  MakeTinyGraph({.seed = 8}, training.folder() / "another");
  EXPECT_ERROR(OpenTrainedRun(training.run_folder(), training.folder() / "another"), kCorrupt, "fingerprint");
  EXPECT_ERROR(OpenTrainedRun(training.run_folder(), training.folder() / "absent"), kUsage, "absent");
}

TEST(OpenTrainedRun, FindsAGraphThatMoved) {
  const TinyTraining training;
  training.Train(TinyOptions());
  std::filesystem::rename(training.graph_folder(), training.folder() / "moved");
  EXPECT_ERROR(OpenTrainedRun(training.run_folder()), kUsage, training.graph_folder().string());
  EXPECT_OK(OpenTrainedRun(training.run_folder(), training.folder() / "moved"));
}

TEST(OpenTrainedRun, RefusesAnotherConfiguration) {
  const TinyTraining training;
  training.Train(TinyOptions());
  const std::filesystem::path path = RunPaths(training.run_folder()).Configuration();
  nlohmann::json whole = nlohmann::json::parse(FileBytes(path));
  whole.erase("checksum");  // with one, a text that was changed is damaged
  for (const auto& [key, value] : {std::pair<std::string, nlohmann::json>{"dim", 16},
                                   {"seed", 99},
                                   {"model", "distmult"},
                                   {"reciprocal", true},
                                   {"learning-rate", 0.11}}) {
    nlohmann::json json = whole;
    json["options"][key] = value;
    WriteFileBytes(path, json.dump());
    EXPECT_ERROR(OpenTrainedRun(training.run_folder()), kCorrupt, "run.json") << key;
    EXPECT_ERROR(training.Resume(9), kCorrupt, "") << key;
  }
  nlohmann::json json = whole;
  json["options"]["epochs"] = 7;
  json["options"]["durability"] = "full";
  WriteFileBytes(path, json.dump());
  EXPECT_OK(OpenTrainedRun(training.run_folder()));
}

TEST(OpenTrainedRun, NoRunIsAUsageErrorAndADamagedOneIsNot) {
  const TinyTraining training;
  EXPECT_ERROR(OpenTrainedRun(training.run_folder()), kUsage, "run");
  EXPECT_ERROR(OpenTrainedRun(training.graph_folder()), kUsage, "is a graph, not a run");
  training.Train(TinyOptions());
  const RunPaths paths(training.run_folder());
  const auto damaged = [&](const std::filesystem::path& path) {
    const std::string whole = FileBytes(path);
    WriteFileBytes(path, whole.substr(0, whole.size() / 2));
    EXPECT_ERROR(OpenTrainedRun(training.run_folder()), kCorrupt, path.filename().string());
    WriteFileBytes(path, whole);
    EXPECT_OK(OpenTrainedRun(training.run_folder()));
  };
  damaged(paths.Table(TableName::kEmbeddings, 0));
  damaged(paths.Table(TableName::kRelations, 0));
  damaged(paths.Configuration());
  FlipByte(paths.Table(TableName::kRelations, 0), kNpyHeaderBytes + 5);
  EXPECT_ERROR(OpenTrainedRun(training.run_folder()), kCorrupt, "relations.npy");
}

}  // namespace
}  // namespace octavo
