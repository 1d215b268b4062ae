// What the verbs that read a run share: its flags, and the run as the searches take it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "cmd/program.h"
#include "evaluate/embedded_graph.h"
#include "export/output_file.h"
#include "model/model_spec.h"
#include "train/trained_run.h"

namespace CLI {
class App;
}

namespace octavo {

struct RunFlags {
  std::string run;
  std::string graph;  // empty: where the run says it is
};

// Adds --run and --graph. `flags` must outlive the parsing.
void AddRunFlags(CLI::App& app, RunFlags& flags);

// Adds --part with the help text `what`.
void AddPartFlag(CLI::App& app, std::string& part, const std::string& what);
// A usage error where `part` is a half that the rows of `table` of the run's model have not.
absl::StatusOr<RowPart> ParsePart(std::string_view part, std::string_view table, const TrainedRun& run);

// A usage error where the graph of the run is no longer where the training found it, but that `flag`, which was not
// given, names its new place. What else is wrong with the run is for those that open it.
absl::Status CheckGraphPlace(const std::string& run, std::string_view flag);

absl::StatusOr<TrainedRun> OpenRun(const RunFlags& flags);

// Warns where another run was to take the place of this one and, cut or still at it, has not.
absl::Status WarnIfToBeReplaced(Program& program, const std::string& run);

// Warns where a training committed while `run` was read. Call when all is read.
absl::Status WarnIfCommitted(Program& program, const RunFlags& flags, const TrainedRun& run);

// Returns the path with links followed as far as it is there. Also of "x" and "./x", of which there is nothing yet.
std::filesystem::path CanonicalPath(const std::filesystem::path& path);
// Refuses to write over a file that the run or the graph consists of; `flag` is for the message.
absl::Status CheckTarget(std::string_view flag, const std::string& path, const RunFlags& flags, const Graph& graph);

// Returns ", in place of the file that was there", or nothing where there was none.
std::string_view ReplacedText(const OutputFile& output);

// Borrows from `run`.
EmbeddedGraph EmbeddedOf(const TrainedRun& run);

// Returns e.g. "complex, dim 200, 30 epochs": which training is being read.
std::string DescribeRun(const TrainedRun& run);

// Returns --memory, or what the machine and its control groups leave.
std::uint64_t MemoryLimit(const Program& program);

// Returns --threads, or as many as the machine has.
int ThreadCount(const Program& program);

// Find a name, or return a usage error that has it escaped, with up to three names that end with it behind a / or #, or
// else near spellings. Without `suggest` none is looked for, which in a large graph takes up to a second and a quarter.
absl::StatusOr<NodeId> FindNode(const Graph& graph, std::string_view name, bool suggest = true);
absl::StatusOr<RelationId> FindRelation(const Graph& graph, std::string_view name, bool suggest = true);

// Returns the name of a node or of a relation by its number, for those who look at all in turn, from 0 on: names are
// read ahead, and given back behind. Borrows from `graph`.
std::function<std::string_view(std::uint64_t)> NodeNamesInTurn(const Graph& graph);
std::function<std::string_view(std::uint64_t)> RelationNamesInTurn(const Graph& graph);

}  // namespace octavo
