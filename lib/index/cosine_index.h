// An index of the nodes' vectors that finds most of a node's nearest neighbours by cosine without looking at all of
// them: a hierarchy of navigable small worlds (Malkov and Yashunin, "Efficient and robust approximate nearest neighbor
// search using hierarchical navigable small world graphs", TPAMI 2020) by hnswlib.
//
// The file is what hnswlib 0.6 writes and reads: its Python module opens it with space "cosine" (or "ip"), labels are
// node ids, and the vectors in it are divided by their norms (a row of zeros stays). hnswlib itself trusts every byte
// of a file. So files are written and read here, with a checksum in a header beside (format/index_header.h), and an
// index is not searched before all that hnswlib would follow has been checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
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
  std::uint64_t ef_construction = 200;  // candidates kept while a node's links are searched
  std::uint64_t memory_bytes = 0;       // for the rows on their way; 0: 64 MiB
  // Called with the nodes done so far, from the calling thread.
  std::function<void(std::uint64_t)> progress = {};
};

// Constant after Build and Load; any thread.
class CosineIndex {
 public:
  // What an index holds in memory, at most: nodes * (4 dim + 8 m + 160) bytes and 4 MiB.
  static std::uint64_t MemoryBytes(std::uint64_t nodes, std::uint64_t dim, std::uint64_t m);

  // What one search holds beside it: marks of the nodes it has seen, and its candidates. The first one's marks are in
  // MemoryBytes.
  static std::uint64_t SearchBytes(std::uint64_t nodes, std::uint64_t ef) { return 2 * nodes + 64 * ef; }

  // Adds the nodes in id order, on this thread alone: so the bytes depend on vectors and options only.
  static absl::StatusOr<CosineIndex> Build(const EmbeddedGraph& embedded, const IndexOptions& options);

  // Reads the index at `path`; with `drop_behind` nothing of the file stays in the page cache. A file that is not what
  // `header` says, or in which a link leads nowhere, is a corrupt-file error.
  static absl::StatusOr<CosineIndex> Load(const std::filesystem::path& path, const IndexHeader& header,
                                          bool drop_behind);

  CosineIndex(CosineIndex&&) noexcept;
  CosineIndex& operator=(CosineIndex&&) = delete;
  ~CosineIndex();

  std::uint64_t nodes() const;

  // Appends the file and returns its header, in which the run is still to be named. Does not commit.
  absl::StatusOr<IndexHeader> Write(OutputFile& output) const;

  // Returns up to k nodes other than `node` with their cosines, best first, ties by id: the best of the `ef` that the
  // search keeps, more of which find more. REQUIRES: node < nodes()
  std::vector<ScoredNode> Nearest(NodeId node, std::size_t k, std::size_t ef) const;

  // Returns which part of the k nearest of `sample` nodes, evenly spaced, Nearest finds: what is as near as the k-th of
  // an exact search counts. On TBB, at most `threads` of it; compares each node of the sample with all.
  // REQUIRES: sample, k, threads > 0
  double Recall(std::uint64_t sample, std::size_t k, std::size_t ef, int threads) const;

 private:
  struct Hnsw;
  explicit CosineIndex(std::unique_ptr<Hnsw> hnsw);
  const float* Vector(std::uint64_t node) const;
  // The lowest cosine among the k nearest other nodes, by comparing all.
  float ExactThreshold(std::uint64_t node, std::size_t k) const;

  std::unique_ptr<Hnsw> hnsw_;
};

// Reads FILE.octavo. An absent one is a usage error.
absl::StatusOr<IndexHeader> ReadIndexHeader(const std::filesystem::path& path);

}  // namespace octavo
