// Tiny graphs and short trainings for the tests of lib/train.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "graph/graph.h"
#include "import/importer.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"
#include "train/trainer.h"

namespace octavo {

struct TinyGraph {
  std::uint64_t nodes = 30;
  std::uint64_t relations = 3;
  std::uint64_t edges = 100;  // drawn; duplicates are merged
  bool weights = false;
  double weight_scale = 1;
  double valid_share = 0;
  std::uint64_t seed = 7;
};

inline constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40;

// Imports a random graph in which each node and each relation has an edge.
inline void MakeTinyGraph(const TinyGraph& graph, const std::filesystem::path& folder) {
  RandomStream random(graph.seed, RandomPurpose::kSplit, 0, 0);
  std::string text;
  for (std::uint64_t i = 0; i < graph.edges; ++i) {
    const std::uint64_t head = i < graph.nodes ? i : random.Below(graph.nodes);
    const std::uint64_t relation = i < graph.relations ? i : random.Below(graph.relations);
    text += fmt::format("n{}\tr{}\tn{}", head, relation, random.Below(graph.nodes));
    if (graph.weights)
      text += fmt::format("\t{}", graph.weight_scale * (0.2 + 1e-6 * static_cast<double>(random.Below(1'600'000))));
    text += '\n';
  }
  const std::filesystem::path file = folder.string() + ".tsv";
  WriteFileBytes(file, text);
  ImportOptions options;
  options.inputs = {file.string()};
  options.graph = folder;
  options.format = InputFormat::kTsv;
  if (graph.valid_share > 0) options.split = fmt::format("{},{},0", 1 - graph.valid_share, graph.valid_share);
  options.columns = graph.weights ? "head,relation,tail,weight" : "head,relation,tail";
  const auto summary = Import(options);
  ASSERT_OK(summary);
  ASSERT_EQ(summary->graph.node_count, graph.nodes);
}

// Options that give a tiny graph several chunks and batches, with short last ones.
inline TrainOptions TinyOptions() {
  TrainOptions options;
  options.dim = 8;
  options.negatives = 8;
  options.batch = 28;
  options.chunk = 6;
  options.epochs = 2;
  options.initial_scale = 0.3;
  options.learning_rate = 0.1;
  options.durability = Durability::kProcess;
  return options;
}

// The bytes by which the runs of two trainings are compared.
struct RunBytes {
  std::string embeddings;
  std::string optimizer;
  std::string relations;
  std::string relation_optimizer;

  friend bool operator==(const RunBytes&, const RunBytes&) = default;
};

inline RunBytes ReadRunBytes(const std::filesystem::path& folder) {
  const RunPaths paths(folder);
  return {FileBytes(paths.Table(TableName::kEmbeddings, 0)), FileBytes(paths.Table(TableName::kOptimizer, 0)),
          FileBytes(paths.Table(TableName::kRelations, 0)), FileBytes(paths.Table(TableName::kRelationOptimizer, 0))};
}

// The name of a run that no other has in this process.
inline std::string NextRunName() {
  static int count = 0;
  return "run" + std::to_string(++count);
}

// A folder with a graph, and runs next to it.
class TinyTraining {
 public:
  explicit TinyTraining(const TinyGraph& graph = {}) { MakeTinyGraph(graph, graph_folder()); }

  std::filesystem::path graph_folder() const { return folder_ / "graph"; }
  std::filesystem::path run_folder(const std::string& name = "run") const { return folder_ / name; }
  const TemporaryFolder& folder() const { return folder_; }

  absl::StatusOr<TrainOutcome> Start(const TrainOptions& options, const std::string& run = "run",
                                     const TrainSettings& settings = {.memory = kPlenty},
                                     const TrainCallbacks& callbacks = {}) const {
    return StartRun(graph_folder(), run_folder(run), options, /*overwrite=*/false, settings, callbacks);
  }
  absl::StatusOr<TrainOutcome> Resume(std::uint64_t epochs = 0, const std::string& run = "run",
                                      const TrainSettings& settings = {.memory = kPlenty},
                                      const TrainCallbacks& callbacks = {}) const {
    return ResumeRun(run_folder(run), epochs, settings, callbacks);
  }

  // The tables of an uninterrupted training.
  RunBytes Train(const TrainOptions& options, const std::string& run = "run") const {
    EXPECT_OK(Start(options, run));
    return ReadRunBytes(run_folder(run));
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace octavo
