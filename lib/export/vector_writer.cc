#include "export/vector_writer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/status.h"

namespace octavo {
namespace {

constexpr std::uint64_t kBlockBytes = 8 << 20;
constexpr std::size_t kPieces = 16;          // a block is formatted in this many pieces, each by one worker
constexpr std::uint64_t kNameRows = 16'384;  // names written at a time

void Normalize(std::span<float> row) {
  double sum = 0;
  for (const float x : row) sum += static_cast<double>(x) * static_cast<double>(x);
  if (sum == 0) return;
  const double scale = 1.0 / std::sqrt(sum);
  for (float& x : row) x = static_cast<float>(static_cast<double>(x) * scale);
}

// A piece of a block as text; the memory is kept from block to block.
struct Piece {
  std::string text;
  std::uint64_t names_changed = 0;
};

void FormatPiece(const VectorTable& table, const WriteOptions& options, std::uint64_t first, std::span<float> values,
                 Piece& piece) {
  piece.text.clear();
  for (std::size_t offset = 0; offset < values.size(); offset += table.columns) {
    const std::span<float> row = values.subspan(offset, table.columns);
    if (options.normalize) Normalize(row);
    const std::string_view name =
        options.format == VectorFormat::kNpy ? "" : table.name(first + offset / table.columns);
    piece.names_changed += AppendVector(options.format, name, row, piece.text) ? 1 : 0;
  }
}

}  // namespace

absl::StatusOr<WriteReport> WriteVectors(const VectorTable& table, const WriteOptions& options, OutputFile& output) {
  const std::uint64_t block_bytes = options.block_bytes == 0 ? kBlockBytes : options.block_bytes;
  const std::uint64_t block_rows = std::max<std::uint64_t>(1, block_bytes / (table.columns * sizeof(float)));
  std::vector<float> values;
  std::vector<Piece> pieces(kPieces);
  RETURN_IF_ERROR(output.Append(VectorHeader(options.format, table.rows, table.columns)));
  for (std::uint64_t first = 0; first < table.rows; first += block_rows) {
    const std::uint64_t rows = std::min(block_rows, table.rows - first);
    const std::uint64_t piece_rows = (rows + kPieces - 1) / kPieces;
    values.resize(rows * table.columns);
    if (options.format != VectorFormat::kNpy && table.will_name) table.will_name(first, rows);
    RETURN_IF_ERROR(table.read(first, values));
    ParallelEach(0, kPieces, [&](std::size_t i) {
      const std::uint64_t begin = std::min(rows, i * piece_rows);
      const std::uint64_t end = std::min(rows, begin + piece_rows);
      FormatPiece(table, options, first + begin,
                  std::span(values).subspan(begin * table.columns, (end - begin) * table.columns), pieces[i]);
    });
    for (const Piece& piece : pieces) RETURN_IF_ERROR(output.Append(piece.text));
    if (table.done) table.done(first, rows);
    if (options.progress) options.progress(first + rows);
  }
  WriteReport report;
  for (const Piece& piece : pieces) report.names_changed += piece.names_changed;
  return report;
}

absl::Status WriteNames(const VectorTable& table, OutputFile& output) {
  std::string text;
  for (std::uint64_t first = 0; first < table.rows; first += kNameRows) {
    const std::uint64_t rows = std::min(kNameRows, table.rows - first);
    if (table.will_name) table.will_name(first, rows);
    for (std::uint64_t row = first; row < first + rows; ++row) {
      text += table.name(row);
      text += '\n';
    }
    RETURN_IF_ERROR(output.Append(text));
    text.clear();
    if (table.done) table.done(first, rows);
  }
  return absl::OkStatus();
}

}  // namespace octavo
