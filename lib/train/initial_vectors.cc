#include "train/initial_vectors.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "io/failpoint.h"
#include "vectors/table_source.h"
#include "vectors/vector_file.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// The program, the rows on their way into the new table, and those of a block of the source.
constexpr std::uint64_t kBesideBytes = std::uint64_t{80} << 20;
constexpr std::uint64_t kLeastBytes = std::uint64_t{8} << 20;
// More makes no sort faster.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

}  // namespace

InitialVectors::InitialVectors(InitialSource source, const Graph& graph, const TrainOptions& options,
                               std::uint64_t memory, const RunPaths& paths)
    : source_(std::move(source)),
      graph_(graph),
      options_(options),
      memory_(std::clamp(memory - std::min(memory, kBesideBytes), kLeastBytes, kMostBytes)),
      paths_(paths),
      known_{.nodes = RowMarks(graph.node_count()),
             .relations = RowMarks(std::uint64_t{graph.relation_count()} * (options.reciprocal ? 2 : 1))} {
  spill_.work = "warm start";
}

absl::StatusOr<std::unique_ptr<InitialVectors>> InitialVectors::Open(const InitialSource& source, const Graph& graph,
                                                                     const TrainOptions& options, std::uint64_t memory,
                                                                     const RunPaths& paths) {
  auto vectors = std::unique_ptr<InitialVectors>(new InitialVectors(source, graph, options, memory, paths));
  std::error_code error;
  if (fs::is_directory(source.source, error)) {
    if (!source.names.empty()) {
      return UsageError(
          fmt::format("{}: a run has the names of its graph; expected no file with names", source.source.string()));
    }
    RETURN_IF_ERROR(vectors->OpenRun());
    return vectors;
  }
  ASSIGN_OR_RETURN(vectors->file_, OpenVectorFile(source.source, source.names));
  RETURN_IF_ERROR(vectors->CheckDimensions(vectors->file_->columns()));
  return vectors;
}

absl::Status InitialVectors::CheckDimensions(std::uint64_t columns) const {
  if (columns == options_.dim) return absl::OkStatus();
  return UsageError(fmt::format("{}: vectors of {} numbers; expected {}, the dim of the training",
                                source_.source.string(), columns, options_.dim));
}

absl::Status InitialVectors::OpenRun() {
  ASSIGN_OR_RETURN(run_, OpenTrainedRun(source_.source, source_.graph));
  RETURN_IF_ERROR(CheckDimensions(run_->embeddings.columns()));
  // It is read once, from front to back.
  run_->embeddings.DropBehind();
  run_->graph->DropBehind();
  if (!source_.optimizer_state || run_->optimizer != options_.optimizer) return absl::OkStatus();
  ASSIGN_OR_RETURN(state_, OpenTrainedState(source_.source, *run_));
  state_->optimizer.DropBehind();
  return absl::OkStatus();
}

std::unique_ptr<VectorSource> InitialVectors::SourceOf(const TableReader& table, TableName name) const {
  return std::make_unique<TableSource>(table, run_->graph->nodes(), RunPaths(source_.source).Table(name, 0).string());
}

absl::Status InitialVectors::Sort(std::unique_ptr<VectorSource> source, std::unique_ptr<VectorsByNode>& vectors) {
  const NodeNames& nodes = graph_.nodes();
  RETURN_IF_ERROR(RemoveFile(paths_.UnsortedVectors()));  // a kill can leave it
  ASSIGN_OR_RETURN(auto sorted, SortedVectors::Make(std::move(source), nodes.hash_seed(), memory_,
                                                    paths_.UnsortedVectors(), spill_));
  vectors = std::make_unique<VectorsByNode>(std::move(sorted), nodes);
  return absl::OkStatus();
}

absl::Status InitialVectors::CopyEmbeddings(std::uint64_t first, std::span<float> rows) {
  RETURN_IF_ERROR(Failpoint("initial.rows"));
  if (embeddings_ == nullptr) {
    if (run_) file_ = SourceOf(run_->embeddings, TableName::kEmbeddings);
    RETURN_IF_ERROR(Sort(std::move(file_), embeddings_));
  }
  return embeddings_->Copy(first, rows, [this](NodeId node) { known_.nodes.Mark(Value(node)); });
}

absl::Status InitialVectors::CopyOptimizer(std::uint64_t first, std::span<float> rows) {
  RETURN_IF_ERROR(Failpoint("initial.state"));
  if (!state_ || state_->optimizer.columns() == 0) return absl::OkStatus();
  if (optimizer_ == nullptr) RETURN_IF_ERROR(Sort(SourceOf(state_->optimizer, TableName::kOptimizer), optimizer_));
  return optimizer_->Copy(first, rows, [](NodeId) {});
}

std::optional<std::uint64_t> InitialVectors::SourceRelation(std::uint64_t row) const {
  if (!run_ || run_->model.kind != options_.model) return std::nullopt;
  const std::uint64_t relations = graph_.relation_count();
  const bool inverse = row >= relations;
  if (inverse && !run_->reciprocal) return std::nullopt;
  const auto name = graph_.RelationName(static_cast<RelationId>(inverse ? row - relations : row));
  const std::optional<RelationId> found = run_->graph->FindRelation(name);
  if (!found) return std::nullopt;
  return Value(*found) + (inverse ? run_->graph->relation_count() : 0);
}

void InitialVectors::CopyRelation(std::uint64_t row, std::span<float> values) {
  const std::optional<std::uint64_t> found = SourceRelation(row);
  if (!found) return;
  known_.relations.Mark(row);
  std::ranges::copy(std::span(run_->relations).subspan(*found * values.size(), values.size()), values.begin());
}

void InitialVectors::CopyRelationState(std::uint64_t row, std::span<float> values) const {
  const std::optional<std::uint64_t> found = SourceRelation(row);
  if (!found || !state_) return;
  std::ranges::copy(std::span(state_->relations).subspan(*found * values.size(), values.size()), values.begin());
}

absl::StatusOr<InitialEvent> InitialVectors::Finish() {
  RETURN_IF_ERROR(embeddings_->Finish());
  if (optimizer_ != nullptr) RETURN_IF_ERROR(optimizer_->Finish());
  if (run_) {
    ASSIGN_OR_RETURN(const bool committed, CommittedSince(source_.source, *run_));
    if (committed) {
      return RuntimeError(
          fmt::format("{}: a training committed while its rows were read; stop it first, or take a copy of it",
                      source_.source.string()));
    }
  }
  return InitialEvent{.source = source_.source.string(),
                      .vectors = embeddings_->count(),
                      .nodes = known_.nodes.Count(),
                      .all_nodes = known_.nodes.rows(),
                      .relation_rows = known_.relations.Count(),
                      .all_relation_rows = known_.relations.rows(),
                      .optimizer_state = state_.has_value()};
}

}  // namespace octavo
