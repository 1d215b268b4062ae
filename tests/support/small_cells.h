// Writes an edge file from a list of edges, in a simple and slow way, without the importer's code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/edge.h"
#include "format/cells.h"
#include "io/checksum.h"

namespace octavo {

struct SmallCells {
  std::uint64_t node_count = 0;
  std::uint64_t relation_count = 1;
  std::uint64_t partition_rows = 1024;
  bool has_weights = false;
  std::uint32_t block_edges = kMaxBlockEdges;  // per block, at most
};

// The edges are put into cells in the given order.
inline void WriteSmallCells(const std::filesystem::path& path, const SmallCells& graph, std::vector<Edge> edges) {
  const auto head_partition = [&](const Edge& e) {
    return static_cast<std::uint32_t>(Value(e.head) / graph.partition_rows);
  };
  const auto tail_partition = [&](const Edge& e) {
    return static_cast<std::uint32_t>(Value(e.tail) / graph.partition_rows);
  };
  const auto cell = [&](const Edge& e) { return std::tuple(head_partition(e), tail_partition(e)); };
  std::ranges::stable_sort(edges, {}, cell);
  CellsHeader header;
  header.has_relations = graph.relation_count > 1 ? 1 : 0;
  header.has_weights = graph.has_weights ? 1 : 0;
  header.partition_rows = graph.partition_rows;
  header.partition_count =
      static_cast<std::uint32_t>((graph.node_count + graph.partition_rows - 1) / graph.partition_rows);
  header.node_count = graph.node_count;
  header.relation_count = graph.relation_count;
  header.edge_count = edges.size();
  std::string body;
  std::vector<BlockRecord> records;
  for (std::size_t begin = 0, end = 0; begin < edges.size(); begin = end) {
    while (end < edges.size() && end - begin < graph.block_edges && cell(edges[end]) == cell(edges[begin])) ++end;
    const auto block = std::span(edges).subspan(begin, end - begin);
    std::string bytes;
    const auto put = [&](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
    for (const Edge& e : block) put(static_cast<std::uint32_t>(Value(e.head) % graph.partition_rows));
    for (const Edge& e : block) put(static_cast<std::uint32_t>(Value(e.tail) % graph.partition_rows));
    if (header.has_relations != 0) {
      for (const Edge& e : block) put(Value(e.relation));
    }
    if (graph.has_weights) {
      for (const Edge& e : block) put(e.weight);
    }
    records.push_back({.offset = kCellsHeaderBytes + body.size(),
                       .checksum = Checksum64(std::as_bytes(std::span<const char>(bytes))),
                       .edges = static_cast<std::uint32_t>(block.size()),
                       .head_partition = head_partition(block[0]),
                       .tail_partition = tail_partition(block[0])});
    body += bytes;
  }
  header.block_count = records.size();
  header.index_offset = kCellsHeaderBytes + body.size();
  header.index_checksum = Checksum64(std::as_bytes(std::span<const BlockRecord>(records)));
  const auto head = EncodeCellsHeader(header);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(head.data()), static_cast<std::streamsize>(head.size()));
  out << body;
  out.write(reinterpret_cast<const char*>(records.data()),
            static_cast<std::streamsize>(records.size() * sizeof(BlockRecord)));
}

// `count` edges among `nodes` nodes, each with another weight, so that no two are equal.
inline std::vector<Edge> DistinctEdges(std::uint64_t count, std::uint64_t nodes, std::uint32_t relations) {
  std::vector<Edge> edges;
  for (std::uint64_t i = 0; i < count; ++i) {
    edges.push_back({.head = NodeId{i * 7919 % nodes},
                     .tail = NodeId{i * 104729 % nodes},
                     .relation = RelationId{static_cast<std::uint32_t>(i % relations)},
                     .weight = static_cast<float>(i)});
  }
  return edges;
}

}  // namespace octavo
