// An index of the nodes' vectors that finds most of a node's nearest neighbours by cosine without comparing all
// vectors: a hierarchical navigable small world graph (Malkov and Yashunin, "Efficient and robust approximate nearest
// neighbor search using hierarchical navigable small world graphs", TPAMI 2020), by hnswlib.
//
// The file has the format of hnswlib 0.6: its Python module opens it with space "cosine" (or "ip"). Labels are node
// ids, and vectors are divided by their norms (rows of zeros stay). hnswlib trusts every byte of a file. Therefore
// files are written and read here, with a checksum in a separate header (format/index_header.h), and an index is only
// searched after everything that hnswlib follows has been checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "evaluate/embedded_graph.h"
#include "evaluate/top_k.h"
#include "export/output_file.h"
#include "format/index_header.h"

namespace octavo {

struct IndexOptions {
  std::uint32_t m = 16;                 // in [kMinIndexM, kMaxIndexM]
  std::uint64_t ef_construction = 200;  // candidates kept during the search for a node's links
  std::uint64_t memory_bytes = 0;       // for the buffers of rows; 0: 64 MiB
  // Called with the number of nodes added so far, from the calling thread.
  std::function<void(std::uint64_t)> progress = {};
};

// Constant after Build and Load; any thread.
class CosineIndex {
 public:
  // Upper bound for the memory of an index: nodes * (4 dim + 8 m + 160) bytes and 4 MiB.
  static std::uint64_t MemoryBytes(std::uint64_t nodes, std::uint64_t dim, std::uint64_t m);

  // Additional memory of one search: marks of the visited nodes, and its candidates. MemoryBytes includes the marks of
  // one search.
  static std::uint64_t SearchBytes(std::uint64_t nodes, std::uint64_t ef) { return 2 * nodes + 64 * ef; }

  // Adds the nodes in id order, on this thread only, so that the bytes depend only on vectors and options.
  static absl::StatusOr<CosineIndex> Build(const EmbeddedGraph& embedded, const IndexOptions& options);

  // The same for rows [dim] that `read` passes to its argument, one after the other; the n-th is node n. Fewer or more
  // than `nodes` rows are an error. Calls no progress.
  using AddRow = std::function<void(std::span<const float>)>;
  static absl::StatusOr<CosineIndex> BuildOf(std::uint64_t nodes, std::uint64_t dim, const IndexOptions& options,
                                             const std::function<absl::Status(const AddRow&)>& read);

  // Reads the index at `path`; with `drop_behind`, drops the file from the page cache. A file that does not match
  // `header`, or that has an invalid link, is a corrupt-file error.
  static absl::StatusOr<CosineIndex> Load(const std::filesystem::path& path, const IndexHeader& header,
                                          bool drop_behind);

  CosineIndex(CosineIndex&&) noexcept;
  CosineIndex& operator=(CosineIndex&&) = delete;
  ~CosineIndex();

  std::uint64_t nodes() const;

  // Appends the file and returns its header, without the run's identity. Does not commit.
  absl::StatusOr<IndexHeader> Write(OutputFile& output) const;

  // Returns up to k nodes other than `node` with their cosines, best first, ties by id: the best among the `ef`
  // candidates of the search. A larger `ef` finds more true neighbours.
  // REQUIRES: node < nodes()
  std::vector<ScoredNode> Nearest(NodeId node, std::size_t k, std::size_t ef) const;

  // Returns the share of the k nearest neighbours that Nearest finds, for `sample` evenly spaced nodes. A found node
  // counts if it is at least as near as the exact k-th neighbour. Runs on TBB with at most `threads` threads; compares
  // each sampled node with all nodes.
  // REQUIRES: sample, k, threads > 0
  double Recall(std::uint64_t sample, std::size_t k, std::size_t ef, int threads) const;

 private:
  struct Hnsw;
  explicit CosineIndex(std::unique_ptr<Hnsw> hnsw);
  const float* Vector(std::uint64_t node) const;
  // Adds the next node. row: [dim], scratch: [dim]
  void Add(std::span<const float> row, std::span<float> scratch);
  // The lowest cosine among the k nearest other nodes, by exact comparison with all.
  float ExactThreshold(std::uint64_t node, std::size_t k) const;

  std::unique_ptr<Hnsw> hnsw_;
};

// Reads FILE.octavo. A missing file is a usage error.
absl::StatusOr<IndexHeader> ReadIndexHeader(const std::filesystem::path& path);

}  // namespace octavo
