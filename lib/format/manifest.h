// The manifest describes one commit of a run. RUN/STATE holds two manifests, generation g in slot g % 2.
//
// The file is two slots of ManifestSlotBytes(partitions) bytes each. A slot is, in little-endian order,
//   ManifestHeader, PartitionRecord[partition_count], XXH3-128 of all bytes before it (canonical order), zeros.
// That is version 2. Version 4 is of a run in lanes, and has LanesHeader and LaneRecord[lanes] after the partitions;
// version 3, which is read too, is the same without the sums of LaneRecord.
//
// A run on several machines without a common disk has a folder on each. The manifest is the same in all of them, except
// for LanesHeader::folder: it names all partitions, and for each the folder that has its rows.
// The checksum detects a torn manifest. Readers take the valid one with the higher generation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/npy_header.h"

namespace octavo {

// A run's progress: exactly the batches whose effects are in the tables that the manifest names.
struct Progress {
  std::uint64_t epoch = 0;          // epochs done
  std::uint64_t batch = 0;          // batches done in the current epoch
  std::uint64_t step = 0;           // updates since the start (Adam's count)
  std::uint64_t epoch_edges = 0;    // edges trained in the current epoch
  double epoch_loss = 0;            // summed over those edges, divided by the mean weight of all trained edges
  double epoch_penalty = 0;         // the same
  std::uint64_t metrics_bytes = 0;  // length of the part of metrics.jsonl that belongs to this commit
  // How the tables are divided (plan/epoch_plan.h), and since which epoch.
  std::uint64_t partitions = 1;
  std::uint64_t resident = 1;
  std::uint64_t plan_epoch = 0;

  friend bool operator==(const Progress&, const Progress&) = default;
};

// Results of the run's validations (run/validation.h); zeros if there was none.
struct ValidationProgress {
  double best_mrr = 0;
  std::uint32_t best_epoch = 0;       // epochs done at the best validation
  std::uint32_t validated_epoch = 0;  // epochs done at the last validation
  std::uint32_t falls = 0;            // reductions of the learning rate on plateaus
  std::uint32_t fall_epoch = 0;       // epochs done at the last reduction
  std::uint32_t patience_epoch = 0;   // patience counts from this epoch; set when a stopped run is resumed
  std::uint32_t reserved = 0;

  friend bool operator==(const ValidationProgress&, const ValidationProgress&) = default;
};

struct ManifestHeader {
  std::array<char, 8> magic{'O', 'C', 'T', 'V', 'S', 'T', 'A', 'T'};
  std::uint32_t version = 2;
  std::uint32_t partition_count = 0;
  std::array<std::uint64_t, 2> run_id{};  // random, given at the start of the run
  std::uint64_t generation = 0;           // from 1
  std::uint64_t configuration_hash = 0;
  std::uint64_t graph_fingerprint = 0;
  std::uint64_t rows = 0;
  std::uint64_t dim = 0;
  std::uint64_t state_width = 0;  // columns of the optimizer table
  std::uint64_t relation_rows = 0;
  std::uint64_t relation_width = 0;
  std::uint64_t relation_state_width = 0;
  std::uint64_t partition_rows = 0;
  std::uint64_t seed = 0;
  Progress progress;
  std::uint64_t relation_slot = 0;      // 0 or 1, of relations and relations.optimizer
  std::uint64_t relation_checksum = 0;  // XXH3-64 of the rows
  std::uint64_t relation_state_checksum = 0;
  std::uint64_t embedding_element = 0;  // NpyElement; 0 (float32) in runs from before there was a choice
  ValidationProgress validation;

  NpyElement element() const { return static_cast<NpyElement>(embedding_element); }
};

// One fine partition. Embedding rows and optimizer rows change slots together.
struct PartitionRecord {
  std::uint32_t slot = 0;        // 0 or 1
  std::uint32_t folder = 0;      // that has the rows; 0 unless the run is in several folders
  std::uint64_t generation = 0;  // of the commit that wrote the rows
  std::uint64_t embedding_checksum = 0;
  std::uint64_t state_checksum = 0;
};

// The versions that are read. A run has the older one unless it needs the newer.
inline constexpr std::uint32_t kManifestVersion = 2;
inline constexpr std::uint32_t kLanesManifestVersion = 4;
inline constexpr std::uint32_t kOldLanesManifestVersion = 3;
inline bool IsReadableManifest(std::uint32_t version) {
  return version >= kManifestVersion && version <= kLanesManifestVersion;
}

// The round of a run in lanes (plan/lane_schedule.h) that a commit is in.
struct LanesHeader {
  std::uint32_t lanes = 0;    // a power of two above 1
  std::uint32_t folders = 0;  // of the run, if there are several; otherwise 0
  std::uint32_t open = 0;     // 1: within a round, each lane has its own relations; 0: between two epochs
  std::uint32_t folder = 0;   // the number of this one
  std::uint64_t round = 0;    // of the epoch, if open

  friend bool operator==(const LanesHeader&, const LanesHeader&) = default;
};

// A lane in an open round; zeros otherwise. The checksums are XXH3-64 of the lane's rows in relations.lanes and
// relations.lanes.optimizer, in slot relation_slot.
struct LaneRecord {
  std::uint64_t batches = 0;  // that the lane has trained in the round
  std::uint64_t relation_checksum = 0;
  std::uint64_t relation_state_checksum = 0;
  // Sums over these batches: edges, and as in Progress. Progress::epoch_loss and epoch_penalty have the closed rounds,
  // and those of the open one are added lane by lane at its end, so that they do not depend on where lanes are trained.
  std::uint64_t edges = 0;
  double loss = 0;
  double penalty = 0;

  friend bool operator==(const LaneRecord&, const LaneRecord&) = default;
};

struct Manifest {
  ManifestHeader header;
  std::vector<PartitionRecord> partitions;
  LanesHeader round;              // of a run in lanes
  std::vector<LaneRecord> lanes;  // empty: a run without lanes

  // Whether the rows of a partition are in the folder of this manifest.
  bool IsHere(const PartitionRecord& record) const { return record.folder == round.folder; }
};

// A usage error if the rows of some partitions are in other folders of the run. `file_name` is for the message.
absl::Status CheckWholeRun(const Manifest& manifest, std::string_view file_name);

// Bytes of a manifest with its checksum. `lanes` is 0 without lanes.
std::uint64_t ManifestBytes(std::uint64_t partition_count, std::uint64_t lanes);

// Bytes of one slot: a multiple of 4,096.
std::uint64_t ManifestSlotBytes(std::uint64_t partition_count, std::uint64_t lanes);

// Returns the bytes of a slot, ManifestSlotBytes long. Sets header.partition_count, header.version and round.lanes.
std::vector<std::byte> EncodeManifest(const Manifest& manifest);

// Parses a slot. A corrupt-file error if the checksum does not match (a torn or never written slot) or if magic,
// version, sizes or slots are invalid. `file_name` is for messages.
absl::StatusOr<Manifest> DecodeManifest(std::span<const std::byte> slot, std::string_view file_name);

}  // namespace octavo
