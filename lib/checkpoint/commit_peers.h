// The other processes that train the same run on several machines, as a commit sees them.
//
// Each process holds the newest rows of some partitions, and those of a common folder write one pair of table files,
// each its own rows. The machines' folders are numbered; the first process of a folder writes what the folder has once:
// STATE, relations and events. Every folder's manifest is the same, so a commit of generation g + 1 needs three
// meetings: all rows are on the disks before any manifest names them (Gather); all manifests are on the disks before a
// slot of generation g is written again; and all processes know which slots are free before any of them sends rows to
// another. So generations differ by at most one, and the smallest is in every folder.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "format/manifest.h"
#include "tables/relation_table.h"

namespace octavo {

// One thread. All processes make the same calls in the same order.
class CommitPeers {
 public:
  virtual ~CommitPeers() = default;

  // The number of this process.
  virtual std::uint32_t number() const = 0;
  // Whether this process writes what its folder has once.
  virtual bool WritesFolder() const = 0;
  // The number of this process's folder, and how many there are.
  virtual std::uint32_t folder() const = 0;
  virtual std::uint32_t folders() const = 0;
  // The folder that a partition of a new run is in.
  virtual std::uint32_t FirstFolderOf(PartitionId partition) const = 0;

  // Gives the folders of a manifest that was read their present numbers. A usage error if rows are in a folder that no
  // process has.
  virtual absl::Status Adopt(Manifest& manifest) = 0;

  // Called when the rows of the partitions that this process holds (`held`) are on its disk. Completes `next` with the
  // records of all processes, and in an open round the relations of all lanes.
  virtual absl::Status Gather(const std::vector<bool>& held, Manifest& next, RelationTable& lane_relations,
                              RelationTable& lane_relation_optimizer) = 0;
  // Returns when all processes have called it.
  virtual absl::Status Meet() = 0;
};

}  // namespace octavo
