#include "graph/labels.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "graph/relation_list.h"
#include "io/checksum.h"

namespace octavo {

absl::StatusOr<std::vector<std::string>> ParseRelationLabels(std::string_view text, std::uint32_t count,
                                                             std::string_view file_name) {
  std::vector<std::string> labels;
  while (!text.empty() && labels.size() <= count) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    labels.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  if (labels.size() == count && text.empty()) return labels;
  return CorruptError(fmt::format("{}: {} lines and {} bytes after them; expected {} lines, one per relation",
                                  file_name, labels.size(), text.size(), count));
}

absl::StatusOr<std::unique_ptr<Labels>> Labels::Open(const GraphPaths& paths, const GraphDescription& description) {
  std::unique_ptr<Labels> labels(new Labels(paths));
  ASSIGN_OR_RETURN(labels->text_, MappedFile::Open(paths.NodeLabels()));
  ASSIGN_OR_RETURN(labels->offsets_, MappedArray::Open(paths.NodeLabelOffsets(), ArrayKind::kLabelOffsets));
  ASSIGN_OR_RETURN(labels->hashes_, MappedArray::Open(paths.NodeLabelHashes(), ArrayKind::kLabelHashes));
  ASSIGN_OR_RETURN(labels->order_, MappedArray::Open(paths.NodeLabelOrder(), ArrayKind::kLabelOrder));
  RETURN_IF_ERROR(labels->CheckSizes(description));
  ASSIGN_OR_RETURN(const std::string relations, ReadWholeFile(paths.RelationLabels(), kMaxRelationsBytes));
  ASSIGN_OR_RETURN(labels->relations_,
                   ParseRelationLabels(relations, description.relation_count, paths.RelationLabels().string()));
  const std::uint64_t found =
      LabelChecksum(labels->hashes_.header, labels->offsets_.header, labels->order_.header, relations);
  if (found == description.label_checksum) return labels;
  return CorruptError(fmt::format(
      "{}: labels of checksum {:016x}; expected {:016x}, as graph.json says; if this file is intact, another "
      "file of labels belongs to another graph",
      paths.RelationLabels().string(), found, description.label_checksum));
}

absl::Status Labels::CheckSizes(const GraphDescription& description) const {
  const auto check = [](const std::filesystem::path& path, std::string_view what, std::uint64_t found,
                        std::uint64_t expected, std::string_view why) -> absl::Status {
    if (found == expected) return absl::OkStatus();
    return CorruptError(fmt::format("{}: {} {}; expected {}, {}", path.string(), found, what, expected, why));
  };
  constexpr std::string_view kDescribed = "as graph.json says";
  const auto offsets = offsets_.values();
  RETURN_IF_ERROR(check(paths_.NodeLabelHashes(), "hashes", hashes_.header.count, description.node_count, kDescribed));
  RETURN_IF_ERROR(check(paths_.NodeLabelOffsets(), "offsets", offsets.size(), description.node_count + 1,
                        "one more than there are nodes"));
  RETURN_IF_ERROR(check(paths_.NodeLabelOrder(), "nodes", order_.header.count, description.labelled_nodes, kDescribed));
  RETURN_IF_ERROR(check(paths_.NodeLabelOffsets(), "as its first offset", offsets.front(), 0, "where the text begins"));
  return check(paths_.NodeLabels(), "bytes", text_.bytes().size(), offsets.back(),
               "the last number of nodes.labels.offsets");
}

std::string_view Labels::Of(NodeId id) const {
  const std::uint64_t begin = offsets_.values()[Value(id)];
  const std::uint64_t end = offsets_.values()[Value(id) + 1];
  const auto bytes = text_.bytes();
  // Every line has at least its end.
  if (begin < end && end <= bytes.size()) {
    const std::string_view line(reinterpret_cast<const char*>(bytes.data()) + begin, end - begin);
    const std::string_view label = line.substr(0, line.size() - 1);
    if (line.back() == '\n' && HashName(label, 0) == hashes_.values()[Value(id)]) return label;
  }
  damaged_.store(Value(id), std::memory_order_relaxed);
  return {};
}

absl::Status Labels::status() const {
  const std::uint64_t node = damaged_.load(std::memory_order_relaxed);
  if (node == kNone) return absl::OkStatus();
  return CorruptError(
      fmt::format("{}: line {}: found a label that does not match its hash; expected the one of nodes.labels.hash; "
                  "octavo verify {} shows which file is damaged",
                  paths_.NodeLabels().string(), node + 1, paths_.folder().string()));
}

LabelledNodes Labels::FindNodes(std::string_view label, std::size_t most) const {
  LabelledNodes found;
  const std::uint64_t hash = HashName(label, 0);
  const auto order = order_.values();
  const auto hashes = hashes_.values();
  const auto hash_of = [&](std::uint64_t node) {
    if (node < hashes.size()) return hashes[node];
    damaged_.store(0, std::memory_order_relaxed);  // a damaged order, which no node number reports better
    return std::uint64_t{0};
  };
  auto place = std::ranges::lower_bound(order, hash, {}, hash_of);
  for (; place != order.end() && hash_of(*place) == hash && *place < hashes.size(); ++place) {
    if (Of(NodeId{*place}) != label) continue;  // another label with the same hash
    if (++found.count <= most) found.nodes.push_back(NodeId{*place});
  }
  return found;
}

std::vector<RelationId> Labels::FindRelations(std::string_view label) const {
  std::vector<RelationId> found;
  for (std::uint32_t id = 0; id < relations_.size(); ++id) {
    if (!label.empty() && relations_[id] == label) found.push_back(RelationId{id});
  }
  return found;
}

void Labels::WillRead(std::uint64_t first, std::uint64_t count) const {
  if (count == 0) return;
  offsets_.WillRead(first, count + 1);
  hashes_.WillRead(first, count);
  text_.mapping.WillRead(offsets_.values()[first], offsets_.values()[first + count]);
}

void Labels::Forget(std::uint64_t first, std::uint64_t count) const {
  if (!drop_behind_ || count == 0) return;
  text_.Drop(offsets_.values()[first], offsets_.values()[first + count]);
  offsets_.Drop(first, count + 1);
  hashes_.Drop(0, hashes_.header.count);
  order_.Drop(0, order_.header.count);
}

}  // namespace octavo
