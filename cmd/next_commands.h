// The commands that can follow one that has ended.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cmd/reporter.h"
#include "format/graph_description.h"

namespace octavo {

// Reports each command in its own line, "next: octavo ...". Names in them must be words of a shell (ShellWord).
void ReportNext(Reporter& reporter, const std::vector<std::string>& commands);

// What can follow a training: an evaluation only if the graph has edges for it, a question about one of its nodes.
std::vector<std::string> NextOfRun(const std::filesystem::path& run, const GraphDescription& graph);

// The training that can follow an import, into a run folder that does not exist yet.
std::string NextOfGraph(const std::filesystem::path& folder);
// That of the graph of a walk.
std::string NextOfWalk(const std::filesystem::path& folder);

}  // namespace octavo
