#include "graph/verify.h"

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_size.h"
#include "base/count_text.h"
#include "base/edge.h"
#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "format/cells.h"
#include "format/graph_description.h"
#include "format/paths.h"
#include "graph/relation_list.h"
#include "graph/verify_cells.h"
#include "graph/verify_labels.h"
#include "graph/verify_nodes.h"
#include "io/file.h"

namespace octavo {
namespace {

// Far above any graph.json; a foreign file cannot fill memory.
constexpr std::uint64_t kMaxDescriptionBytes = std::uint64_t{64} << 20;
constexpr Split kSplits[] = {Split::kTrain, Split::kValid, Split::kTest};

class GraphCheck {
 public:
  GraphCheck(const std::filesystem::path& folder, const GraphCheckOptions& options, CheckReport& report)
      : paths_(folder), options_(options), report_(report) {}

  absl::Status Run() {
    const std::optional<std::string> before = ReadText(paths_.Description(), kMaxDescriptionBytes);
    CheckDescription(before);
    nodes_ = VerifyNodes(paths_, options_, report_);
    RETURN_IF_ERROR(CheckRelations());
    RETURN_IF_ERROR(CheckLabels());
    RETURN_IF_ERROR(CheckSplits());
    CheckCounts();
    CheckRelationEdges();
    CheckFingerprint();
    const absl::StatusOr<std::string> after = ReadWholeFile(paths_.Description(), kMaxDescriptionBytes);
    if (before && (!after.ok() || *after != *before)) {
      return RuntimeError(fmt::format("{}: was replaced while it was checked; check it again", Name()));
    }
    return absl::OkStatus();
  }

 private:
  std::string Name() const { return paths_.folder().string(); }

  std::optional<std::string> ReadText(const std::filesystem::path& path, std::uint64_t max_bytes) {
    absl::StatusOr<PieceReader> reader = PieceReader::Open(path, options_.reading);
    if (!reader.ok()) {
      report_.Fault(path, "", reader.status());
      return std::nullopt;
    }
    if (reader->size() > max_bytes) {
      report_.Damage(path, "", fmt::format("{} bytes", reader->size()), fmt::format("at most {}", max_bytes));
      return std::nullopt;
    }
    std::string text;
    text.reserve(reader->size());
    const absl::Status status = reader->Read(0, reader->size(), [&](std::span<const std::byte> piece) {
      text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      return absl::OkStatus();
    });
    if (!status.ok()) {
      report_.Fault(path, "", status);
      return std::nullopt;
    }
    if (options_.progress) options_.progress(text.size());
    return text;
  }

  void CheckDescription(const std::optional<std::string>& text) {
    if (!text) return;
    absl::StatusOr<GraphDescription> description = DecodeGraphDescription(*text, paths_.Description().string());
    if (description.ok()) {
      description_ = *description;
    } else {
      report_.Fault(paths_.Description(), "", description.status());
    }
    report_.Checked(paths_.Description(), text->size(), "the description");
  }

  // Reads a file of relations as a whole; empty if it is damaged, which is reported.
  absl::StatusOr<std::optional<std::string>> ReadOfRelations(const std::filesystem::path& path) {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);
    if (!error && bytes > options_.whole_bytes) {
      return UsageError(fmt::format("{}: {}; expected a --memory that holds it", path.string(), FormatByteSize(bytes)));
    }
    return ReadText(path, kMaxRelationsBytes);
  }

  absl::Status CheckLabels() {
    if (!description_ || !description_->HasLabels()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::optional<std::string> labels, ReadOfRelations(paths_.RelationLabels()));
    VerifyLabels(paths_, *description_, labels, options_, report_);
    return absl::OkStatus();
  }

  absl::Status CheckRelations() {
    ASSIGN_OR_RETURN(relation_text_, ReadOfRelations(paths_.Relations()));
    if (!relation_text_) return absl::OkStatus();
    absl::StatusOr<std::vector<RelationEntry>> relations =
        ParseRelationList(*relation_text_, paths_.Relations().string());
    if (relations.ok()) {
      relations_ = *std::move(relations);
      relation_edges_ = std::vector<std::atomic<std::uint64_t>>(relations_.size());
    } else {
      report_.Fault(paths_.Relations(), "", relations.status());
    }
    report_.Checked(paths_.Relations(), relation_text_->size(), CountText(relations_.size(), "relation"));
    return absl::OkStatus();
  }

  absl::Status CheckSplits() {
    for (std::size_t i = 0; i < splits_.size(); ++i) {
      // relations.tsv counts training edges.
      const std::span<std::atomic<std::uint64_t>> edges =
          kSplits[i] == Split::kTrain ? std::span(relation_edges_) : std::span<std::atomic<std::uint64_t>>();
      ASSIGN_OR_RETURN(splits_[i], VerifyCells(paths_.Cells(kSplits[i]), options_, edges, report_));
    }
    return absl::OkStatus();
  }

  void Compare(const std::filesystem::path& path, std::string_view what, std::uint64_t found, std::uint64_t expected) {
    if (found == expected) return;
    report_.Damage(path, "", fmt::format("{} {}", found, what), fmt::format("{}, as graph.json says", expected));
  }

  void CheckCounts() {
    if (!description_) return;
    const GraphDescription& d = *description_;
    if (nodes_.hashes) Compare(paths_.NodeHashes(), "hashes", nodes_.hashes->count, d.node_count);
    if (!relations_.empty()) Compare(paths_.Relations(), "relations", relations_.size(), d.relation_count);
    for (std::size_t i = 0; i < splits_.size(); ++i) {
      if (!splits_[i]) continue;
      const CellsHeader& header = *splits_[i];
      const std::filesystem::path path = paths_.Cells(kSplits[i]);
      Compare(path, "nodes", header.node_count, d.node_count);
      Compare(path, "relations", header.relation_count, d.relation_count);
      Compare(path, "rows per partition", header.partition_rows, d.partition_rows);
      Compare(path, "partitions", header.partition_count, d.partition_count);
      Compare(path, "weight columns", header.has_weights, d.has_weights ? 1 : 0);
      Compare(path, "edges", header.edge_count, d.Edges(kSplits[i]));
    }
  }

  void CheckRelationEdges() {
    const std::filesystem::path train = paths_.Cells(Split::kTrain);
    if (!splits_[0] || report_.HasFindings(train) || splits_[0]->relation_count != relations_.size()) return;
    for (std::size_t i = 0; i < relations_.size(); ++i) {
      const std::uint64_t found = relation_edges_[i].load(std::memory_order_relaxed);
      if (found == relations_[i].train_edges) continue;
      report_.Damage(paths_.Relations(), fmt::format("line {}", i + 1),
                     fmt::format("{} training edges of \"{}\"", relations_[i].train_edges, Escape(relations_[i].name)),
                     fmt::format("{}, as train.cells has", found));
    }
  }

  void CheckFingerprint() {
    if (!description_ || !relation_text_ || !nodes_.hashes || !nodes_.offsets) return;
    std::array<CellsHeader, 3> headers;
    for (std::size_t i = 0; i < splits_.size(); ++i) {
      if (!splits_[i]) return;
      headers[i] = *splits_[i];
    }
    const std::uint64_t found = GraphFingerprint(headers, *nodes_.hashes, *nodes_.offsets, *relation_text_);
    if (found == description_->fingerprint) return;
    report_.Damage(paths_.Description(), "fingerprint", fmt::format("{:016x}", description_->fingerprint),
                   fmt::format("{:016x}, computed from the files; if each file is intact, relations.tsv was changed or "
                               "one belongs to another graph",
                               found));
  }

  const GraphPaths paths_;
  const GraphCheckOptions& options_;
  CheckReport& report_;
  std::optional<GraphDescription> description_;
  CheckedNodes nodes_;
  std::optional<std::string> relation_text_;
  std::vector<RelationEntry> relations_;
  std::vector<std::atomic<std::uint64_t>> relation_edges_;  // found in train.cells
  std::array<std::optional<CellsHeader>, 3> splits_;
};

}  // namespace

absl::Status VerifyGraph(const std::filesystem::path& folder, const GraphCheckOptions& options, CheckReport& report) {
  return GraphCheck(folder, options, report).Run();
}

}  // namespace octavo
