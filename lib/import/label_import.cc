#include "import/label_import.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status.h"
#include "parse/label_file.h"

namespace octavo {
namespace {

constexpr std::uint64_t kNodesAtOnce = std::uint64_t{64} << 10;

}  // namespace

LabelImport::LabelImport(std::filesystem::path folder, NameHash hash, std::uint64_t seed, std::uint64_t memory_bytes,
                         SpillUse& use)
    : folder_(std::move(folder)),
      hash_(hash),
      seed_(seed),
      use_(use),
      sorter_(std::make_unique<LabelSorter>(folder_ / kFileNames[0], memory_bytes, use)) {}

absl::Status LabelImport::Add(LabelSource source, std::string_view name, std::string_view label) {
  if (label.empty()) return absl::OkStatus();
  return sorter_->Add({hash_(name, seed_), NumberOf(source, sorter_->count()), name, LabelLine(label, changed_)});
}

absl::Status LabelImport::AddTriple(std::string_view name, std::string_view label) {
  return Add(LabelSource::kTriple, name, label);
}

absl::Status LabelImport::AddFile(const std::string& path, const std::function<bool()>& stop,
                                  const InputLimits& limits) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LabelFile> file, LabelFile::Open(path, stop, limits));
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<NamedLabel> found, file->Next());
    if (!found) return absl::OkStatus();
    RETURN_IF_ERROR(Add(LabelSource::kFile, found->name, found->label));
  }
}

absl::Status LabelImport::CheckFile(const std::string& path, std::uint64_t most, const std::function<bool()>& stop,
                                    const InputLimits& limits) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return absl::OkStatus();  // a pipe is read once
  ASSIGN_OR_RETURN(const std::unique_ptr<LabelFile> file, LabelFile::Open(path, stop, limits));
  for (std::uint64_t i = 0; i < most; ++i) {
    ASSIGN_OR_RETURN(const std::optional<NamedLabel> found, file->Next());
    if (!found) break;
  }
  return absl::OkStatus();
}

absl::Status LabelImport::AddBase(const Graph& base) {
  if (base.labels() == nullptr) return absl::OkStatus();
  for (std::uint64_t node = 0; node < base.node_count(); ++node) {
    if (node % kNodesAtOnce == 0) {
      const std::uint64_t before = std::min(node, kNodesAtOnce);
      const std::uint64_t count = std::min(kNodesAtOnce, base.node_count() - node);
      base.ForgetTexts(node - before, before);
      base.nodes().WillRead(node, count);
      base.labels()->WillRead(node, count);
    }
    const std::string_view label = base.LabelOf(NodeId{node});
    if (label.empty()) continue;
    RETURN_IF_ERROR(Add(LabelSource::kBase, base.nodes().Name(NodeId{node}), label));
  }
  for (std::uint32_t id = 0; id < base.relation_count(); ++id) {
    RETURN_IF_ERROR(Add(LabelSource::kBase, base.RelationName(RelationId{id}), base.LabelOf(RelationId{id})));
  }
  return base.TextStatus();
}

absl::Status LabelImport::SortAgain(std::uint64_t seed, std::uint64_t memory_bytes) {
  auto again = std::make_unique<LabelSorter>(folder_ / kFileNames[1], memory_bytes / 2, use_);
  RETURN_IF_ERROR(sorter_->Finish(memory_bytes / 2));
  while (true) {
    ASSIGN_OR_RETURN(const bool more, sorter_->Next());
    if (!more) break;
    LabelRecord record = sorter_->record();
    record.key = hash_(record.name, seed);
    RETURN_IF_ERROR(again->Add(record));
  }
  sorter_ = std::move(again);
  seed_ = seed;
  return absl::OkStatus();
}

absl::StatusOr<ImportedLabels> LabelImport::Write(const GraphPaths& paths, std::uint64_t seed,
                                                  std::uint64_t memory_bytes, bool drop_behind,
                                                  GraphDescription& graph) {
  if (seed != seed_) RETURN_IF_ERROR(SortAgain(seed, memory_bytes));
  RETURN_IF_ERROR(sorter_->Finish(memory_bytes / 2));
  ASSIGN_OR_RETURN(const std::unique_ptr<NodeNames> nodes, NodeNames::Open(paths));
  if (drop_behind) nodes->DropBehind();
  return LabelWriter(paths, *nodes, *sorter_, folder_ / kFileNames[2], memory_bytes / 4, use_).Run(graph);
}

}  // namespace octavo
