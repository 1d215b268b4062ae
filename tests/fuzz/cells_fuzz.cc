// Edge files. After an 'r' come the bytes of a file; after an 'm' a recipe for one: which fields and checksums are set
// correctly, the header's fields, the block records, and the words of the blocks.
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/edge.h"
#include "base/parallel.h"
#include "format/cells.h"
#include "graph/cell_reader.h"
#include "graph/verify_cells.h"
#include "io/checksum.h"
#include "tests/fuzz/fuzz.h"

namespace octavo {
namespace {

enum Flags : std::uint8_t { kOffsets = 1, kCounts = 2, kBlockSums = 4, kIndexSum = 8, kSmallIds = 16 };
constexpr std::size_t kMostBlockBytes = (kMaxBlockEdges + 16) * std::size_t{16};

std::string FileOfRecipe(FuzzInput input) {
  const auto flags = static_cast<std::uint8_t>(~input.Value<std::uint8_t>());  // zeros: everything is set correctly
  CellsHeader header;
  const auto columns = input.Value<std::uint8_t>();
  header.has_relations = columns & 7U;
  header.has_weights = columns >> 5U;
  header.partition_count = input.Value<std::uint16_t>();
  header.partition_rows = input.Value<std::uint64_t>();
  header.node_count = input.Value<std::uint64_t>();
  header.relation_count = input.Value<std::uint32_t>();
  header.edge_count = input.Value<std::uint64_t>();
  header.block_count = input.Value<std::uint64_t>();
  header.index_offset = input.Value<std::uint64_t>();
  std::vector<BlockRecord> records(input.Value<std::uint8_t>() % 32);
  std::size_t bytes = 0;
  std::uint64_t edges = 0;
  for (BlockRecord& record : records) {
    record.edges = input.Value<std::uint16_t>();
    record.head_partition = input.Value<std::uint16_t>();
    record.tail_partition = input.Value<std::uint16_t>();
    record.offset = (flags & kOffsets) != 0 ? kCellsHeaderBytes + bytes : input.Value<std::uint64_t>();
    bytes = std::min(bytes + record.edges * EdgeBytes(header), kMostBlockBytes);
    edges += record.edges;
  }
  std::string blocks(input.Take(bytes));
  blocks.resize(bytes);
  for (std::size_t i = 0; (flags & kSmallIds) != 0 && i < blocks.size(); ++i) {
    if (i % 4 >= 2) blocks[i] = 0;
  }
  for (BlockRecord& record : records) {
    const std::uint64_t begin = std::min<std::uint64_t>(record.offset - kCellsHeaderBytes, blocks.size());
    const auto found = BytesOf(std::string_view(blocks).substr(begin, record.edges * EdgeBytes(header)));
    if ((flags & kBlockSums) != 0) record.checksum = Checksum64(found);
  }
  if ((flags & kCounts) != 0) {
    header.edge_count = edges;
    header.block_count = records.size();
    header.index_offset = kCellsHeaderBytes + blocks.size();
  }
  const std::string_view index(reinterpret_cast<const char*>(records.data()), records.size() * sizeof(BlockRecord));
  header.index_checksum = (flags & kIndexSum) != 0 ? Checksum64(BytesOf(index)) : 0;
  const auto head = EncodeCellsHeader(header);
  return std::string(reinterpret_cast<const char*>(head.data()), head.size()) + blocks + std::string(index);
}

std::uint32_t WordAt(std::string_view bytes, std::size_t at) {
  MUST(at + 4 <= bytes.size());
  std::uint32_t word;
  std::memcpy(&word, bytes.data() + at, 4);
  return word;
}

// Every edge is in the file where the format says, and within the graph.
void CheckEdges(const CellReader& reader, const std::vector<Edge>& edges, std::string_view file) {
  const CellsHeader& header = reader.header();
  MUST(edges.size() == header.edge_count && reader.block_count() == header.block_count);
  std::size_t at = kCellsHeaderBytes;
  std::size_t edge = 0;
  for (std::size_t b = 0; b < reader.block_count(); ++b) {
    const BlockRecord& block = reader.block(b);
    const std::size_t n = block.edges;
    MUST(n > 0 && n <= kMaxBlockEdges && block.offset == at);
    for (std::size_t i = 0; i < n; ++i, ++edge) {
      const Edge& found = edges[edge];
      MUST(Value(found.head) < header.node_count && Value(found.tail) < header.node_count);
      MUST(Value(found.head) == block.head_partition * header.partition_rows + WordAt(file, at + 4 * i));
      MUST(Value(found.tail) == block.tail_partition * header.partition_rows + WordAt(file, at + 4 * (n + i)));
      MUST(Value(found.head) / header.partition_rows == block.head_partition);
      MUST(Value(found.relation) == (header.has_relations != 0 ? WordAt(file, at + 4 * (2 * n + i)) : 0));
      MUST(Value(found.relation) < header.relation_count);
      if (header.has_weights == 0) MUST(found.weight == 1.0F);
    }
    at += n * EdgeBytes(header);
  }
  MUST(at == header.index_offset && at + reader.block_count() * sizeof(BlockRecord) == file.size());
}

// The result for a training: the first error, or ok.
absl::Status ReadAll(const std::string& path, std::string_view bytes) {
  ASSIGN_OR_RETURN(const CellReader reader, CellReader::Open(path));
  ASSIGN_OR_RETURN(const std::vector<Edge> edges, reader.ReadAll());
  CheckEdges(reader, edges, bytes);
  const auto head = EncodeCellsHeader(reader.header());
  MUST(bytes.starts_with(std::string_view(reinterpret_cast<const char*>(head.data()), head.size())));
  return absl::OkStatus();
}

void Run(std::string_view bytes) {
  static MemoryFile file;
  file.Fill(bytes);
  const absl::Status status = ReadAll(file.path(), bytes);
  if (!status.ok()) CheckError(status, {ErrorKind::kCorrupt});

  // verify finds something exactly if the reader does.
  CheckReport report;
  std::array<std::atomic<std::uint64_t>, 8> relation_edges{};
  GraphCheckOptions options;
  options.reading.piece_bytes = std::size_t{128} << 10;
  const auto header = WithThreads(1, [&] { return VerifyCells(file.path(), options, relation_edges, report); });
  MUST(header.ok());
  MUST((report.damage_count() == 0) == status.ok() && report.unread_count() == 0);
  for (const Finding& finding : report.findings()) CheckMessage(DescribeFinding(finding));
  if (!status.ok()) return;
  MUST(header->has_value());
  std::uint64_t sum = 0;
  for (const auto& edges : relation_edges) sum += edges;
  if ((*header)->relation_count <= relation_edges.size()) MUST(sum == (*header)->edge_count);
}

}  // namespace
}  // namespace octavo

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  octavo::FuzzInput input(data, size);
  const char kind = input.Value<char>();
  if (kind == 'r') octavo::Run(input.rest());
  if (kind == 'm') octavo::Run(octavo::FileOfRecipe(input));
  return 0;
}
