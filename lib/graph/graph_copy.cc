#include "graph/graph_copy.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"
#include "cells/cell_writer.h"
#include "cells/edge_record.h"
#include "io/file.h"
#include "io/write_behind.h"

namespace octavo {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;

absl::Status CopyFile(const std::filesystem::path& from, const std::filesystem::path& to,
                      const std::function<bool()>& stop) {
  ASSIGN_OR_RETURN(const File in, File::OpenRead(from));
  ASSIGN_OR_RETURN(File out, File::Create(to));
  ASSIGN_OR_RETURN(const std::uint64_t size, in.Size());
  std::vector<std::byte> piece(std::min(size, kPieceBytes));
  WriteBehind write_behind;
  for (std::uint64_t at = 0; at < size;) {
    if (stop && stop()) return absl::CancelledError("interrupted");
    const auto some = std::span(piece).first(std::min<std::uint64_t>(piece.size(), size - at));
    RETURN_IF_ERROR(in.ReadAt(at, some));
    in.DropBehind(at, some.size());
    RETURN_IF_ERROR(out.WriteAt(at, some));
    at += some.size();
    RETURN_IF_ERROR(write_behind.Advance(out, at));
  }
  RETURN_IF_ERROR(write_behind.Finish(out, size));
  return out.Close();
}

}  // namespace

absl::Status CopyNodes(const GraphPaths& from, const GraphPaths& to, const std::function<bool()>& stop) {
  RETURN_IF_ERROR(CopyFile(from.NodeHashes(), to.NodeHashes(), stop));
  RETURN_IF_ERROR(CopyFile(from.NodeNames(), to.NodeNames(), stop));
  return CopyFile(from.NodeOffsets(), to.NodeOffsets(), stop);
}

absl::Status CopyLabels(const GraphPaths& from, const GraphPaths& to, const std::function<bool()>& stop) {
  for (const std::string& name : GraphPaths::LabelFileNames()) {
    RETURN_IF_ERROR(CopyFile(from.folder() / name, to.folder() / name, stop));
  }
  return absl::OkStatus();
}

absl::StatusOr<CellsHeader> CopyCells(const CellReader& from, const std::filesystem::path& path,
                                      const CellsHeader& layout, const std::function<bool()>& stop) {
  ASSIGN_OR_RETURN(CellWriter writer, CellWriter::Create(path, layout));
  std::vector<Edge> edges;
  std::vector<EdgeRecord> records;
  std::vector<std::byte> scratch;
  for (std::size_t block = 0; block < from.block_count(); ++block) {
    if (stop && stop()) return absl::CancelledError("interrupted");
    const BlockRecord& place = from.block(block);
    edges.resize(place.edges);
    RETURN_IF_ERROR(from.ReadBlock(block, edges, scratch));
    from.Forget(block, block + 1);
    records.clear();
    for (const Edge& edge : edges) {
      EdgeRecord record;
      record.head = static_cast<std::uint32_t>(Value(edge.head));
      record.tail = static_cast<std::uint32_t>(Value(edge.tail));
      record.set_relation(Value(edge.relation));
      record.weight = edge.weight;
      records.push_back(record);
    }
    RETURN_IF_ERROR(writer.Append(EncodeCell(records, place.head_partition, place.tail_partition, layout)));
  }
  return writer.Finish();
}

}  // namespace octavo
