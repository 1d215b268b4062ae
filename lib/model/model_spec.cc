#include "model/model_spec.h"

#include <array>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

struct Name {
  std::string_view name;
  ModelKind kind;
};

constexpr std::array<Name, 7> kNames = {{{"dot", ModelKind::kDot},
                                         {"distmult", ModelKind::kDistMult},
                                         {"complex", ModelKind::kComplEx},
                                         {"transe", ModelKind::kTransE},
                                         {"rotate", ModelKind::kRotatE},
                                         {"source-context", ModelKind::kSourceContext},
                                         {"rescal", ModelKind::kRescal}}};

constexpr std::size_t kMaxDim = 65536;
// Of a relation: a chunk copies one for each query.
constexpr std::size_t kMaxWidth = std::size_t{1} << 20;

}  // namespace

std::size_t ModelSpec::RelationWidth() const {
  if (kind == ModelKind::kDot || kind == ModelKind::kSourceContext) return 0;
  if (kind == ModelKind::kRescal) return dim * BlockSide();
  return kind == ModelKind::kRotatE ? dim / 2 : dim;
}

absl::Status ModelSpec::Validate() const {
  if (dim == 0 || dim > kMaxDim) {
    return UsageError(fmt::format("dim is {}; expected 1 to {}", dim, kMaxDim));
  }
  if ((kind == ModelKind::kComplEx || kind == ModelKind::kRotatE) && dim % 2 != 0) {
    return UsageError(fmt::format("dim is {}; expected an even number for {}, whose rows are dim / 2 complex numbers",
                                  dim, ModelName(kind)));
  }
  if (kind == ModelKind::kSourceContext && dim % 2 != 0) {
    return UsageError(
        fmt::format("dim is {}; expected an even number for {}, whose rows are two halves", dim, ModelName(kind)));
  }
  if (kind == ModelKind::kRescal && (BlockSide() > dim || dim % BlockSide() != 0)) {
    return UsageError(fmt::format("dim is {} and block {}; expected a multiple of the block", dim, block));
  }
  if (kind == ModelKind::kRescal && RelationWidth() > kMaxWidth) {
    return UsageError(fmt::format("dim is {} and block {}; expected a product of at most {} numbers for each relation",
                                  dim, BlockSide(), kMaxWidth));
  }
  return absl::OkStatus();
}

ColumnRange ColumnsOf(RowPart part, const ModelSpec& model) {
  const std::size_t half = model.dim / 2;
  return {part == RowPart::kContext ? half : 0, part == RowPart::kSource ? half : model.dim};
}

std::string_view ModelName(ModelKind kind) {
  for (const Name& entry : kNames) {
    if (entry.kind == kind) return entry.name;
  }
  return "unknown";
}

absl::StatusOr<ModelKind> ParseModel(std::string_view name) {
  for (const Name& entry : kNames) {
    if (entry.name == name) return entry.kind;
  }
  return UsageError(
      fmt::format("\"{}\" is not a model; expected dot, distmult, complex, transe, rotate, "
                  "source-context or rescal",
                  Escape(name)));
}

}  // namespace octavo
