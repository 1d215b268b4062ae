// Parses the text of the input into edge records and name tables, in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/edge_record.h"
#include "import/name_table.h"
#include "parse/input_reader.h"

namespace octavo {

struct CollectedEdges {
  NameTable nodes;
  NameTable relations;  // empty if the input has no relation column
  EdgeChunks chunks;
  std::uint64_t held_edges = 0;  // in the chunks
  EdgeChunks spare;              // empty chunks whose memory is used again
  std::uint64_t kept_edges = 0;  // for which chunks and spare chunks have memory, apart from those added since
  Columns columns;
  std::vector<InputFormat> formats;       // of each file except a base's
  std::vector<std::uint64_t> file_edges;  // lines of each file that contain an edge
  std::uint64_t lines = 0;                // of all files except a base's, here and below
  std::uint64_t comment_lines = 0;
  std::uint64_t blank_lines = 0;
  std::uint64_t literals = 0;     // triples whose object is a literal, without labels
  std::uint64_t label_lines = 0;  // triples with labels, of any language
  std::uint64_t zero_weights = 0;
  std::uint64_t bad_lines = 0;
  std::vector<std::string> bad_line_messages;  // "file:line: found ..., expected ...", the first ones in input order
  std::uint64_t bytes_read = 0;                // compressed
};

struct CollectOptions {
  LayoutRequest layout;
  std::uint64_t max_bad_lines = 0;
  bool undirected = false;               // a line gives both directions; a self-loop stays one edge
  std::size_t workers = 0;               // chunks parsed in parallel; 0: the number of TBB's threads
  std::uint64_t max_bytes = UINT64_MAX;  // limit for names and edges
  InputLimits limits{};
  std::function<bool()> stop;  // may be empty; called from several threads
  // Called with the labels of triples (layout.labels), in input order, by one thread at a time, which must not start
  // parallel work. Empty if there are none.
  std::function<absl::Status(std::string_view name, std::string_view label)> label;
  // May be empty. Called with the format of each file, in file order, by one thread at a time.
  std::function<void(const InputFile& file, const FileFormat& format)> opened;
  // May be empty. Called with the edges and compressed bytes so far, by one thread at a time.
  std::function<void(std::uint64_t edges, std::uint64_t bytes)> progress;
};

// Reads the input, split by split. One owner.
class EdgeCollector {
 public:
  // Starts to read `files`. Keeps references to all arguments. Between two calls of Collect the caller may take or
  // clear the names and edges in `out`; the counts continue.
  EdgeCollector(const std::vector<InputFile>& files, const CollectOptions& options, CollectedEdges& out);
  ~EdgeCollector();

  // Adds names and edges to `out`, at least one chunk, until the input ends or they take about options.max_bytes. More
  // than max_bad_lines malformed lines are an input error that quotes the first ones. The chunks are in input order;
  // only the ids in them depend on timing. Parallel.
  absl::Status Collect();
  // Whether the input has ended. Columns, formats and bytes_read of `out` are then set.
  bool at_end() const { return at_end_; }

 private:
  class Merger;

  const std::vector<InputFile>& files_;
  const CollectOptions& options_;
  CollectedEdges& out_;
  const std::size_t workers_;
  InputReader reader_;
  std::unique_ptr<Merger> merger_;
  bool at_end_ = false;
};

// Removes the edges and the names of nodes. Keeps their memory for others: fresh pages take time. REQUIRES: each chunk
// is empty
void Reuse(CollectedEdges& collected);
// Frees the memory of edges and of nodes.
void Free(CollectedEdges& collected);

// Reads all of `files`.
absl::Status CollectEdges(const std::vector<InputFile>& files, const CollectOptions& options, CollectedEdges& out);

// Memory of the names and edges until they are ranked and distributed, or written to files.
std::uint64_t BytesOf(const CollectedEdges& collected);

}  // namespace octavo
