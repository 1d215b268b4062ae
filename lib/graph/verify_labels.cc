#include "graph/verify_labels.h"

#include <algorithm>
#include <vector>

#include "base/count_text.h"
#include "base/status.h"
#include "fmt/format.h"
#include "graph/labels.h"
#include "graph/verify_array.h"
#include "graph/verify_text.h"

namespace octavo {
namespace {

void Compare(const std::filesystem::path& path, std::string_view what, std::uint64_t found, std::uint64_t expected,
             CheckReport& report) {
  if (found == expected) return;
  report.Damage(path, "", fmt::format("{} {}", found, what), fmt::format("{}, as graph.json says", expected));
}

void VerifyRelationLabels(const GraphPaths& paths, const GraphDescription& description, const std::string& text,
                          CheckReport& report) {
  const absl::StatusOr<std::vector<std::string>> labels =
      ParseRelationLabels(text, description.relation_count, paths.RelationLabels().string());
  if (labels.ok()) {
    const auto labelled = std::ranges::count_if(*labels, [](const std::string& label) { return !label.empty(); });
    Compare(paths.RelationLabels(), "labels", static_cast<std::uint64_t>(labelled), description.labelled_relations,
            report);
  } else {
    report.Fault(paths.RelationLabels(), "", labels.status());
  }
  report.Checked(paths.RelationLabels(), text.size(), CountText(description.labelled_relations, "label"));
}

}  // namespace

void VerifyLabels(const GraphPaths& paths, const GraphDescription& description,
                  const std::optional<std::string>& relation_labels, const GraphCheckOptions& options,
                  CheckReport& report) {
  const auto hashes = VerifyArray(paths.NodeLabelHashes(), ArrayKind::kLabelHashes, options, report);
  const auto offsets = VerifyArray(paths.NodeLabelOffsets(), ArrayKind::kLabelOffsets, options, report);
  const auto order = VerifyArray(paths.NodeLabelOrder(), ArrayKind::kLabelOrder, options, report);
  if (hashes) Compare(paths.NodeLabelHashes(), "hashes", hashes->count, description.node_count, report);
  if (offsets) Compare(paths.NodeLabelOffsets(), "offsets", offsets->count, description.node_count + 1, report);
  if (order) Compare(paths.NodeLabelOrder(), "nodes", order->count, description.labelled_nodes, report);
  if (relation_labels) VerifyRelationLabels(paths, description, *relation_labels, report);
  if (hashes && offsets && order && relation_labels) {
    const std::uint64_t found = LabelChecksum(*hashes, *offsets, *order, *relation_labels);
    if (found != description.label_checksum) {
      report.Damage(paths.RelationLabels(), "", fmt::format("labels of checksum {:016x}", found),
                    fmt::format("{:016x}, as graph.json says; if each file is intact, relations.labels was changed or "
                                "one belongs to another graph",
                                description.label_checksum));
    }
  }
  if (report.HasFindings(paths.NodeLabelHashes()) || report.HasFindings(paths.NodeLabelOffsets())) {
    report.Note(fmt::format("{}: not checked, as this needs intact hashes and offsets", paths.NodeLabels().string()));
    return;
  }
  const TextFiles files = {.text = paths.NodeLabels(),
                           .offsets = paths.NodeLabelOffsets(),
                           .hashes = paths.NodeLabelHashes(),
                           .seed = 0,
                           .count = hashes->count,
                           .unit = "line"};
  if (const absl::Status status = VerifyText(files, options, report); !status.ok()) {
    report.Fault(paths.NodeLabels(), "", status);
  }
}

}  // namespace octavo
