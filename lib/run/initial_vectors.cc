#include "run/initial_vectors.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/byte_size.h"
#include "base/status.h"
#include "checkpoint/new_tables.h"
#include "fmt/format.h"
#include "io/failpoint.h"
#include "io/write_behind.h"
#include "run/footprint.h"
#include "vectors/table_source.h"
#include "vectors/vector_file.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

// Approximate memory of a name and its share of the page cache.
constexpr std::uint64_t kNameBytes = 48;
constexpr std::uint64_t kLeastBytes = std::uint64_t{8} << 20;
// Sorting with more memory is not faster.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

}  // namespace

InitialVectors::InitialVectors(InitialSource source, const Graph& graph, const TrainOptions& options,
                               const RunPaths& paths, std::function<bool()> stop)
    : source_(std::move(source)),
      graph_(graph),
      options_(options),
      paths_(paths),
      known_{.nodes = RowMarks(graph.node_count()),
             .relations = RowMarks(std::uint64_t{graph.relation_count()} * (options.reciprocal ? 2 : 1))} {
  spill_.work = "warm start";
  spill_.stop = std::move(stop);
}

absl::StatusOr<std::unique_ptr<InitialVectors>> InitialVectors::Open(const InitialSource& source, const Graph& graph,
                                                                     const TrainOptions& options, std::uint64_t memory,
                                                                     const RunPaths& paths,
                                                                     std::function<bool()> stop) {
  auto vectors = std::unique_ptr<InitialVectors>(new InitialVectors(source, graph, options, paths, std::move(stop)));
  RETURN_IF_ERROR(vectors->OpenSource());
  RETURN_IF_ERROR(vectors->ShareMemory(memory));
  return vectors;
}

absl::Status InitialVectors::OpenSource() {
  std::error_code error;
  if (!fs::is_directory(source_.source, error)) {
    ASSIGN_OR_RETURN(file_, OpenVectorFile(source_.source, source_.names));
    return CheckDimensions(file_->columns());
  }
  if (source_.names.empty()) return OpenRun();
  return UsageError(
      fmt::format("{}: a run uses the names of its graph; expected no file with names", source_.source.string()));
}

// Whether the vectors of the source are already in the order of the nodes.
bool InitialVectors::InOrder() const { return run_ && run_->graph->nodes().hash_seed() == graph_.nodes().hash_seed(); }

// Memory in addition to the vectors being sorted: the program, one step of rows on their way to the new table, a block
// of the source, the names of both, and the page cache of everything read and written.
std::uint64_t InitialVectors::BesideBytes() const {
  const std::uint64_t columns = std::max<std::uint64_t>(options_.dim, StateWidth(options_.optimizer, options_.dim));
  const std::uint64_t row = columns * sizeof(float);
  const std::uint64_t nodes = graph_.node_count();
  const auto least = [&](std::uint64_t bytes) { return std::min(bytes, nodes * row); };
  const std::uint64_t words = options_.storage == NpyElement::kBfloat16 ? least(kFillStepBytes) / 2 : 0;
  std::error_code error;
  const std::uint64_t file = run_ ? run_->graph->node_count() * row : fs::file_size(source_.source, error);
  const std::uint64_t source = error ? TableSource::kBlockBytes : std::min(TableSource::kBlockBytes, file);
  const std::uint64_t spill = InOrder() ? 0 : 2 * WriteBehind::kWindowBytes;
  const std::uint64_t names = kNameBytes * std::min(nodes, (kFillStepBytes + TableSource::kBlockBytes) / row);
  return kProgramBytes + least(kFillStepBytes) + words + least(2 * WriteBehind::kWindowBytes) + 2 * source + spill +
         names;
}

// Checks the memory that is held until the rows are written (the relations of both sides with their optimizer state,
// and the marks, which are copied and written if the training needs them) and leaves the rest for sorting.
absl::Status InitialVectors::ShareMemory(std::uint64_t memory) {
  const std::uint64_t relations = known_.relations.rows();
  const std::uint64_t width = options_.model_spec().RelationWidth();
  std::uint64_t values = width == 0 ? 0 : relations * (width + StateWidth(options_.optimizer, width));
  if (run_) values += run_->relations.size();
  if (state_) values += state_->relations.size();
  const std::uint64_t marks =
      KnownRows::FileBytes(graph_.node_count(), relations) * (options_.needs_known_rows() ? 3 : 1);
  const std::uint64_t held = values * sizeof(float) + marks + BesideBytes();
  const std::uint64_t needed = held + (InOrder() ? 0 : kLeastBytes);
  if (memory < needed) {
    return UsageError(
        fmt::format("{}: taking over its rows needs {}, {} of it for the relations of both sides; --memory is {}",
                    source_.source.string(), FormatByteSize(needed), FormatByteSize(values * sizeof(float)),
                    FormatByteSize(memory)));
  }
  sort_bytes_ = std::min(memory - held, kMostBytes);
  return absl::OkStatus();
}

absl::Status InitialVectors::CheckStop() const {
  return spill_.stop && spill_.stop() ? absl::CancelledError("interrupted") : absl::OkStatus();
}

absl::Status InitialVectors::CheckDimensions(std::uint64_t columns) const {
  if (columns == options_.dim) return absl::OkStatus();
  return UsageError(fmt::format("{}: vectors of {} numbers; expected {}, the dim of the training",
                                source_.source.string(), columns, options_.dim));
}

absl::Status InitialVectors::OpenRun() {
  ASSIGN_OR_RETURN(run_, OpenTrainedRun(source_.source, source_.graph));
  RETURN_IF_ERROR(CheckDimensions(run_->embeddings.columns()));
  // The table is read once, front to back.
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
  RETURN_IF_ERROR(RemoveFile(paths_.UnsortedVectors()));  // left by a kill
  ASSIGN_OR_RETURN(auto sorted, SortedVectors::Make(std::move(source), nodes.hash_seed(), sort_bytes_,
                                                    paths_.UnsortedVectors(), spill_));
  vectors = std::make_unique<VectorsByNode>(std::move(sorted), nodes);
  return absl::OkStatus();
}

absl::Status InitialVectors::CopyEmbeddings(std::uint64_t first, std::span<float> rows) {
  RETURN_IF_ERROR(Failpoint("initial.rows"));
  RETURN_IF_ERROR(CheckStop());
  if (embeddings_ == nullptr) {
    if (run_) file_ = SourceOf(run_->embeddings, TableName::kEmbeddings);
    RETURN_IF_ERROR(Sort(std::move(file_), embeddings_));
  }
  return embeddings_->Copy(first, rows, [this](NodeId node) { known_.nodes.Mark(Value(node)); });
}

absl::Status InitialVectors::CopyOptimizer(std::uint64_t first, std::span<float> rows) {
  RETURN_IF_ERROR(Failpoint("initial.state"));
  RETURN_IF_ERROR(CheckStop());
  RETURN_IF_ERROR(FinishEmbeddings());  // frees its memory, as the state takes as much
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

// Reads the rest of the embeddings and frees their memory.
absl::Status InitialVectors::FinishEmbeddings() {
  if (embeddings_ == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(embeddings_->Finish());
  vectors_ = embeddings_->count();
  embeddings_.reset();
  return absl::OkStatus();
}

absl::StatusOr<InitialEvent> InitialVectors::Finish() {
  RETURN_IF_ERROR(FinishEmbeddings());
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
                      .vectors = vectors_,
                      .nodes = known_.nodes.Count(),
                      .all_nodes = known_.nodes.rows(),
                      .relation_rows = known_.relations.Count(),
                      .all_relation_rows = known_.relations.rows(),
                      .optimizer_state = state_.has_value()};
}

}  // namespace octavo
