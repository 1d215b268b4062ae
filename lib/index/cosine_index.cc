#include "index/cosine_index.h"

// hnswlib's own SIMD code is disabled: its prefetches read past the lists of links, and its distances use only the
// instruction set of the compiler's target.
#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "evaluate/row_stream.h"
#include "fmt/format.h"
#include "index/inner_product.h"
#include "io/checksum.h"
#include "io/file.h"

namespace octavo {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;  // read or written at a time
constexpr std::uint64_t kDefaultMemory = 64 << 20;
constexpr std::uint64_t kMaxBlockBytes = 16 << 20;
constexpr std::uint64_t kSeed = 100;  // for the levels; hnswlib's default

// 1 - cosine of two rows with length 1.
float Distance(const void* a, const void* b, const void* dim) {
  return 1.0F - InnerProduct(static_cast<const float*>(a), static_cast<const float*>(b),
                             *static_cast<const std::size_t*>(dim));
}

class CosineSpace : public hnswlib::SpaceInterface<float> {
 public:
  explicit CosineSpace(std::size_t dim) : dim_(dim) {}
  std::size_t get_data_size() override { return dim_ * sizeof(float); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return Distance; }
  void* get_dist_func_param() override { return &dim_; }

  std::size_t dim() const { return dim_; }

 private:
  std::size_t dim_;
};

// The head of the file. The nodes of the lowest level follow, then for each node the size in bytes (u32) of its lists
// of links at higher levels, and these lists.
struct Preamble {
  std::uint64_t lowest_offset = 0;
  std::uint64_t capacity = 0;
  std::uint64_t nodes = 0;
  std::uint64_t node_bytes = 0;  // at the lowest level: count of links u32, links u32[2 m], float[dim], label u64
  std::uint64_t label_offset = 0;
  std::uint64_t vector_offset = 0;
  std::int32_t max_level = 0;
  std::uint32_t entry = 0;  // a node of the highest level; searches start here
  std::uint64_t max_m = 0;
  std::uint64_t max_m_lowest = 0;
  std::uint64_t m = 0;
  double level_scale = 0;
  std::uint64_t ef_construction = 0;
};
static_assert(sizeof(Preamble) == 96);

Preamble PreambleOf(const hnswlib::HierarchicalNSW<float>& graph) {
  return {graph.offsetLevel0_,
          graph.max_elements_,
          graph.cur_element_count,
          graph.size_data_per_element_,
          graph.label_offset_,
          graph.offsetData_,
          graph.maxlevel_,
          graph.enterpoint_node_,
          graph.maxM_,
          graph.maxM0_,
          graph.M_,
          graph.mult_,
          graph.ef_construction_};
}

// Writes a file in pieces and computes its checksum.
class PieceWriter {
 public:
  explicit PieceWriter(OutputFile& output) : output_(output) {}

  absl::Status Append(const void* bytes, std::size_t size) {
    const char* from = static_cast<const char*>(bytes);
    for (std::size_t done = 0; done < size;) {
      const std::size_t taken = std::min(size - done, kPieceBytes - piece_.size());
      piece_.append(from + done, taken);
      done += taken;
      if (piece_.size() == kPieceBytes) RETURN_IF_ERROR(Flush());
    }
    return absl::OkStatus();
  }
  absl::Status Flush() {
    checksum_.Update(std::as_bytes(std::span<const char>(piece_)));
    bytes_ += piece_.size();
    RETURN_IF_ERROR(output_.Append(piece_));
    piece_.clear();
    return absl::OkStatus();
  }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t checksum() const { return checksum_.Digest(); }

 private:
  OutputFile& output_;
  std::string piece_;
  StreamingChecksum64 checksum_;
  std::uint64_t bytes_ = 0;
};

// Reads a file in pieces and computes its checksum.
class PieceReader {
 public:
  PieceReader(const File& file, std::uint64_t file_bytes, bool drop_behind)
      : file_(file), file_bytes_(file_bytes), drop_behind_(drop_behind) {}

  // A file that ends before is a corrupt-file error.
  absl::Status Read(void* bytes, std::size_t size) {
    char* to = static_cast<char*>(bytes);
    for (std::size_t done = 0; done < size;) {
      if (next_ == piece_.size()) RETURN_IF_ERROR(Fill());
      const std::size_t taken = std::min(size - done, piece_.size() - next_);
      std::memcpy(to + done, piece_.data() + next_, taken);
      next_ += taken;
      done += taken;
    }
    return absl::OkStatus();
  }
  // Reads the rest of the file.
  absl::Status Finish() {
    while (offset_ < file_bytes_) RETURN_IF_ERROR(Fill());
    return absl::OkStatus();
  }
  std::uint64_t position() const { return offset_ - (piece_.size() - next_); }
  std::uint64_t checksum() const { return checksum_.Digest(); }

 private:
  absl::Status Fill() {
    if (offset_ == file_bytes_) {
      return CorruptError(fmt::format("{}: ends at byte {}, within its links; build the index again",
                                      file_.path().string(), file_bytes_));
    }
    piece_.resize(std::min<std::uint64_t>(kPieceBytes, file_bytes_ - offset_));
    RETURN_IF_ERROR(file_.ReadAt(offset_, std::as_writable_bytes(std::span<char>(piece_))));
    if (drop_behind_) file_.DropBehind(offset_, piece_.size());
    checksum_.Update(std::as_bytes(std::span<const char>(piece_)));
    offset_ += piece_.size();
    next_ = 0;
    return absl::OkStatus();
  }

  const File& file_;
  const std::uint64_t file_bytes_;
  const bool drop_behind_;
  std::string piece_;
  std::size_t next_ = 0;  // first byte of the piece not yet returned
  std::uint64_t offset_ = 0;
  StreamingChecksum64 checksum_;
};

}  // namespace

struct CosineIndex::Hnsw {
  Hnsw(std::size_t dim, std::uint64_t nodes, std::uint32_t m, std::uint64_t ef_construction)
      : space(dim), graph(&space, nodes, m, ef_construction, kSeed) {}

  CosineSpace space;  // before the graph, which refers to it
  hnswlib::HierarchicalNSW<float> graph;
};

namespace {

using HnswGraph = hnswlib::HierarchicalNSW<float>;

// The links of a node: a count and that many ids.
std::span<const std::uint32_t> LinksOf(const HnswGraph& graph, std::uint32_t node, int level) {
  const std::uint32_t* list = level == 0 ? graph.get_linklist0(node) : graph.get_linklist(node, level);
  return {list + 1, *list};
}

// Reads the lists above the lowest level. Rejects wrong sizes before allocating.
absl::Status ReadUpperLists(PieceReader& reader, const std::string& path, const Preamble& preamble, HnswGraph& graph) {
  for (std::uint32_t node = 0; node < preamble.nodes; ++node) {
    std::uint32_t bytes = 0;
    RETURN_IF_ERROR(reader.Read(&bytes, sizeof(bytes)));
    const std::uint64_t levels = bytes / graph.size_links_per_element_;
    if (bytes % graph.size_links_per_element_ != 0 || levels > static_cast<std::uint64_t>(preamble.max_level)) {
      return CorruptError(
          fmt::format("{}: byte {}: found {} bytes of links for node {}; expected up to {} times {}; "
                      "build the index again",
                      path, reader.position(), bytes, node, preamble.max_level, graph.size_links_per_element_));
    }
    if (bytes > 0) {
      graph.linkLists_[node] = static_cast<char*>(std::malloc(bytes));
      if (graph.linkLists_[node] == nullptr) return RuntimeError("out of memory for the index");
      graph.element_levels_[node] = static_cast<int>(levels);  // from now on the graph owns the list
      RETURN_IF_ERROR(reader.Read(graph.linkLists_[node], bytes));
    }
  }
  return absl::OkStatus();
}

// Checks everything that a search follows: counts, links and labels.
absl::Status CheckLinks(const std::string& path, const Preamble& preamble, const HnswGraph& graph) {
  const auto refuse = [&](std::uint64_t node, int level, std::uint64_t found, std::string_view expected) {
    return CorruptError(fmt::format("{}: node {}, level {}: found {}; expected {}; build the index again", path, node,
                                    level, found, expected));
  };
  for (std::uint32_t node = 0; node < preamble.nodes; ++node) {
    if (graph.getExternalLabel(node) != node) return refuse(node, 0, graph.getExternalLabel(node), "its id as label");
    for (int level = 0; level <= graph.element_levels_[node]; ++level) {
      const std::uint64_t most = level == 0 ? preamble.max_m_lowest : preamble.max_m;
      const std::span<const std::uint32_t> links = LinksOf(graph, node, level);
      if (links.size() > most) return refuse(node, level, links.size(), fmt::format("up to {} links", most));
      for (const std::uint32_t link : links) {
        if (link >= preamble.nodes || graph.element_levels_[link] < level) {
          return refuse(node, level, link, "links to nodes of the level");
        }
      }
    }
  }
  if (graph.element_levels_[preamble.entry] == preamble.max_level) return absl::OkStatus();
  return refuse(preamble.entry, preamble.max_level, preamble.entry, "to begin at a node of the highest level");
}

}  // namespace

CosineIndex::CosineIndex(std::unique_ptr<Hnsw> hnsw) : hnsw_(std::move(hnsw)) {}
CosineIndex::CosineIndex(CosineIndex&&) noexcept = default;
CosineIndex::~CosineIndex() = default;

std::uint64_t CosineIndex::nodes() const { return hnsw_->graph.cur_element_count; }

const float* CosineIndex::Vector(std::uint64_t node) const {
  return reinterpret_cast<const float*>(hnsw_->graph.getDataByInternalId(static_cast<std::uint32_t>(node)));
}

std::uint64_t CosineIndex::MemoryBytes(std::uint64_t nodes, std::uint64_t dim, std::uint64_t m) {
  // In addition to vector and links of the lowest level: count and label (12), a lock (40), a level (4), the pointer to
  // the upper lists (8) and their mean size (21 for m = 2, 6 for 16), the label's entry in a hash map while building
  // (48), and marks for a few concurrent searches (2).
  constexpr std::uint64_t kNodeBytes = 160;
  constexpr std::uint64_t kFixedBytes = 4 << 20;  // 65,536 locks, and pieces of the file
  return nodes * (4 * dim + 8 * m + kNodeBytes) + kFixedBytes;
}

absl::StatusOr<CosineIndex> CosineIndex::Build(const EmbeddedGraph& embedded, const IndexOptions& options) {
  RETURN_IF_ERROR(CheckEmbeddedGraph(embedded));
  const std::uint64_t nodes = embedded.graph.node_count();
  const std::size_t dim = embedded.model.dim;
  if (nodes > kMaxIndexNodes) {
    return UsageError(fmt::format("an index of {} nodes; expected at most {}", nodes, kMaxIndexNodes));
  }
  CosineIndex index(std::make_unique<Hnsw>(dim, nodes, options.m, options.ef_construction));
  index.hnsw_->graph.label_lookup_.reserve(nodes);
  std::vector<float> scratch(dim);
  const auto add = [&](const RowBlock& block) -> absl::Status {
    RETURN_IF_ERROR(CheckFinite(embedded, block.first, block.values));
    const std::uint64_t end = block.first + block.values.size() / dim;
    for (std::uint64_t node = block.first; node < end; ++node) index.Add(block.Row(node), scratch);
    if (options.progress) options.progress(end);
    return absl::OkStatus();
  };
  const std::uint64_t memory = options.memory_bytes == 0 ? kDefaultMemory : options.memory_bytes;
  constexpr std::uint64_t kProgressRows = 4096;  // frequent enough to be visible
  const std::uint64_t block_rows = std::min(kMaxBlockBytes, memory / 4) / (dim * sizeof(float));
  RETURN_IF_ERROR(
      StreamRows(embedded.embeddings, 0, nodes, std::clamp<std::uint64_t>(block_rows, 1, kProgressRows), add));
  return index;
}

absl::StatusOr<CosineIndex> CosineIndex::BuildOf(std::uint64_t nodes, std::uint64_t dim, const IndexOptions& options,
                                                 const std::function<absl::Status(const AddRow&)>& read) {
  CosineIndex index(std::make_unique<Hnsw>(dim, nodes, options.m, options.ef_construction));
  index.hnsw_->graph.label_lookup_.reserve(nodes);
  std::vector<float> scratch(dim);
  std::uint64_t found = 0;
  RETURN_IF_ERROR(read([&](std::span<const float> row) {
    if (found++ < nodes) index.Add(row, scratch);
  }));
  if (found != nodes) return RuntimeError(fmt::format("an index of {} rows; expected {}", found, nodes));
  return index;
}

void CosineIndex::Add(std::span<const float> row, std::span<float> scratch) {
  const double squares = std::transform_reduce(row.begin(), row.end(), 0.0, std::plus<>(),
                                               [](float x) { return static_cast<double>(x) * static_cast<double>(x); });
  const double scale = squares == 0 ? 0 : 1 / std::sqrt(squares);
  std::transform(row.begin(), row.end(), scratch.begin(),
                 [scale](float x) { return static_cast<float>(static_cast<double>(x) * scale); });
  hnsw_->graph.addPoint(scratch.data(), nodes());
}

absl::StatusOr<IndexHeader> CosineIndex::Write(OutputFile& output) const {
  const HnswGraph& graph = hnsw_->graph;
  const Preamble preamble = PreambleOf(graph);
  PieceWriter writer(output);
  RETURN_IF_ERROR(writer.Append(&preamble, sizeof(preamble)));
  RETURN_IF_ERROR(writer.Append(graph.data_level0_memory_, preamble.nodes * preamble.node_bytes));
  for (std::size_t node = 0; node < preamble.nodes; ++node) {
    const auto bytes = static_cast<std::uint32_t>(static_cast<std::size_t>(graph.element_levels_[node]) *
                                                  graph.size_links_per_element_);
    RETURN_IF_ERROR(writer.Append(&bytes, sizeof(bytes)));
    if (bytes > 0) RETURN_IF_ERROR(writer.Append(graph.linkLists_[node], bytes));
  }
  RETURN_IF_ERROR(writer.Flush());
  return IndexHeader{.m = static_cast<std::uint32_t>(preamble.m),
                     .nodes = preamble.nodes,
                     .dim = hnsw_->space.dim(),
                     .ef_construction = preamble.ef_construction,
                     .file_bytes = writer.bytes(),
                     .file_checksum = writer.checksum()};
}

absl::StatusOr<CosineIndex> CosineIndex::Load(const std::filesystem::path& path, const IndexHeader& header,
                                              bool drop_behind) {
  const std::string name = path.string();
  ASSIGN_OR_RETURN(const File file, File::OpenRead(path));
  ASSIGN_OR_RETURN(const std::uint64_t bytes, file.Size());
  if (bytes != header.file_bytes) {
    return CorruptError(
        fmt::format("{}: {} bytes; expected {} by its header; build the index again", name, bytes, header.file_bytes));
  }
  auto hnsw = std::make_unique<Hnsw>(header.dim, header.nodes, header.m, header.ef_construction);
  HnswGraph& graph = hnsw->graph;
  graph.cur_element_count = header.nodes;
  Preamble expected = PreambleOf(graph);
  PieceReader reader(file, bytes, drop_behind);
  Preamble preamble;
  absl::Status status = reader.Read(&preamble, sizeof(preamble));
  constexpr std::int32_t kMostLevels = 64;  // no 64-bit draw gives more
  expected.entry = preamble.entry;
  expected.max_level = preamble.max_level;
  const bool fits = std::memcmp(&preamble, &expected, sizeof(preamble)) == 0 && preamble.entry < preamble.nodes &&
                    preamble.max_level >= 0 && preamble.max_level <= kMostLevels;
  if (status.ok() && !fits) status = CorruptError(fmt::format("{}: does not begin as its header says", name));
  if (status.ok()) status = reader.Read(graph.data_level0_memory_, preamble.nodes * preamble.node_bytes);
  if (status.ok()) status = ReadUpperLists(reader, name, preamble, graph);
  if (status.ok() && reader.position() != bytes) {
    status = CorruptError(
        fmt::format("{}: found {} bytes after the last links; build the index again", name, bytes - reader.position()));
  }
  if (IsSystemError(status)) return status;
  // A damaged file may cause other errors first; report the damage.
  RETURN_IF_ERROR(reader.Finish());
  if (reader.checksum() != header.file_checksum) {
    return CorruptError(fmt::format("{}: checksum {:016x}; expected {:016x} by its header; build the index again", name,
                                    reader.checksum(), header.file_checksum));
  }
  RETURN_IF_ERROR(status);
  graph.maxlevel_ = preamble.max_level;
  graph.enterpoint_node_ = preamble.entry;
  RETURN_IF_ERROR(CheckLinks(name, preamble, graph));
  return CosineIndex(std::move(hnsw));
}

std::vector<ScoredNode> CosineIndex::Nearest(NodeId node, std::size_t k, std::size_t ef) const {
  const float* query = Vector(Value(node));
  TopK best(k);
  // As many as the search keeps, plus one, because the node finds itself.
  auto found = hnsw_->graph.searchKnn(query, std::min<std::uint64_t>(nodes(), std::max(ef, k + 1)));
  for (; !found.empty(); found.pop()) {
    const std::uint64_t other = found.top().second;
    if (other == Value(node)) continue;
    best.Add({NodeId{other}, InnerProduct(query, Vector(other), hnsw_->space.dim())});
  }
  return best.TakeSorted();
}

float CosineIndex::ExactThreshold(std::uint64_t node, std::size_t k) const {
  TopK best(k);
  for (std::uint64_t other = 0; other < nodes(); ++other) {
    if (other != node) best.Add({NodeId{other}, InnerProduct(Vector(node), Vector(other), hnsw_->space.dim())});
  }
  return best.TakeSorted().back().score;
}

double CosineIndex::Recall(std::uint64_t sample, std::size_t k, std::size_t ef, int threads) const {
  sample = std::min(sample, nodes());
  k = std::min<std::size_t>(k, nodes() - 1);
  if (k == 0) return 1;
  std::vector<std::uint64_t> hits(sample);
  const auto compare = [&](std::size_t i) {
    const std::uint64_t node = i * nodes() / sample;
    const float threshold = ExactThreshold(node, k);
    for (const ScoredNode& scored : Nearest(NodeId{node}, k, ef)) hits[i] += scored.score >= threshold ? 1 : 0;
  };
  WithThreads(threads, [&] { ParallelEach(0, sample, compare); });
  return static_cast<double>(std::reduce(hits.begin(), hits.end())) / static_cast<double>(sample * k);
}

absl::StatusOr<IndexHeader> ReadIndexHeader(const std::filesystem::path& path) {
  const std::filesystem::path header_path = IndexHeaderPath(path);
  ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(header_path, sizeof(IndexHeader)));
  return DecodeIndexHeader(std::as_bytes(std::span<const char>(bytes)), header_path.string());
}

}  // namespace octavo
