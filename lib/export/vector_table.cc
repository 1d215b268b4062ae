#include "export/vector_table.h"

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/status.h"
#include "tables/row_checks.h"

namespace octavo {

namespace {

// Row i has the id i, after which rows of reciprocal relations begin again.
template <typename Id>
std::function<std::string_view(std::uint64_t)> LabelsIn(const Graph& graph) {
  if (graph.labels() == nullptr) return {};
  if constexpr (std::is_same_v<Id, NodeId>) {
    return [&graph](std::uint64_t row) { return graph.LabelOf(NodeId{row}); };
  } else {
    return [&graph](std::uint64_t row) {
      return graph.LabelOf(RelationId{static_cast<std::uint32_t>(row % graph.relation_count())});
    };
  }
}

}  // namespace

VectorTable NodeVectors(const Graph& graph, const TableReader& embeddings) {
  // Shared by the copies of the function below: std::function requires its functions to be copyable.
  const auto checks = std::make_shared<RowChecks>(embeddings);
  return {embeddings.rows(),
          static_cast<std::size_t>(embeddings.columns()),
          [&graph](std::uint64_t row) { return graph.nodes().Name(NodeId{row}); },
          [&embeddings, checks](std::uint64_t first, std::span<float> values) -> absl::Status {
            RETURN_IF_ERROR(embeddings.ReadRows(first, values));
            return checks->Add(first, values);
          },
          [&graph](std::string_view name) -> std::optional<std::uint64_t> {
            const std::optional<NodeId> node = graph.nodes().Find(name);
            return node ? std::optional(Value(*node)) : std::nullopt;
          },
          [&graph](std::uint64_t first, std::uint64_t count) {
            graph.nodes().WillRead(first, count);
            if (graph.labels() != nullptr) graph.labels()->WillRead(first, count);
          },
          [&](std::uint64_t first, std::uint64_t count) {
            embeddings.Forget(first, count);
            graph.ForgetTexts(first, count);
          },
          LabelsIn<NodeId>(graph)};
}

VectorTable ColumnsOf(VectorTable whole, std::size_t first, std::size_t end) {
  VectorTable part = whole;
  part.columns = end - first;
  // Shared by the copies of the function below: std::function requires its functions to be copyable.
  const auto rows = std::make_shared<std::vector<float>>();
  part.read = [read = std::move(whole.read), width = whole.columns, columns = part.columns, first, rows](
                  std::uint64_t row, std::span<float> values) -> absl::Status {
    const std::size_t count = values.size() / columns;
    rows->resize(count * width);
    RETURN_IF_ERROR(read(row, *rows));
    for (std::size_t i = 0; i < count; ++i) {
      std::copy_n(rows->begin() + static_cast<std::ptrdiff_t>(i * width + first), columns,
                  values.begin() + static_cast<std::ptrdiff_t>(i * columns));
    }
    return absl::OkStatus();
  };
  return part;
}

VectorTable RelationVectors(const Graph& graph, std::span<const float> relations, std::size_t width) {
  const std::uint64_t rows = width == 0 ? 0 : relations.size() / width;
  // Shared by the copies of the function below: std::function requires its functions to be copyable.
  const auto names = std::make_shared<std::vector<std::string>>();
  const auto rows_of = std::make_shared<absl::flat_hash_map<std::string, std::uint64_t>>();
  for (std::uint64_t row = 0; row < rows; ++row) {
    std::string name(graph.RelationName(RelationId{static_cast<std::uint32_t>(row % graph.relation_count())}));
    if (row >= graph.relation_count()) name += kReciprocalSuffix;
    rows_of->emplace(name, row);
    names->push_back(std::move(name));
  }
  return {.rows = rows,
          .columns = width,
          .name = [names](std::uint64_t row) { return std::string_view((*names)[row]); },
          .read =
              [relations, width](std::uint64_t first, std::span<float> values) {
                std::copy_n(relations.begin() + static_cast<std::ptrdiff_t>(first * width), values.size(),
                            values.begin());
                return absl::OkStatus();
              },
          .find = [rows_of](std::string_view name) -> std::optional<std::uint64_t> {
            const auto found = rows_of->find(absl::string_view(name.data(), name.size()));
            return found == rows_of->end() ? std::nullopt : std::optional(found->second);
          },
          .label = LabelsIn<RelationId>(graph)};
}

}  // namespace octavo
