#include "export/vector_writer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/escape.h"
#include "base/parallel.h"
#include "base/status.h"
#include "export/formula_escape.h"
#include "fmt/format.h"
#include "format/npy_header.h"

namespace octavo {
namespace {

constexpr std::uint64_t kBlockBytes = 8 << 20;
constexpr std::size_t kPieces = 16;          // a block is formatted in this many parallel pieces
constexpr std::uint64_t kNameRows = 16'384;  // names written at a time

void Normalize(std::span<float> row) {
  double sum = 0;
  for (const float x : row) sum += static_cast<double>(x) * static_cast<double>(x);
  if (sum == 0) return;
  const double scale = 1.0 / std::sqrt(sum);
  for (float& x : row) x = static_cast<float>(static_cast<double>(x) * scale);
}

// One formatted piece of a block; its memory is reused for all blocks.
struct Piece {
  std::string bytes;
  std::string scales;
  std::vector<std::int8_t> q;
  WriteReport report;
  absl::Status status;
};

absl::Status CheckFinite(std::string_view why, std::string_view name, std::uint64_t row,
                         std::span<const float> values) {
  const auto wrong = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  if (wrong == values.end()) return absl::OkStatus();
  return RuntimeError(
      fmt::format("row {} (\"{}\"), column {}: found {}; {}", row, Escape(name), wrong - values.begin(), *wrong, why));
}

template <typename T>
void AppendBytes(std::span<const T> values, std::string& out) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

void AppendHalves(std::span<const float> values, Piece& piece) {
  for (const float value : values) {
    const std::uint16_t half = HalfOf(value);
    AppendBytes(std::span(&half, 1), piece.bytes);
    const bool infinite = (half & 0x7FFFU) == 0x7C00U;
    piece.report.values_overflowed += infinite && std::isfinite(value) ? 1 : 0;
  }
}

void AppendQuantized(std::span<const float> values, Piece& piece) {
  piece.q.resize(values.size());
  const float scale = Quantize(values, piece.q);
  AppendBytes(std::span<const std::int8_t>(piece.q), piece.bytes);
  AppendBytes(std::span(&scale, 1), piece.scales);
}

absl::Status FormatRow(const VectorTable& table, const WriteOptions& options, std::uint64_t row,
                       std::span<const float> values, Piece& piece) {
  if (options.element == VectorElement::kInt8) {
    RETURN_IF_ERROR(CheckFinite("int8 can only hold finite numbers", table.name(row), row, values));
    AppendQuantized(values, piece);
  } else if (options.element == VectorElement::kFloat16) {
    AppendHalves(values, piece);
  } else {
    std::string_view name = HoldsNames(options.format) ? table.name(row) : "";
    if (options.format == VectorFormat::kJsonLines) {
      RETURN_IF_ERROR(CheckFinite("JSON can only hold finite numbers", name, row, values));
    }
    std::optional<std::string_view> label;
    if (table.label && HoldsNames(options.format)) label = table.label(row);
    std::string escaped;
    std::string escaped_label;
    if (options.escape_formulas) name = escaped = EscapeFormula(name);
    if (options.escape_formulas && label) label = escaped_label = EscapeFormula(*label);
    piece.report.names_changed += AppendVector(options.format, name, values, piece.bytes, label) ? 1 : 0;
  }
  return absl::OkStatus();
}

void FormatPiece(const VectorTable& table, const WriteOptions& options, std::uint64_t first, std::span<float> values,
                 Piece& piece) {
  piece.bytes.clear();
  piece.scales.clear();
  for (std::size_t offset = 0; offset < values.size() && piece.status.ok(); offset += table.columns) {
    const std::span<float> row = values.subspan(offset, table.columns);
    if (options.normalize) Normalize(row);
    piece.status = FormatRow(table, options, first + offset / table.columns, row, piece);
  }
}

bool AppendName(const VectorTable& table, NamesForm form, bool escape_formulas, std::uint64_t row, std::string& text) {
  if (form == NamesForm::kJsonList) text += row == 0 ? "[" : ",\n";
  bool changed = false;
  if (form == NamesForm::kLines) {
    text += table.name(row);
  } else if (form == NamesForm::kMetadata) {
    const auto append = [&](std::string_view field) {
      return AppendName(VectorFormat::kProjector, escape_formulas ? EscapeFormula(field) : std::string(field), text);
    };
    changed = append(table.name(row));
    if (table.label) {
      text += '\t';
      append(table.label(row));
    }
  } else {
    changed = AppendName(VectorFormat::kHdf5, table.name(row), text);
  }
  if (form != NamesForm::kJsonList) text += '\n';
  return changed;
}

}  // namespace

absl::StatusOr<WriteReport> WriteVectors(const VectorTable& table, const WriteOptions& options, OutputFile& output) {
  const std::uint64_t block_bytes = options.block_bytes == 0 ? kBlockBytes : options.block_bytes;
  const std::uint64_t block_rows = std::max<std::uint64_t>(1, block_bytes / (table.columns * sizeof(float)));
  std::vector<float> values;
  std::vector<Piece> pieces(kPieces);
  ASSIGN_OR_RETURN(const std::string header, VectorHeader(options.format, options.element, table.rows, table.columns,
                                                          static_cast<bool>(table.label)));
  RETURN_IF_ERROR(output.Append(header));
  if (options.scales != nullptr) RETURN_IF_ERROR(options.scales->Append(EncodeNpyHeader("<f4", table.rows, 1)));
  for (std::uint64_t first = 0; first < table.rows; first += block_rows) {
    const std::uint64_t rows = std::min(block_rows, table.rows - first);
    const std::uint64_t piece_rows = (rows + kPieces - 1) / kPieces;
    values.resize(rows * table.columns);
    if (HoldsNames(options.format) && table.will_name) table.will_name(first, rows);
    RETURN_IF_ERROR(table.read(first, values));
    ParallelEach(0, kPieces, [&](std::size_t i) {
      const std::uint64_t begin = std::min(rows, i * piece_rows);
      const std::uint64_t end = std::min(rows, begin + piece_rows);
      FormatPiece(table, options, first + begin,
                  std::span(values).subspan(begin * table.columns, (end - begin) * table.columns), pieces[i]);
    });
    for (const Piece& piece : pieces) {
      RETURN_IF_ERROR(piece.status);
      RETURN_IF_ERROR(output.Append(piece.bytes));
      if (options.scales != nullptr) RETURN_IF_ERROR(options.scales->Append(piece.scales));
    }
    if (table.done) table.done(first, rows);
    if (options.progress) options.progress(first + rows);
  }
  WriteReport report;
  for (const Piece& piece : pieces) {
    report.names_changed += piece.report.names_changed;
    report.values_overflowed += piece.report.values_overflowed;
  }
  return report;
}

absl::StatusOr<std::uint64_t> WriteNames(const VectorTable& table, NamesForm form, bool escape_formulas,
                                         OutputFile& output) {
  std::string text = form == NamesForm::kMetadata && table.label ? "name\tlabel\n" : "";
  std::uint64_t changed = 0;
  for (std::uint64_t first = 0; first < table.rows; first += kNameRows) {
    const std::uint64_t rows = std::min(kNameRows, table.rows - first);
    if (table.will_name) table.will_name(first, rows);
    for (std::uint64_t row = first; row < first + rows; ++row) {
      changed += AppendName(table, form, escape_formulas, row, text) ? 1 : 0;
    }
    RETURN_IF_ERROR(output.Append(text));
    text.clear();
    if (table.done) table.done(first, rows);
  }
  if (form == NamesForm::kJsonList) RETURN_IF_ERROR(output.Append(table.rows == 0 ? "[]\n" : "]\n"));
  return changed;
}

}  // namespace octavo
