// The steps of an import that does not fit its memory, from the name tables to the cells.
//
// The input is read in portions, as large as memory allows: the names of a portion go to a file as an extent sorted by
// hash, its edges with the places of their names in this extent. Then the extents of names are merged, which writes the
// nodes, and for each extent the ids of its names. With these, portion by portion, the edges get their ids, and batches
// of them are sorted by cell. Finally the cells are read from all batches and written. The files of the graph have the
// same bytes as those of an import in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/cell_spill.h"
#include "cells/edge_writer.h"
#include "cells/spill_file.h"
#include "format/paths.h"
#include "import/edge_collector.h"
#include "import/edge_encoder.h"
#include "import/edge_selection.h"
#include "import/id_map.h"
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

// Call the steps in the order of the functions. One owner. Each step frees the disk space that the next one does not
// need.
class SpilledImport {
 public:
  // Names of files in the folder. They exist only between creation and unlinking.
  static constexpr std::array<std::string_view, 4> kFileNames = {"names.spill", "edges.spill", "ids.spill",
                                                                 "sorted.spill"};

  using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

  // Makes the temporary files. `use` must outlive this object.
  static absl::StatusOr<std::unique_ptr<SpilledImport>> Create(SpilledImportOptions options, SpillUse& use);

  // Takes the nodes and edges out of `collected`, which keeps their memory for others; relations stay. `total_bytes` is
  // the size of the whole input, 0 if unknown, from which the error about a full disk estimates the space needed.
  // Parallel.
  absl::Status AddPortion(CollectedEdges& collected, std::uint64_t total_bytes);

  // Writes the node files. Empty if two names have the same hash; try another seed then.
  absl::StatusOr<std::optional<NodeArrays>> WriteNodes(const GraphPaths& paths, const Progress& progress);

  // Sets the final ids of the edges. `relations` ranks the relation names.
  absl::Status Encode(const NameRanking& relations, const PartitionLayout& partitions, const Progress& progress);

  absl::StatusOr<WrittenEdges> WriteCells(const GraphPaths& paths, const CellsHeader& layout, bool merge_duplicates,
                                          const Progress& progress);

  // Valid after the last AddPortion.
  const AssignedSplits& assigned() const { return assigned_; }
  const NameMarks& relation_marks() const { return relation_marks_; }
  // Valid after WriteNodes.
  std::uint64_t unseen_nodes() const { return unseen_nodes_; }
  // Valid after Encode.
  const std::array<std::uint64_t, 3>& unseen_edges() const { return encoded_.unseen; }

 private:
  SpilledImport(SpilledImportOptions options, SpillUse& use) : options_(std::move(options)), use_(use) {}
  absl::Status CheckStop() const;
  absl::Status CheckIndex(std::uint32_t partitions) const;
  // What the names of the relations, which stay in memory, leave of `bytes`.
  std::uint64_t Beside(std::uint64_t bytes) const;
  absl::Status Spill(CollectedEdges& collected, const NameMarks& marks, const NameRanking& ranking);
  // Passes the distinct names to `take`, ordered by hash; returns false if two have the same hash.
  absl::StatusOr<bool> MergeNameExtents(const NameVisit& take, const Progress& progress);
  // The ids of a portion's names, after the merges.
  absl::StatusOr<IdMap> IdsOf(std::size_t portion) const;
  // Estimates what the temporary files will take.
  void Expect(const CollectedEdges& collected, std::uint64_t total_bytes);
  std::uint64_t edges() const { return assigned_.edges[0] + assigned_.edges[1] + assigned_.edges[2]; }

  const SpilledImportOptions options_;
  SpillUse& use_;
  std::unique_ptr<SpillFile> names_;
  std::unique_ptr<SpillFile> edges_;
  std::unique_ptr<SpillFile> ids_;
  std::optional<CellSpill> cells_;
  std::vector<SpillExtent> portions_;      // of the edges
  std::vector<SpillExtent> name_extents_;  // of each portion, then also merged ones
  std::uint64_t spilled_names_ = 0;        // in the extents of all portions
  bool collides_ = false;                  // two names of a portion have the same hash
  // Of each extent of names, in the order in which they were made: its map, and the number of the extent into which it
  // was merged, whose places the map has.
  struct ExtentIds {
    StoredIdMap map;
    std::size_t into = kGraph;
  };
  static constexpr std::size_t kGraph = SIZE_MAX;  // merged last: the map has final ids
  std::vector<ExtentIds> maps_;
  std::uint64_t most_id_bytes_ = 0;  // of a portion's map in memory
  std::uint64_t relation_bytes_ = 0;
  NameMarks relation_marks_;
  AssignedSplits assigned_;
  std::uint64_t unseen_nodes_ = 0;
  EncodedEdges encoded_;
};

}  // namespace octavo
