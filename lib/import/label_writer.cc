#include "import/label_writer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/byte_size.h"
#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "graph/relation_list.h"
#include "io/checksum.h"
#include "io/file.h"

namespace octavo {
namespace {

constexpr std::uint64_t kNodesAtOnce = std::uint64_t{64} << 10;
// The labels of relations are in memory wherever the graph is open.
constexpr std::uint64_t kMostRelationLabelBytes = std::uint64_t{16} << 20;

}  // namespace

LabelWriter::LabelWriter(const GraphPaths& paths, const NodeNames& nodes, LabelSorter& sorted,
                         std::filesystem::path spill, std::uint64_t memory_bytes, SpillUse& use)
    : paths_(paths),
      nodes_(nodes),
      sorted_(sorted),
      memory_bytes_(memory_bytes),
      order_(std::move(spill), memory_bytes, use) {}

absl::Status LabelWriter::ReadRelations(const GraphDescription& graph) {
  relation_labels_.resize(graph.relation_count);
  if (!graph.has_relations) return absl::OkStatus();
  const std::string path = paths_.Relations().string();
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(paths_.Relations(), kMaxRelationsBytes));
  ASSIGN_OR_RETURN(std::vector<RelationEntry> relations, ParseRelationList(text, path));
  for (std::uint32_t id = 0; id < relations.size(); ++id) relations_.emplace(std::move(relations[id].name), id);
  return absl::OkStatus();
}

absl::Status LabelWriter::NextGroup() {
  has_group_ = has_record_;
  if (!has_record_) return absl::OkStatus();
  group_.key = sorted_.record().key;
  group_.name = sorted_.record().name;
  group_.label = sorted_.record().label;
  while (true) {
    ASSIGN_OR_RETURN(has_record_, sorted_.Next());
    if (!has_record_ || sorted_.record().key != group_.key || sorted_.record().name != group_.name) break;
    counts_.repeated += SourceOf(sorted_.record().number) == LabelSource::kBase ? 0 : 1;
  }
  return absl::OkStatus();
}

absl::Status LabelWriter::Leave(bool is_node) {
  const auto relation = relations_.find(group_.name);
  if (relation != relations_.end()) {
    relation_bytes_ += group_.label.size();
    if (relation_bytes_ > kMostRelationLabelBytes) {
      return InputError(
          fmt::format("the labels of the relations take more than {}, found at that of {}; expected "
                      "shorter ones, as they are always in memory",
                      FormatByteSize(kMostRelationLabelBytes), Escape(group_.name)));
    }
    relation_labels_[relation->second] = group_.label;
    ++counts_.relations;
  } else if (!is_node && counts_.unknown++ == 0) {
    counts_.first_unknown = group_.name;
  }
  return NextGroup();
}

absl::StatusOr<ArrayHeader> LabelWriter::WriteNodes(ArrayHeader& hashes, ArrayHeader& offsets) {
  ASSIGN_OR_RETURN(File text_file, File::Create(paths_.NodeLabels()));
  ASSIGN_OR_RETURN(File hash_file, File::Create(paths_.NodeLabelHashes()));
  ASSIGN_OR_RETURN(File offset_file, File::Create(paths_.NodeLabelOffsets()));
  AppendedFile text(std::move(text_file), 0);
  ArrayWriter hash_array(std::move(hash_file), ArrayKind::kLabelHashes, 0);
  ArrayWriter offset_array(std::move(offset_file), ArrayKind::kLabelOffsets, 0);
  ASSIGN_OR_RETURN(has_record_, sorted_.Next());
  RETURN_IF_ERROR(NextGroup());
  const auto before = [&](std::uint64_t hash, std::string_view name) {
    return group_.key < hash || (group_.key == hash && group_.name < name);
  };
  for (std::uint64_t node = 0; node < nodes_.size(); ++node) {
    if (node % kNodesAtOnce == 0) {
      nodes_.Forget(node - std::min(node, kNodesAtOnce), std::min(node, kNodesAtOnce));
      nodes_.WillRead(node, std::min(kNodesAtOnce, nodes_.size() - node));
    }
    const std::uint64_t hash = nodes_.Hash(NodeId{node});
    const std::string_view name = nodes_.Name(NodeId{node});
    while (has_group_ && before(hash, name)) RETURN_IF_ERROR(Leave(/*is_node=*/false));
    const bool labelled = has_group_ && group_.key == hash && group_.name == name;
    const std::string_view label = labelled ? std::string_view(group_.label) : std::string_view();
    const std::uint64_t label_hash = HashName(label, 0);
    RETURN_IF_ERROR(offset_array.Append(text.size()));
    RETURN_IF_ERROR(hash_array.Append(label_hash));
    RETURN_IF_ERROR(text.Append(label));
    RETURN_IF_ERROR(text.Append("\n"));
    if (!labelled) continue;
    ++counts_.nodes;
    RETURN_IF_ERROR(order_.Add({label_hash, node, {}, {}}));
    RETURN_IF_ERROR(Leave(/*is_node=*/true));
  }
  while (has_group_) RETURN_IF_ERROR(Leave(/*is_node=*/false));
  RETURN_IF_ERROR(offset_array.Append(text.size()));
  RETURN_IF_ERROR(text.Close());
  ASSIGN_OR_RETURN(hashes, hash_array.Finish());
  ASSIGN_OR_RETURN(offsets, offset_array.Finish());
  return WriteOrder();
}

absl::StatusOr<ArrayHeader> LabelWriter::WriteOrder() {
  ASSIGN_OR_RETURN(File file, File::Create(paths_.NodeLabelOrder()));
  ArrayWriter array(std::move(file), ArrayKind::kLabelOrder, 0);
  RETURN_IF_ERROR(order_.Finish(memory_bytes_));
  while (true) {
    ASSIGN_OR_RETURN(const bool more, order_.Next());
    if (!more) return array.Finish();
    RETURN_IF_ERROR(array.Append(order_.record().number));
  }
}

absl::StatusOr<std::string> LabelWriter::WriteRelations() {
  std::string text;
  for (const std::string& label : relation_labels_) text += label + "\n";
  ASSIGN_OR_RETURN(File file, File::Create(paths_.RelationLabels()));
  RETURN_IF_ERROR(file.WriteAt(0, std::as_bytes(std::span<const char>(text))));
  RETURN_IF_ERROR(file.Close());
  return text;
}

absl::StatusOr<ImportedLabels> LabelWriter::Run(GraphDescription& graph) {
  RETURN_IF_ERROR(ReadRelations(graph));
  ArrayHeader hashes;
  ArrayHeader offsets;
  ASSIGN_OR_RETURN(const ArrayHeader order, WriteNodes(hashes, offsets));
  ASSIGN_OR_RETURN(const std::string relations, WriteRelations());
  graph.labelled_nodes = counts_.nodes;
  graph.labelled_relations = static_cast<std::uint32_t>(counts_.relations);
  graph.label_checksum = LabelChecksum(hashes, offsets, order, relations);
  if (graph.HasLabels()) return counts_;
  for (const std::string& name : GraphPaths::LabelFileNames()) RETURN_IF_ERROR(RemoveFile(paths_.folder() / name));
  return counts_;
}

}  // namespace octavo
