// The steps of an import that does not fit its memory, from the tables of names to the cells.
//
// While the input is read, generations of names and edges go to files: names in runs sorted by hash, edges with the
// hashes of their names. Then the runs of names are merged, which writes the nodes; the edges are joined with the
// ranks of the hashes, batch by batch, each batch sorted into a run; and the runs of edges are merged, which writes the
// cells. The files of the graph have the same bytes as those of an import in memory.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/edge_writer.h"
#include "cells/spill_file.h"
#include "format/paths.h"
#include "import/edge_collector.h"
#include "import/edge_encoder.h"
#include "import/edge_selection.h"
#include "import/name_marks.h"
#include "import/name_ranking.h"
#include "import/name_spill.h"
#include "import/node_writer.h"

namespace octavo {

struct SpilledImportOptions {
  std::filesystem::path folder;  // for the temporary files
  SelectionRules rules;
  NameHash hash = nullptr;
  std::uint64_t hash_seed = 0;
  std::uint64_t encode_bytes = 0;  // as in MemoryPlan
  std::uint64_t merge_bytes = 0;
  std::function<bool()> stop;  // may be empty
};

// Steps in the order of the functions, one owner. Each gives back the disk space that the next does not need.
class SpilledImport {
 public:
  // Names that files have in the folder, for the moment between their creation and their unlinking.
  static constexpr std::array<std::string_view, 4> kFileNames = {"names.spill", "edges.spill", "in_train.spill",
                                                                 "runs.spill"};

  using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

  // Makes the temporary files. `use` must outlive the import.
  static absl::StatusOr<std::unique_ptr<SpilledImport>> Create(SpilledImportOptions options, SpillUse& use);

  // Takes the nodes and edges out of `collected` and gives their memory back; relations stay. `total_bytes` are those
  // of the whole input, 0 if it is not known: an error about a full disk tells from them how much is needed. Parallel.
  absl::Status AddGeneration(CollectedEdges& collected, std::uint64_t total_bytes);

  // Writes the node files; empty if two names have the same hash, and then another seed has to be tried.
  absl::StatusOr<std::optional<NodeArrays>> WriteNodes(const GraphPaths& paths, const Progress& progress);

  // Gives the edges their ids. `relations` ranks those of Relations().
  absl::Status Encode(const GraphPaths& paths, const NameRanking& relations, const PartitionLayout& partitions,
                      const Progress& progress);

  absl::StatusOr<WrittenEdges> WriteCells(const GraphPaths& paths, const CellsHeader& layout, bool merge_duplicates,
                                          const Progress& progress);

  // Valid from the last AddGeneration on.
  const AssignedParts& parts() const { return parts_; }
  const NameMarks& relation_marks() const { return relation_marks_; }
  // Valid from WriteNodes on.
  std::uint64_t unseen_nodes() const { return unseen_nodes_; }
  // Valid from Encode on.
  const std::array<std::uint64_t, 3>& unseen_edges() const { return encoded_.unseen; }

 private:
  SpilledImport(SpilledImportOptions options, SpillUse& use) : options_(std::move(options)), use_(use) {}
  absl::Status CheckStop() const;
  absl::Status CheckIndex() const;
  // What the names of the relations, which stay in memory, leave of `bytes`.
  std::uint64_t Beside(std::uint64_t bytes) const;
  // Gives the different names to `take`, by hash; false if two have the same.
  absl::StatusOr<bool> MergeNameRuns(const std::function<absl::Status(const SpilledName&)>& take,
                                     const Progress& progress);
  // Says what the temporary files are going to take.
  void Expect(const CollectedEdges& collected, std::uint64_t total_bytes);
  std::uint64_t edges() const { return parts_.edges[0] + parts_.edges[1] + parts_.edges[2]; }

  const SpilledImportOptions options_;
  SpillUse& use_;
  std::unique_ptr<SpillFile> names_;
  std::unique_ptr<SpillFile> edges_;
  std::unique_ptr<SpillFile> in_train_;
  std::unique_ptr<SpillFile> runs_;
  std::vector<SpillExtent> name_runs_;
  std::uint64_t spilled_names_ = 0;  // of all runs
  std::uint64_t relation_bytes_ = 0;
  NameMarks relation_marks_;
  AssignedParts parts_;
  std::uint64_t node_count_ = 0;
  std::uint64_t unseen_nodes_ = 0;
  EncodedEdges encoded_;
};

}  // namespace octavo
