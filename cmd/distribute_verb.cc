// octavo distribute: copies a graph to the machines of a job that lack it.

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/byte_size.h"
#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/job.h"
#include "cmd/program.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "graph/graph.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "train/team.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPieceBytes = std::uint64_t{8} << 20;

struct Copied {
  std::string name;
  std::uint64_t bytes = 0;
};

// The fingerprint of the graph in the folder; 0 if there is none.
absl::StatusOr<std::uint64_t> FingerprintIn(const std::string& folder) {
  ASSIGN_OR_RETURN(const bool there, FileExists(GraphPaths(folder).Description()));
  std::error_code ignored;
  if (!there && fs::exists(folder, ignored) && !fs::is_empty(folder, ignored)) {
    return UsageError(fmt::format("{}: is not a graph; expected a graph, or no folder", folder));
  }
  if (!there) return 0;
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(folder));
  return graph->description().fingerprint;
}

absl::StatusOr<std::vector<Copied>> FilesOf(const std::string& folder) {
  std::vector<Copied> files;
  for (const std::string& name : GraphPaths::FileNames()) {
    ASSIGN_OR_RETURN(const bool there, FileExists(fs::path(folder) / name));
    if (!there) continue;
    ASSIGN_OR_RETURN(const File file, File::OpenRead(fs::path(folder) / name));
    ASSIGN_OR_RETURN(const std::uint64_t bytes, file.Size());
    files.push_back({name, bytes});
  }
  return files;
}

// Rank 0 reads a file piece by piece, and whoever needs it writes it. All ranks meet after each piece, so that no rank
// has many of them in memory.
absl::Status CopyFile(Ranks& ranks, const fs::path& from, const Copied& copied, AtomicFolder* to) {
  File read;
  File written;
  if (ranks.first()) {
    ASSIGN_OR_RETURN(read, File::OpenRead(from / copied.name));
  }
  if (to != nullptr) {
    ASSIGN_OR_RETURN(written, File::CreateNew(to->path() / copied.name));
  }
  for (std::uint64_t offset = 0; offset < copied.bytes; offset += kPieceBytes) {
    Message piece;
    if (ranks.first()) {
      piece.resize(std::min(kPieceBytes, copied.bytes - offset));
      RETURN_IF_ERROR(read.ReadAt(offset, piece));
    }
    ASSIGN_OR_RETURN(piece, ranks.Tell(std::move(piece)));
    if (to != nullptr) RETURN_IF_ERROR(written.WriteAt(offset, piece));
    RETURN_IF_ERROR(ranks.Meet());
  }
  if (to == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(written.Sync());
  return written.Close();
}

absl::Status Distribute(Program& program, const std::string& folder) {
  RETURN_IF_ERROR(JoinJob(program));
  if (program.ranks == nullptr) {
    return UsageError(
        "distribute copies a graph between the ranks of a job; expected a launcher, as in mpirun -n 2 "
        "--hostfile hosts octavo distribute GRAPH");
  }
  Ranks& ranks = *program.ranks;
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> folders, FindFolders(ranks, folder));
  const auto own = static_cast<std::size_t>(ranks.rank());
  ASSIGN_OR_RETURN(const std::uint64_t fingerprint, FingerprintIn(folder));
  MessageWriter mine;
  mine.Put(fingerprint);
  ASSIGN_OR_RETURN(const std::vector<Message> all, ranks.Together(mine.Take()));
  std::vector<std::uint64_t> prints(all.size());
  RETURN_IF_ERROR(MessageReader(all[0]).Get(prints[0]));
  if (prints[0] == 0) return UsageError(fmt::format("{}: rank 0 has no graph there; expected a graph folder", folder));
  std::uint64_t lacking = 0;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    RETURN_IF_ERROR(MessageReader(all[rank]).Get(prints[rank]));
    if (prints[rank] != 0 && prints[rank] != prints[0]) {
      return UsageError(fmt::format("{}: rank {} has another graph there; expected the same graph, or no folder",
                                    folder, ranks.NameOf(static_cast<int>(rank))));
    }
    const bool first = FirstRankOf(folders, folders[rank]) == static_cast<int>(rank);
    lacking += prints[rank] == 0 && first ? 1 : 0;
  }
  MessageWriter list;
  if (ranks.first()) {
    ASSIGN_OR_RETURN(const std::vector<Copied> files, FilesOf(folder));
    list.Put(std::uint64_t{files.size()});
    for (const Copied& file : files) {
      list.PutText(file.name);
      list.Put(file.bytes);
    }
  }
  ASSIGN_OR_RETURN(const Message told, ranks.Tell(list.Take()));
  MessageReader reader(told);
  std::uint64_t count = 0;
  RETURN_IF_ERROR(reader.Get(count));
  std::unique_ptr<AtomicFolder> made;
  if (fingerprint == 0 && FirstRankOf(folders, folders[own]) == ranks.rank()) {
    ASSIGN_OR_RETURN(AtomicFolder place, AtomicFolder::Create(folder, /*overwrite=*/false, GraphPaths::FileNames()));
    made = std::make_unique<AtomicFolder>(std::move(place));
  }
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < count && lacking > 0; ++i) {
    Copied file;
    RETURN_IF_ERROR(reader.GetText(file.name));
    RETURN_IF_ERROR(reader.Get(file.bytes));
    program.reporter.Show({.phase = "copying " + file.name});
    RETURN_IF_ERROR(CopyFile(ranks, folder, file, made.get()));
    bytes += file.bytes;
  }
  if (made != nullptr) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, Graph::Open(made->path()));
    if (graph->description().fingerprint != prints[0]) {
      return RuntimeError(fmt::format("{}: arrived with fingerprint {:016x}; expected {:016x}", folder,
                                      graph->description().fingerprint, prints[0]));
    }
    RETURN_IF_ERROR(made->Commit());
  }
  RETURN_IF_ERROR(ranks.Meet());
  program.reporter.EndProgress();
  program.reporter.Info(lacking == 0 ? fmt::format("{}: every rank has it", folder)
                                     : fmt::format("{}: copied {} to {} folder{}", folder, FormatByteSize(bytes),
                                                   lacking, lacking == 1 ? "" : "s"));
  return absl::OkStatus();
}

}  // namespace

void AddDistributeVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand("distribute", "Copy a graph to the machines of an MPI job that lack it");
  const auto folder = std::make_shared<std::string>();
  RefuseEmpty(verb->add_option("graph", *folder, "Graph folder, under this name on every machine"))
      ->required()
      ->type_name("GRAPH");
  verb->footer("Start it with mpirun or srun, one rank on each machine.");
  verb->final_callback([&program, folder] { program.run = [folder](Program& p) { return Distribute(p, *folder); }; });
}

}  // namespace octavo
