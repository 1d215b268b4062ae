#include "tests/support/small_graph.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/checked_math.h"
#include "base/status.h"
#include "fmt/format.h"
#include "format/array_header.h"
#include "format/cells.h"
#include "format/graph_description.h"
#include "format/npy_header.h"
#include "format/paths.h"
#include "io/checksum.h"

namespace octavo {
namespace {

constexpr std::uint64_t kHashSeed = 1;

void WriteFile(const std::filesystem::path& path, const std::string& contents) {
  std::ofstream file(path, std::ios::binary);
  file << contents;
  if (!file.flush()) throw std::runtime_error(path.string());
}

template <typename Range>
std::string BytesOf(const Range& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])};
}

std::uint64_t ChecksumOf(const std::string& bytes) { return Checksum64(std::as_bytes(std::span<const char>(bytes))); }

ArrayHeader WriteArray(const std::filesystem::path& path, ArrayKind kind, const std::vector<std::uint64_t>& values) {
  ArrayHeader header;
  header.kind = kind;
  header.count = values.size();
  header.hash_seed = kind == ArrayKind::kNodeHashes ? kHashSeed : 0;
  header.data_checksum = ChecksumOf(BytesOf(values));
  WriteFile(path, BytesOf(EncodeArrayHeader(header)) + BytesOf(values));
  return header;
}

CellsHeader WriteCells(const std::filesystem::path& path, const SmallGraph& graph, const std::vector<Edge>& edges) {
  CellsHeader header;
  header.has_relations = graph.relations.size() > 1 ? 1 : 0;
  header.partition_rows = graph.partition_rows;
  header.node_count = graph.names.size();
  header.partition_count =
      static_cast<std::uint32_t>(RoundUp(graph.names.size(), graph.partition_rows) / graph.partition_rows);
  header.relation_count = graph.relations.size();
  header.edge_count = edges.size();
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Edge>> cells;
  for (const Edge& edge : edges) {
    cells[{Value(edge.head) / graph.partition_rows, Value(edge.tail) / graph.partition_rows}].push_back(edge);
  }
  std::string blocks;
  std::vector<BlockRecord> records;
  constexpr std::size_t kBlockEdges = 7;  // small, so that a few edges make several blocks
  for (const auto& [cell, cell_edges] : cells) {
    for (std::size_t first = 0; first < cell_edges.size(); first += kBlockEdges) {
      const auto block = std::span(cell_edges).subspan(first, std::min(kBlockEdges, cell_edges.size() - first));
      std::vector<std::uint32_t> words;
      for (const Edge& edge : block)
        words.push_back(static_cast<std::uint32_t>(Value(edge.head) % graph.partition_rows));
      for (const Edge& edge : block)
        words.push_back(static_cast<std::uint32_t>(Value(edge.tail) % graph.partition_rows));
      if (header.has_relations != 0) {
        for (const Edge& edge : block) words.push_back(Value(edge.relation));
      }
      const std::string bytes = BytesOf(words);
      records.push_back({kCellsHeaderBytes + blocks.size(), ChecksumOf(bytes), static_cast<std::uint32_t>(block.size()),
                         static_cast<std::uint32_t>(cell.first), static_cast<std::uint32_t>(cell.second), 0});
      blocks += bytes;
    }
  }
  header.block_count = records.size();
  header.index_offset = kCellsHeaderBytes + blocks.size();
  header.index_checksum = ChecksumOf(BytesOf(records));
  const auto head = EncodeCellsHeader(header);
  WriteFile(path, BytesOf(head) + blocks + BytesOf(records));
  std::memcpy(&header, head.data(), sizeof(header));
  return header;
}

}  // namespace

std::vector<std::string> NumberedNames(std::uint64_t count) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < count; ++i) names.push_back(fmt::format("n{}", i));
  return names;
}

std::unique_ptr<Graph> WriteGraph(const SmallGraph& graph, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const GraphPaths paths(folder);
  std::map<std::uint64_t, std::string> by_hash;
  for (const std::string& name : graph.names) by_hash[HashName(name, kHashSeed)] = name;
  if (by_hash.size() != graph.names.size()) throw std::runtime_error("names repeat");
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint64_t> offsets = {0};
  std::string names;
  for (const auto& [hash, name] : by_hash) {
    hashes.push_back(hash);
    names += name + "\n";
    offsets.push_back(names.size());
  }
  WriteFile(paths.NodeNames(), names);
  const ArrayHeader hash_header = WriteArray(paths.NodeHashes(), ArrayKind::kNodeHashes, hashes);
  const ArrayHeader offset_header = WriteArray(paths.NodeOffsets(), ArrayKind::kNodeOffsets, offsets);
  std::string relations;
  for (const std::string& relation : graph.relations) relations += relation + "\t0\n";
  WriteFile(paths.Relations(), relations);
  const std::array<CellsHeader, 3> cells = {WriteCells(paths.Cells(Split::kTrain), graph, graph.train),
                                            WriteCells(paths.Cells(Split::kValid), graph, graph.valid),
                                            WriteCells(paths.Cells(Split::kTest), graph, graph.test)};
  GraphDescription description;
  description.node_count = graph.names.size();
  description.relation_count = static_cast<std::uint32_t>(graph.relations.size());
  description.partition_rows = graph.partition_rows;
  description.partition_count = cells[0].partition_count;
  description.has_relations = graph.relations.size() > 1;
  description.train_edges = graph.train.size();
  description.valid_edges = graph.valid.size();
  description.test_edges = graph.test.size();
  description.fingerprint = GraphFingerprint(cells, hash_header, offset_header, relations);
  WriteFile(paths.Description(), EncodeGraphDescription(description, "{}"));
  absl::StatusOr<std::unique_ptr<Graph>> opened = Graph::Open(folder);
  if (!opened.ok()) throw std::runtime_error(std::string(MessageOf(opened.status())));
  return *std::move(opened);
}

TableReader WriteTable(std::span<const float> values, std::uint64_t columns, std::uint64_t partition_rows,
                       const std::filesystem::path& folder) {
  const NpyShape shape{values.size() / columns, columns};
  const std::filesystem::path path = folder / "embeddings.npy";
  WriteFile(path, BytesOf(EncodeNpyHeader(shape)) + BytesOf(values));
  const std::uint64_t partitions = RoundUp(shape.rows, partition_rows) / partition_rows;
  auto reader = TableReader::Open({path, path}, shape, partition_rows, std::vector<std::uint8_t>(partitions, 0));
  if (!reader.ok()) throw std::runtime_error(std::string(MessageOf(reader.status())));
  return *std::move(reader);
}

}  // namespace octavo
