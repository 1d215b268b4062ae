// Checks a graph folder as a whole: every byte against its checksum, every file against the others.
#pragma once

#include <filesystem>

#include "absl/status/status.h"
#include "graph/check_options.h"
#include "io/check_report.h"

namespace octavo {

// Checks graph.json; the headers, checksums and order of nodes.hash and nodes.offsets; that each name of nodes.names is
// where its offset says and has its hash; relations.tsv with its edge counts; each edge file's header, index, blocks
// and ids; and the fingerprint. Adds all damage to `report`. Returns an error only if the check could not be done: too
// little memory, or a folder that was replaced meanwhile. Runs on the threads of the caller's arena.
absl::Status VerifyGraph(const std::filesystem::path& folder, const GraphCheckOptions& options, CheckReport& report);

}  // namespace octavo
