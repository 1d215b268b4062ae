// Turns the text of the input into edge records and name tables, in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cells/edge_record.h"
#include "import/input_reader.h"
#include "import/name_table.h"

namespace octavo {

struct CollectedEdges {
  NameTable nodes;
  NameTable relations;  // empty if the input has no relation column
  EdgeRuns runs;
  std::uint64_t run_edges = 0;  // in the runs
  Columns columns;
  std::vector<InputFormat> formats;       // of each file but those of a base
  std::vector<std::uint64_t> file_edges;  // lines of each file that hold an edge
  std::uint64_t lines = 0;                // of the files but those of a base, as below
  std::uint64_t comment_lines = 0;
  std::uint64_t blank_lines = 0;
  std::uint64_t literals = 0;  // triples whose object is one
  std::uint64_t bad_lines = 0;
  std::vector<std::string> bad_line_messages;  // "file:line: found ..., expected ...", the first ones in input order
  std::uint64_t bytes_read = 0;                // compressed
};

struct CollectOptions {
  LayoutRequest layout;
  std::uint64_t max_bad_lines = 0;
  bool undirected = false;               // a line gives both directions; a self-loop stays one edge
  std::size_t workers = 0;               // chunks parsed at once; 0: as many as TBB has
  std::uint64_t max_bytes = UINT64_MAX;  // of names and edges
  InputLimits limits{};
  std::function<bool()> stop;  // may be empty; from several threads
  // May be empty; told how each file is read, in their order, from one thread at a time.
  std::function<void(const InputFile& file, const FileFormat& format)> opened;
  // May be empty; told the edges and compressed bytes so far, from one thread at a time.
  std::function<void(std::uint64_t edges, std::uint64_t bytes)> progress;
};

// Reads the input, part by part. One owner.
class EdgeCollector {
 public:
  // Starts to read `files`. Borrows all arguments. What `out` holds of names and edges may be taken out or cleared
  // between two calls of Collect; the counts go on.
  EdgeCollector(const std::vector<InputFile>& files, const CollectOptions& options, CollectedEdges& out);
  ~EdgeCollector();

  // Adds names and edges to `out` until the input ends or they hold about options.max_bytes, and at least a chunk. More
  // than max_bad_lines malformed lines are an input error with the first of them. The runs are in input order; only the
  // ids in them depend on timing. Parallel.
  absl::Status Collect();
  // Whether the input has ended; then the columns, formats and bytes_read of `out` are set.
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

// Reads all of `files`.
absl::Status CollectEdges(const std::vector<InputFile>& files, const CollectOptions& options, CollectedEdges& out);

// What the names and edges hold until they are ranked and distributed, or written to files.
std::uint64_t BytesOf(const CollectedEdges& collected);

}  // namespace octavo
