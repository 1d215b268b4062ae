#include "train/team_restart.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "checkpoint/state_file.h"
#include "fmt/format.h"
#include "io/file.h"

namespace octavo {
namespace {

struct Newest {
  std::uint64_t there = 0;
  std::array<std::uint64_t, 2> run_id{};
  std::uint64_t generation = 0;
};

absl::StatusOr<Newest> NewestIn(const RunPaths& paths) {
  ASSIGN_OR_RETURN(const Manifest manifest, ReadNewestManifest(paths.State()));
  return Newest{.there = 1, .run_id = manifest.header.run_id, .generation = manifest.header.generation};
}

// The commit `generation` of the folder, which may have a newer one that is about to be taken back.
absl::StatusOr<Manifest> ManifestOf(const RunPaths& paths, std::uint64_t generation) {
  ASSIGN_OR_RETURN(const auto slots, ReadManifestSlots(paths.State()));
  const ManifestSlot& slot = slots[generation % 2];
  if (slot.state == ManifestSlot::State::kValid && slot.manifest.header.generation == generation) return slot.manifest;
  return CorruptError(fmt::format("{}: no commit of generation {}, which is the newest of another rank",
                                  paths.State().string(), generation));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Team>> MakeTeam(Ranks* ranks, const std::filesystem::path& folder, std::uint64_t lanes) {
  if (ranks == nullptr) return nullptr;
  const auto count = static_cast<std::uint64_t>(ranks->size());
  if (count > lanes) {
    return UsageError(fmt::format("{} ranks for {} lane{}; expected at most as many ranks as --lanes", count, lanes,
                                  lanes == 1 ? "" : "s"));
  }
  ASSIGN_OR_RETURN(std::vector<std::uint32_t> folders, FindFolders(*ranks, folder));
  return std::make_unique<Team>(*ranks, static_cast<std::uint32_t>(lanes), std::move(folders));
}

absl::Status CheckAlike(Team& team, const GraphDescription& graph, const TrainOptions& options) {
  MessageWriter mine;
  mine.Put(graph.fingerprint);
  mine.Put(ConfigurationHash(options));
  // No part of the configuration, but of where partitions are when, which all ranks plan.
  mine.Put(options.LoadsAhead());
  ASSIGN_OR_RETURN(const std::vector<Message> all, team.ranks().Together(mine.Take()));
  for (int rank = 0; rank < team.ranks().size(); ++rank) {
    MessageReader reader(all[static_cast<std::size_t>(rank)]);
    std::uint64_t fingerprint = 0;
    std::uint64_t hash = 0;
    bool ahead = false;
    RETURN_IF_ERROR(reader.Get(fingerprint));
    RETURN_IF_ERROR(reader.Get(hash));
    RETURN_IF_ERROR(reader.Get(ahead));
    if (fingerprint != graph.fingerprint) {
      return UsageError(
          fmt::format("rank {} has a graph with fingerprint {:016x}, rank {} one with {:016x}; expected "
                      "copies of one import",
                      team.ranks().NameOf(team.rank()), graph.fingerprint, team.ranks().NameOf(rank), fingerprint));
    }
    if (hash != ConfigurationHash(options)) {
      return UsageError(fmt::format("ranks {} and {} have different training options; expected the same",
                                    team.ranks().NameOf(team.rank()), team.ranks().NameOf(rank)));
    }
    if (ahead != options.LoadsAhead()) {
      return UsageError(fmt::format("--prefetch is off for one of the ranks {} and {}; expected it for both or none",
                                    team.ranks().NameOf(team.rank()), team.ranks().NameOf(rank)));
    }
  }
  return absl::OkStatus();
}

bool IsBeginning(const RunPaths& paths) {
  const absl::StatusOr<Manifest> manifest = ReadNewestManifest(paths.State());
  if (!manifest.ok()) return false;
  const Progress& progress = manifest->header.progress;
  return manifest->round.folder > 0 && manifest->header.generation == 1 && progress.epoch == 0 && progress.batch == 0;
}

absl::Status AgreeOnCommit(Ranks& ranks, const RunPaths& paths, bool writes_folder) {
  Newest mine;
  ASSIGN_OR_RETURN(const bool there, FileExists(paths.State()));
  if (there) {
    ASSIGN_OR_RETURN(mine, NewestIn(paths));
  }
  MessageWriter writer;
  writer.Put(mine);
  ASSIGN_OR_RETURN(const std::vector<Message> all, ranks.Together(writer.Take()));
  std::uint64_t smallest = ~std::uint64_t{0};
  std::vector<Newest> newest(all.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    RETURN_IF_ERROR(MessageReader(all[rank]).Get(newest[rank]));
    const std::string& name = ranks.NameOf(static_cast<int>(rank));
    if (newest[rank].there == 0) {
      return UsageError(fmt::format("{}: rank {} has no run there; expected the run's folder at rank 0",
                                    paths.folder().string(), name));
    }
    if (newest[rank].run_id != newest[0].run_id) {
      return UsageError(fmt::format("{}: rank {} has another run there than rank {}", paths.folder().string(), name,
                                    ranks.NameOf(0)));
    }
    smallest = std::min(smallest, newest[rank].generation);
  }
  for (std::size_t rank = 0; rank < newest.size(); ++rank) {
    if (newest[rank].generation <= smallest + 1) continue;
    return CorruptError(
        fmt::format("{}: rank {} has generation {}, another one {}; expected at most one more: one of "
                    "the folders is an older copy",
                    paths.folder().string(), ranks.NameOf(static_cast<int>(rank)), newest[rank].generation, smallest));
  }
  if (writes_folder) RETURN_IF_ERROR(RollBack(paths.State(), smallest));
  return ranks.Meet();
}

namespace {

constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 36;

// The files that each folder has whole, at the newest commit. There are no events before the first epoch.
absl::StatusOr<std::vector<std::filesystem::path>> CommonFiles(const RunPaths& paths, const Manifest& manifest) {
  const auto slot = static_cast<int>(manifest.header.relation_slot);
  std::vector<std::filesystem::path> files = {paths.Configuration(), paths.Table(TableName::kRelations, slot),
                                              paths.Table(TableName::kRelationOptimizer, slot)};
  ASSIGN_OR_RETURN(const bool has_events, FileExists(paths.Metrics()));
  if (has_events) files.push_back(paths.Metrics());
  if (manifest.round.open == 1) {
    files.push_back(paths.Table(TableName::kLaneRelations, slot));
    files.push_back(paths.Table(TableName::kLaneRelationOptimizer, slot));
  }
  return files;
}

}  // namespace

absl::Status ShareRun(Ranks& ranks, const RunPaths& paths) {
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> folders, FindFolders(ranks, paths.folder()));
  ASSIGN_OR_RETURN(const bool there, FileExists(paths.State()));
  Newest mine;
  if (there) {
    ASSIGN_OR_RETURN(mine, NewestIn(paths));
  }
  MessageWriter writer;
  writer.Put(mine);
  ASSIGN_OR_RETURN(const std::vector<Message> all, ranks.Together(writer.Take()));
  std::vector<bool> has;
  Newest shared;  // the commit that rank 0 and all others that have the run have
  for (const Message& message : all) {
    Newest its;
    RETURN_IF_ERROR(MessageReader(message).Get(its));
    has.push_back(its.there != 0);
    if (has.size() == 1) shared = its;
    if (its.there != 0 && its.run_id == shared.run_id) shared.generation = std::min(shared.generation, its.generation);
  }
  if (!has[0] || std::ranges::count(has, false) == 0) return absl::OkStatus();
  MessageWriter run;
  if (ranks.first()) {
    ASSIGN_OR_RETURN(const Manifest manifest, ManifestOf(paths, shared.generation));
    ASSIGN_OR_RETURN(const std::vector<std::filesystem::path> files, CommonFiles(paths, manifest));
    run.Put(std::uint64_t{files.size()});
    for (const std::filesystem::path& file : files) {
      ASSIGN_OR_RETURN(const std::string contents, ReadWholeFile(file, kMostFileBytes));
      run.PutText(file.filename().string());
      run.PutText(contents);
    }
    run.PutAll(std::span<const std::byte>(EncodeManifest(manifest)));
  }
  ASSIGN_OR_RETURN(const Message told, ranks.Tell(run.Take()));
  const auto own = static_cast<std::size_t>(ranks.rank());
  if (has[own] || FirstRankOf(folders, folders[own]) != ranks.rank()) return ranks.Meet();
  MessageReader reader(told);
  std::uint64_t count = 0;
  RETURN_IF_ERROR(reader.Get(count));
  RETURN_IF_ERROR(CreateFolders(paths.folder()));
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string name;
    std::string contents;
    RETURN_IF_ERROR(reader.GetText(name));
    RETURN_IF_ERROR(reader.GetText(contents));
    RETURN_IF_ERROR(WriteWholeFileAtomically(paths.folder() / name, contents));
  }
  std::vector<std::byte> encoded;
  RETURN_IF_ERROR(reader.GetAll(encoded));
  ASSIGN_OR_RETURN(Manifest manifest, DecodeManifest(encoded, paths.State().string()));
  // A number that no folder has.
  const std::uint32_t before = std::max<std::uint32_t>(1, manifest.round.folders);
  manifest.round.folder = before + static_cast<std::uint32_t>(ranks.rank());
  manifest.round.folders = before + static_cast<std::uint32_t>(ranks.size());
  RETURN_IF_ERROR(StateFile::Create(paths.State(), manifest).status());
  return ranks.Meet();
}

}  // namespace octavo
