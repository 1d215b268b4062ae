#include "evaluate/embedded_graph.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "model/scorer.h"

namespace octavo {
namespace {

// Returns the index of the first value that is NaN or infinite, or values.size(). A float is finite unless its exponent
// bits are all ones. The integer form lets the compiler check eight at a time.
std::size_t FirstNotFinite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7F800000;
  constexpr std::size_t kStep = 1024;
  for (std::size_t begin = 0; begin < values.size(); begin += kStep) {
    const std::size_t end = std::min(begin + kStep, values.size());
    std::uint32_t bad = 0;
    for (std::size_t i = begin; i < end; ++i) {
      std::uint32_t bits;
      std::memcpy(&bits, &values[i], sizeof(bits));
      bad |= static_cast<std::uint32_t>((bits & kExponent) == kExponent);
    }
    if (bad == 0) continue;
    for (std::size_t i = begin; i < end; ++i) {
      if (!std::isfinite(values[i])) return i;
    }
  }
  return values.size();
}

}  // namespace

absl::Status CheckEmbeddedGraph(const EmbeddedGraph& embedded) {
  const std::uint64_t nodes = embedded.graph.node_count();
  const std::uint64_t relation_rows = embedded.graph.relation_count() * (embedded.reciprocal ? 2ULL : 1ULL);
  const std::size_t width = embedded.model.RelationWidth();
  if (embedded.embeddings.rows() != nodes || embedded.embeddings.columns() != embedded.model.dim) {
    return CorruptError(fmt::format("embeddings: {} rows of {}; expected {} rows of {}, one per node",
                                    embedded.embeddings.rows(), embedded.embeddings.columns(), nodes,
                                    embedded.model.dim));
  }
  if (embedded.relations.size() != relation_rows * width) {
    return CorruptError(
        fmt::format("relations: {} values; expected {} rows of {}", embedded.relations.size(), relation_rows, width));
  }
  const std::size_t bad = FirstNotFinite(embedded.relations);
  if (bad == embedded.relations.size()) return absl::OkStatus();
  const std::uint64_t row = bad / width;
  const auto relation = static_cast<RelationId>(row % embedded.graph.relation_count());
  return RuntimeError(fmt::format(
      "relations: row {} (relation \"{}\"{}) holds {} in column {}; expected finite numbers: the training diverged",
      row, Escape(embedded.graph.RelationName(relation)), row >= embedded.graph.relation_count() ? ", reciprocal" : "",
      embedded.relations[bad], bad % width));
}

absl::Status CheckFinite(const EmbeddedGraph& embedded, std::uint64_t first, std::span<const float> rows) {
  const std::size_t bad = FirstNotFinite(rows);
  if (bad == rows.size()) return absl::OkStatus();
  const std::uint64_t row = first + bad / embedded.model.dim;
  return RuntimeError(fmt::format(
      "embeddings: row {} (node \"{}\") holds {} in column {}; expected finite numbers: the training diverged", row,
      Escape(embedded.graph.nodes().Name(NodeId{row})), rows[bad], bad % embedded.model.dim));
}

void MakeLinkQuery(const EmbeddedGraph& embedded, Side side, RelationId relation, std::span<const float> known,
                   std::span<float> query) {
  const bool inverse = embedded.reciprocal && side == Side::kHead;
  const std::size_t row = Value(relation) + (inverse ? std::size_t{embedded.graph.relation_count()} : 0);
  const std::size_t width = embedded.model.RelationWidth();
  MakeQuery(embedded.model, inverse ? Side::kTail : side, known, embedded.relations.subspan(row * width, width), query);
}

}  // namespace octavo
