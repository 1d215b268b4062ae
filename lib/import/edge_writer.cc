#include "import/edge_writer.h"

#include <cstddef>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "import/cell_writer.h"

namespace octavo {
namespace {

constexpr std::array<Part, 3> kParts = {Part::kTrain, Part::kValid, Part::kTest};

// One cell of all three parts.
struct PreparedCell {
  std::array<EncodedCell, 3> parts;
  std::array<std::uint64_t, 3> duplicates{};
  std::array<std::uint64_t, 3> also_in_train{};
  std::span<const EdgeRecord> train;  // what stays of it
};

PreparedCell PrepareCell(SortedEdges& edges, std::uint32_t cell, const CellsHeader& layout, bool merge) {
  PreparedCell prepared;
  for (const Part part : kParts) {
    const auto i = static_cast<std::size_t>(part);
    std::span<EdgeRecord> mine = edges.Edges(cell, part);
    if (mine.empty()) continue;
    OrderCell(mine);
    mine = mine.first(HandleDuplicates(mine, merge, prepared.duplicates[i]));
    if (part == Part::kTrain) {
      prepared.train = mine;
    } else {
      prepared.also_in_train[i] = CountShared(mine, prepared.train);
    }
    const std::uint32_t partitions = edges.partitions().count;
    prepared.parts[i] = EncodeCell(mine, cell / partitions, cell % partitions, layout);
  }
  return prepared;
}

// Appends prepared cells, which come in order, and adds up their counts.
class Appender {
 public:
  Appender(std::vector<CellWriter>& writers, const EdgeWriterOptions& options, WrittenEdges& out)
      : writers_(writers), options_(options), out_(out) {}

  absl::Status Append(const PreparedCell& cell) {
    if (options_.stop && options_.stop()) return absl::CancelledError("interrupted");
    for (std::size_t i = 0; i < kParts.size(); ++i) {
      if (cell.parts[i].edges > 0) RETURN_IF_ERROR(writers_[i].Append(cell.parts[i]));
      out_.duplicates[i] += cell.duplicates[i];
      out_.also_in_train[i] += cell.also_in_train[i];
      edges_ += cell.parts[i].edges;
    }
    for (const EdgeRecord& edge : cell.train) ++out_.relation_train_edges[edge.relation()];
    if (options_.progress) options_.progress(edges_);
    return absl::OkStatus();
  }

 private:
  std::vector<CellWriter>& writers_;
  const EdgeWriterOptions& options_;
  WrittenEdges& out_;
  std::uint64_t edges_ = 0;
};

}  // namespace

absl::StatusOr<WrittenEdges> WriteEdges(const GraphPaths& paths, SortedEdges& edges, const CellsHeader& layout,
                                        const EdgeWriterOptions& options) {
  WrittenEdges out;
  out.relation_train_edges.resize(layout.relation_count);
  std::vector<CellWriter> writers;
  for (const Part part : kParts) {
    ASSIGN_OR_RETURN(CellWriter writer, CellWriter::Create(paths.Cells(static_cast<Split>(part)), layout));
    writers.push_back(std::move(writer));
  }
  Appender appender(writers, options, out);
  // A row of cells at a time: prepared side by side, appended in order.
  const std::uint32_t row_cells = edges.partitions().count;
  std::vector<PreparedCell> row(row_cells);
  for (std::uint32_t first = 0; first < edges.cell_count(); first += row_cells) {
    ParallelEach(0, row_cells, [&](std::size_t i) {
      row[i] = PrepareCell(edges, first + static_cast<std::uint32_t>(i), layout, options.merge_duplicates);
    });
    for (const PreparedCell& cell : row) RETURN_IF_ERROR(appender.Append(cell));
  }
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    ASSIGN_OR_RETURN(out.headers[i], writers[i].Finish());
  }
  return out;
}

}  // namespace octavo
