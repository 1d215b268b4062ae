// The part of VerifyGraph that checks the labels of nodes and relations.
#pragma once

#include <optional>
#include <string>

#include "format/graph_description.h"
#include "format/paths.h"
#include "graph/check_options.h"
#include "io/check_report.h"

namespace octavo {

// `relation_labels` is the text of relations.labels, empty if it could not be read, which was reported. REQUIRES: the
// graph has labels; otherwise as VerifyGraph
void VerifyLabels(const GraphPaths& paths, const GraphDescription& description,
                  const std::optional<std::string>& relation_labels, const GraphCheckOptions& options,
                  CheckReport& report);

}  // namespace octavo
