#include "graph/verify_nodes.h"

#include <system_error>

#include "base/status.h"
#include "fmt/format.h"
#include "graph/verify_array.h"
#include "graph/verify_text.h"

namespace octavo {

CheckedNodes VerifyNodes(const GraphPaths& paths, const GraphCheckOptions& options, CheckReport& report) {
  CheckedNodes nodes;
  nodes.hashes = VerifyArray(paths.NodeHashes(), ArrayKind::kNodeHashes, options, report);
  nodes.offsets = VerifyArray(paths.NodeOffsets(), ArrayKind::kNodeOffsets, options, report);
  if (nodes.hashes && nodes.offsets && nodes.offsets->count != nodes.hashes->count + 1) {
    report.Damage(paths.NodeOffsets(), "", fmt::format("{} offsets", nodes.offsets->count),
                  fmt::format("{}, one more than there are hashes", nodes.hashes->count + 1));
  }
  std::error_code error;
  if (!std::filesystem::exists(paths.NodeNames(), error)) {
    report.Damage(paths.NodeNames(), "", "no such file", "the names of the nodes");
    return nodes;
  }
  if (report.HasFindings(paths.NodeHashes()) || report.HasFindings(paths.NodeOffsets())) {
    report.Note(fmt::format("{}: not checked, as this needs intact hashes and offsets", paths.NodeNames().string()));
    return nodes;
  }
  const TextFiles files = {.text = paths.NodeNames(),
                           .offsets = paths.NodeOffsets(),
                           .hashes = paths.NodeHashes(),
                           .seed = nodes.hashes->hash_seed,
                           .count = nodes.hashes->count,
                           .unit = "name"};
  if (const absl::Status status = VerifyText(files, options, report); !status.ok()) {
    report.Fault(paths.NodeNames(), "", status);
  }
  return nodes;
}

}  // namespace octavo
