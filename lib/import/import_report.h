// The options and statistics of an import as JSON, for graph.json and for --json.
#pragma once

#include <string>

#include "import/import_options.h"

namespace octavo {

// Returns an object with the options that affect the graph and the counts. Without times and thread counts, so that the
// same import writes the same bytes.
std::string ImportJson(const ImportOptions& options, const ImportSummary& summary);

}  // namespace octavo
