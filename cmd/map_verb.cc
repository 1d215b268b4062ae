// octavo map: gives every node of a run a point in the plane.

#include <CLI/App.hpp>
#include <array>
#include <filesystem>
#include <memory>
#include <string>

#include "base/byte_size.h"
#include "base/count_text.h"
#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/interrupt.h"
#include "cmd/limits.h"
#include "cmd/opened_run.h"
#include "cmd/output_target.h"
#include "cmd/program.h"
#include "cmd/reading_memory.h"
#include "cmd/run_flags.h"
#include "export/output_file.h"
#include "fmt/format.h"
#include "format/index_header.h"
#include "layout/map_file.h"
#include "layout/node_map.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMostEpochs = 100'000;
constexpr std::uint64_t kMostNeighbors = 256;

struct MapFlags {
  RunFlags run;
  std::string run_place;  // the positional; empty if --run was given
  std::string output;
  std::string kind = "neighbors";
  std::uint64_t seed = 1;
  std::uint64_t epochs = 1000;
  std::uint64_t neighbors = 15;
  std::string of_neighbors;  // a flag that was given and that only --kind neighbors has
};

// The header is committed last: a map without its header, or with that of another file, is rejected.
absl::Status WriteFiles(const NodeMap& map, const MapFlags& flags, const TrainedRun& run, MapKind kind,
                        OutputFile& output, OutputFile& beside) {
  MapHeader header = {
      .kind = kind, .run_id = run.run_id, .generation = run.generation, .variance_shares = map.variance_shares};
  if (kind == MapKind::kNeighbors) {
    header.seed = flags.seed;
    header.epochs = static_cast<std::uint32_t>(flags.epochs);
    header.neighbors = static_cast<std::uint32_t>(flags.neighbors);
  }
  ASSIGN_OR_RETURN(header, WriteMap(map.points, header, output));
  RETURN_IF_ERROR(beside.Append(EncodeMapHeader(header)));
  return OutputFile::CommitAll(std::array{&output, &beside});
}

absl::Status RunMap(Program& program, MapFlags& flags) {
  if (flags.run.run.empty()) flags.run.run = flags.run_place;
  if (flags.run.run.empty()) return UsageError("RUN is required: the run folder, alone or after --run");
  if (flags.kind == "pca" && !flags.of_neighbors.empty()) {
    return UsageError(
        fmt::format("{}: found --kind pca, which moves no node; expected --kind neighbors", flags.of_neighbors));
  }
  EndOnInterrupt end(program, flags.output);
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(program, flags.run));
  RETURN_IF_ERROR(CheckRegularTarget("a map", flags.output, MapHeaderPath(flags.output), flags.run, *run.graph));
  const std::uint64_t nodes = run.graph->node_count();
  if (nodes > kMaxIndexNodes) {
    return UsageError(fmt::format("a map of {} nodes; expected at most {}", nodes, kMaxIndexNodes));
  }
  MapOptions options = {.kind = flags.kind == "pca" ? MapKind::kPrincipal : MapKind::kNeighbors,
                        .seed = flags.seed,
                        .epochs = static_cast<std::uint32_t>(flags.epochs),
                        .neighbors = static_cast<std::uint32_t>(flags.neighbors),
                        .threads = ThreadCount(program)};
  ASSIGN_OR_RETURN(const ReadingMemory memory,
                   ShareReadingMemory(program, "map", run, LeastMapBytes(EmbeddedOf(run), options)));
  ASSIGN_OR_RETURN(OutputFile output, OutputFile::Open(flags.output));
  ASSIGN_OR_RETURN(OutputFile beside, OutputFile::Open(MapHeaderPath(flags.output).string()));
  if (memory.drops_behind) output.WriteBehind(WriteBehind::kWindowBytes);
  options.memory_bytes = memory.bytes;
  options.scratch_folder = std::filesystem::absolute(flags.output).parent_path();
  options.progress = [&](std::string_view phase, double share, std::uint64_t done) {
    program.reporter.Show(
        {.phase = std::string(phase), .share = share, .done = static_cast<double>(done), .unit = "nodes"});
  };
  ASSIGN_OR_RETURN(const NodeMap map, MakeNodeMap(EmbeddedOf(run), options));
  RETURN_IF_ERROR(WriteFiles(map, flags, run, options.kind, output, beside));
  end.Made();
  program.reporter.EndProgress();
  program.reporter.Info(fmt::format("{}: {}, {}{}", output.name(), CountText(nodes, "node"),
                                    FormatByteSize(output.bytes_written()), ReplacedText(output)));
  return WarnIfCommitted(program, flags.run, run);
}

}  // namespace

void AddMapVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand("map", "Give every node of a run a point in the plane, near its neighbours");
  const auto flags = std::make_shared<MapFlags>();
  CLI::Option* const place =
      RefuseEmpty(verb->add_option("RUN", flags->run_place, "Run folder that octavo train made"))->type_name("DIR");
  RefuseEmpty(verb->add_option("--run", flags->run.run, "The same, as a flag as for other verbs"))
      ->type_name("DIR")
      ->excludes(place);
  RefuseEmpty(
      verb->add_option("--graph", flags->run.graph, "Graph folder, if it is no longer where the training found it"))
      ->type_name("DIR");
  RefuseEmpty(verb->add_option("--output", flags->output,
                               "File to write, float32 [nodes, 2] as a NumPy array, replacing an existing one; "
                               "FILE.octavo beside it identifies the run"))
      ->required()
      ->type_name("FILE");
  verb->add_option("--kind", flags->kind,
                   "neighbors: nodes with similar vectors are placed near each other; pca: the two directions in which "
                   "the vectors differ most")
      ->check(CLI::IsMember({"neighbors", "pca"}))
      ->capture_default_str();
  const std::array of_neighbors = {
      AddWholeNumber(*verb, "--neighbors", flags->neighbors, 1, kMostNeighbors,
                     "Nearest nodes by cosine that attract a node; more show larger structures"),
      AddWholeNumber(*verb, "--epochs", flags->epochs, 1, kMostEpochs, "Times that each node is moved"),
      AddWholeNumber(*verb, "--seed", flags->seed, 0, UINT64_MAX, "Seed of the layout")};
  verb->footer(
      "The map depends only on the run and these flags: not on threads or memory. What does not fit into --memory is\n"
      "in a temporary file beside the output.");
  verb->final_callback([&program, flags, of_neighbors] {
    for (const CLI::Option* flag : of_neighbors) {
      if (!flag->empty()) flags->of_neighbors = flag->get_name();
    }
    program.run = [flags](Program& p) { return RunMap(p, *flags); };
  });
}

}  // namespace octavo
