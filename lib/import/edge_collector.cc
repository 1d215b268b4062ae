#include "import/edge_collector.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "base/escape.h"
#include "base/mutex.h"
#include "base/parallel.h"
#include "base/status.h"
#include "fmt/format.h"
#include "import/ordered_work.h"
#include "io/checksum.h"
#include "parse/record_parser.h"

namespace octavo {
namespace {

// The result of one chunk.
struct ChunkResult {
  std::size_t file = 0;
  std::optional<FileFormat> opened;
  absl::Status status;
  std::vector<EdgeRecord> records;
  std::size_t edges = 0;  // lines with an edge
  ParsedChunk counts;     // without edges, whose names are freed with the text
};

NameTable::Name NameOf(std::string_view text) { return {text, HashName(text, 0)}; }

// Sets the relations of `records`. A chunk has few distinct relations, so this finds them first and looks up each only
// once in the shared table.
absl::Status InternRelations(std::span<const ParsedEdge> edges, NameTable& table, std::vector<EdgeRecord>& records) {
  absl::flat_hash_map<absl::string_view, std::uint32_t> local;
  std::vector<NameTable::Name> names;
  std::vector<std::uint32_t> name_of_edge(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const std::string_view text = edges[i].relation;
    const auto [found, added] = local.try_emplace(absl::string_view(text.data(), text.size()), names.size());
    if (added) names.push_back(NameOf(text));
    name_of_edge[i] = found->second;
  }
  std::vector<std::uint32_t> ids(names.size());
  RETURN_IF_ERROR(table.Intern(names, ids));
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const std::uint32_t id = ids[name_of_edge[i]];
    if (id > EdgeRecord::kRelationMask) {
      return InputError(
          fmt::format("about {} different relations; expected at most {}; is the relation column the "
                      "right one?",
                      id, EdgeRecord::kRelationMask));
    }
    records[i].set_relation(id);
  }
  return absl::OkStatus();
}

// Buffers that a worker reuses for every chunk: fresh pages would cost more than the work in them.
struct ChunkMemory {
  std::vector<ParsedEdge> edges;
  std::vector<NameTable::Name> names;
  std::vector<std::uint32_t> ids;
};

absl::Status InternNodes(std::span<const ParsedEdge> edges, NameTable& table, std::vector<EdgeRecord>& records,
                         ChunkMemory& memory) {
  std::vector<NameTable::Name>& names = memory.names;
  names.clear();
  names.reserve(edges.size() * 2);
  for (const ParsedEdge& edge : edges) {
    // Edge lists are often sorted by head.
    const bool same = !names.empty() && names[names.size() - 2].text == edge.head;
    names.push_back(same ? names[names.size() - 2] : NameOf(edge.head));
    names.push_back(NameOf(edge.tail));
  }
  std::vector<std::uint32_t>& ids = memory.ids;
  ids.resize(names.size());
  RETURN_IF_ERROR(table.Intern(names, ids));
  for (std::size_t i = 0; i < edges.size(); ++i) {
    records[i].head = ids[2 * i];
    records[i].tail = ids[2 * i + 1];
  }
  return absl::OkStatus();
}

// Appends the opposite direction of all `records` except self-loops.
void AddOtherDirections(std::vector<EdgeRecord>& records) {
  const std::size_t lines = records.size();
  records.reserve(2 * lines);
  for (std::size_t i = 0; i < lines; ++i) {
    if (records[i].head == records[i].tail) continue;
    records.push_back(records[i]);
    std::swap(records.back().head, records.back().tail);
  }
}

// Parses one chunk and interns its names. The records reuse the memory of `records`. Runs on any worker; only the name
// tables are shared.
ChunkResult ProcessChunk(const TextChunk& chunk, EdgeSplit split, bool undirected, std::vector<EdgeRecord> records,
                         NameTable& nodes, NameTable& relations, ChunkMemory& memory) {
  ChunkResult result;
  result.records = std::move(records);
  result.file = chunk.file;
  result.opened = chunk.opened;
  // The parsed names are views into the chunk's text. Interning copies them.
  result.counts = ParseChunk(chunk.text, chunk.layout, std::move(memory.edges));
  memory.edges = std::exchange(result.counts.edges, {});
  const std::span<const ParsedEdge> edges = memory.edges;
  result.records.assign(edges.size(), {});
  for (std::size_t i = 0; i < edges.size(); ++i) {
    result.records[i].set_split(split);
    result.records[i].weight = edges[i].weight;
  }
  result.status = InternNodes(edges, nodes, result.records, memory);
  if (result.status.ok() && chunk.layout.columns.relation >= 0) {
    result.status = InternRelations(edges, relations, result.records);
  }
  result.counts.unescaped.clear();
  result.edges = edges.size();
  if (undirected || chunk.layout.both_directions) AddOtherDirections(result.records);
  return result;
}

// In addition to a name's entry and text: memory to rank it, or to sort it for a file.
constexpr std::uint64_t kRankingBytesOfName = 36;

}  // namespace

// Takes the results of the chunks in input order.
class EdgeCollector::Merger {
 public:
  Merger(const std::vector<InputFile>& files, const CollectOptions& options, CollectedEdges& out)
      : files_(files), options_(options), out_(out) {
    out_.file_edges.resize(files.size());
    file_no_edges_.resize(files.size());
  }

  // Adds one result: its messages, counts and chunk. Line numbers are known only here, where chunks arrive in order.
  absl::Status Add(ChunkResult result) {
    RETURN_IF_ERROR(result.status);
    if (result.file != file_) {
      lines_before_ = 0;
      format_.reset();
    }
    file_ = result.file;
    if (result.opened) {
      format_ = result.opened;
      if (options_.opened) options_.opened(files_[file_], *format_);
    }
    const ParsedChunk& counts = result.counts;
    for (const BadLine& bad : counts.bad_lines) {
      if (out_.bad_line_messages.size() == kMaxDescribedLines) break;
      out_.bad_line_messages.push_back(fmt::format("{}:{}: {}", FileName(), Place(bad), bad.message));
    }
    lines_before_ += counts.lines;
    if (files_[file_].base == nullptr) out_.lines += counts.lines;
    out_.comment_lines += counts.comment_lines;
    out_.blank_lines += counts.blank_lines;
    out_.literals += counts.literals;
    out_.label_lines += counts.label_lines;
    out_.zero_weights += counts.zero_weights;
    file_no_edges_[file_] += counts.zero_weights;
    out_.bad_lines += counts.bad_line_count;
    file_no_edges_[file_] += counts.bad_line_count;
    if (out_.bad_lines > options_.max_bad_lines) return TooManyBadLines();
    RETURN_IF_ERROR(PassLabels(counts.labels));
    edges_ += result.edges;
    out_.file_edges[file_] += result.edges;
    out_.held_edges += result.records.size();
    if (!result.records.empty()) out_.chunks.push_back(std::move(result.records));
    return absl::OkStatus();
  }

  std::uint64_t edges() const { return edges_; }

  // Compares the number of entries in the files with what their headers promise.
  absl::Status CheckPromises(const std::vector<std::optional<std::uint64_t>>& promised) const {
    for (std::size_t file = 0; file < promised.size(); ++file) {
      const std::uint64_t entries = out_.file_edges[file] + file_no_edges_[file];
      if (promised[file].value_or(entries) == entries) continue;
      return InputError(fmt::format("{}: found {} entries, expected the {} of its size line; was the file cut?",
                                    NameOf(files_[file]), entries, *promised[file]));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status PassLabels(const ParsedLabels& labels) const {
    std::string_view rest = labels.text;
    for (const auto& [name, label] : labels.lengths) {
      RETURN_IF_ERROR(options_.label(rest.substr(0, name), rest.substr(name, label)));
      rest.remove_prefix(name + label);
    }
    return absl::OkStatus();
  }

  static std::string NameOf(const InputFile& file) { return file.path == "-" ? "<stdin>" : file.path; }
  std::string FileName() const { return NameOf(files_[file_]); }
  // The line, and the byte in it if known. NumPy counts the rows of an array from 0.
  std::string Place(const BadLine& bad) const {
    const std::uint64_t line = lines_before_ + bad.line;
    if (format_ && format_->format == InputFormat::kNpy) return fmt::format(" row {}", line);
    return bad.column > 0 ? fmt::format("{}:{}", line + 1, bad.column) : fmt::format("{}", line + 1);
  }

  absl::Status TooManyBadLines() const {
    std::string message = fmt::format("{}", fmt::join(out_.bad_line_messages, "\n"));
    if (out_.bad_lines > out_.bad_line_messages.size()) {
      message +=
          fmt::format("\n... and {} more in the text read so far", out_.bad_lines - out_.bad_line_messages.size());
    }
    if (format_ && format_->looks_like) {
      message += fmt::format("\n{} is read as {}", FileName(), FileFormatText(*format_));
    }
    if (options_.max_bad_lines > 0) {
      message += fmt::format("\n{} malformed lines; --max-bad-lines allows {}", out_.bad_lines, options_.max_bad_lines);
    } else {
      message += "\n--max-bad-lines N skips up to N malformed lines";
    }
    return InputError(message);
  }

  const std::vector<InputFile>& files_;
  const CollectOptions& options_;
  CollectedEdges& out_;
  std::vector<std::uint64_t> file_no_edges_;  // malformed lines, and lines of weight 0
  std::size_t file_ = 0;
  std::optional<FileFormat> format_;  // of the current file, once known
  std::uint64_t lines_before_ = 0;    // of the current file
  std::uint64_t edges_ = 0;
};

std::uint64_t BytesOf(const CollectedEdges& collected) {
  return collected.nodes.bytes(kRankingBytesOfName) + collected.relations.bytes() +
         std::max(collected.held_edges, collected.kept_edges) * sizeof(EdgeRecord);
}

void Reuse(CollectedEdges& collected) {
  for (std::vector<EdgeRecord>& chunk : collected.chunks) collected.spare.push_back(std::move(chunk));
  collected.chunks.clear();
  collected.kept_edges = 0;
  for (const std::vector<EdgeRecord>& chunk : collected.spare) collected.kept_edges += chunk.capacity();
  collected.held_edges = 0;
  collected.nodes.Reset();
}

void Free(CollectedEdges& collected) {
  collected.chunks = {};
  collected.spare = {};
  collected.held_edges = collected.kept_edges = 0;
  collected.nodes.Clear();
}

EdgeCollector::EdgeCollector(const std::vector<InputFile>& files, const CollectOptions& options, CollectedEdges& out)
    : files_(files),
      options_(options),
      out_(out),
      workers_(options.workers > 0 ? options.workers : static_cast<std::size_t>(MaxConcurrency())),
      reader_(files, options.layout, 2 * workers_, options.limits, options.stop),
      merger_(std::make_unique<Merger>(files, options, out)) {}

EdgeCollector::~EdgeCollector() = default;

absl::Status EdgeCollector::Collect() {
  Mutex mutex;
  std::uint64_t held = 0;  // of delivered chunks; both guarded by mutex
  bool taken = false;
  const auto take = [&]() -> std::optional<TextChunk> {
    {
      const MutexLock lock(mutex);
      // The first chunk is always taken, so that each call makes progress however small the limit.
      if (std::exchange(taken, true) && held >= options_.max_bytes) return std::nullopt;
    }
    std::optional<TextChunk> chunk = reader_.Next();
    at_end_ = !chunk;
    return chunk;
  };
  const auto spare = [&]() -> std::vector<EdgeRecord> {
    const MutexLock lock(mutex);
    if (out_.spare.empty()) return {};
    std::vector<EdgeRecord> records = std::move(out_.spare.back());
    out_.spare.pop_back();
    return records;
  };
  const auto process = [this, &spare, memory = ChunkMemory()](TextChunk& chunk) mutable {
    const InputFile& file = files_[chunk.file];
    // A base that was imported with --undirected has both directions already.
    const bool undirected = options_.undirected && file.base == nullptr;
    ChunkResult result = ProcessChunk(chunk, file.split, undirected, spare(), out_.nodes, out_.relations, memory);
    if (file.base == nullptr) reader_.Reuse(std::move(chunk.text));
    return result;
  };
  const auto merge = [&](ChunkResult result) {
    absl::Status status = merger_->Add(std::move(result));
    if (options_.progress) options_.progress(merger_->edges(), reader_.bytes_read());
    // Only the tables know how much memory the new names took.
    const MutexLock lock(mutex);
    held = BytesOf(out_);
    return status;
  };
  RETURN_IF_ERROR(ProcessInOrder<TextChunk>(workers_, take, process, merge));
  out_.bytes_read = reader_.bytes_read();
  if (!at_end_) return absl::OkStatus();
  RETURN_IF_ERROR(reader_.status());
  RETURN_IF_ERROR(merger_->CheckPromises(reader_.promised_edges()));
  out_.columns = reader_.columns();
  out_.formats = reader_.formats();
  return absl::OkStatus();
}

absl::Status CollectEdges(const std::vector<InputFile>& files, const CollectOptions& options, CollectedEdges& out) {
  EdgeCollector collector(files, options, out);
  while (!collector.at_end()) RETURN_IF_ERROR(collector.Collect());
  return absl::OkStatus();
}

}  // namespace octavo
