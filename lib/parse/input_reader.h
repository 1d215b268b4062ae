// Reads the input files in order on a separate thread and provides chunks of whole lines.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "cells/edge_record.h"
#include "graph/graph.h"
#include "io/compressed_input.h"
#include "parse/column_choice.h"
#include "parse/input_format.h"

namespace octavo {

class LineChunker;

// One file of the input, and the split for its edges.
struct InputFile {
  std::string path;  // "-" is standard input
  EdgeSplit split = EdgeSplit::kTrain;
  const Graph* base = nullptr;  // the path is that of its cells (parse/base_edges.h)
};

// Whole lines of a file; for kNpy whole rows.
struct TextChunk {
  std::size_t file = 0;  // index into the files
  std::string text;
  LineLayout layout;
  std::optional<FileFormat> opened;  // in the first chunk of a file that has data
};

// The format of the lines as far as the user specified it; the rest is detected.
struct LayoutRequest {
  std::optional<InputFormat> format;
  char separator = '\0';         // of csv; 0: from the first data lines of each file
  ColumnChoice choice = {};      // instead of columns: by number or title, in each file
  Columns columns;               // count 0: from the first data line of the first file, the same for all files
  std::uint64_t skip_lines = 0;  // at the head of each file; an error for formats other than tsv, csv and blank
  bool keep_literals = false;
  const LabelChoice* labels = nullptr;  // not owned; null: none
  bool splits_directions = false;  // the two directions of an edge may go to different splits: no symmetric matrices
  const NameList* node_names = nullptr;  // of arrays' indexes; not owned; null: none
  const NameList* relation_names = nullptr;
};

// Returns how a file will be read: by `layout`, or by its extension and first chunk. Empty if the file has no data line
// and nothing else decides. A file that no import would accept is an input error.
absl::StatusOr<std::optional<FileFormat>> PeekFormat(const std::string& path, const LayoutRequest& layout,
                                                     const InputLimits& limits);

// The order, boundaries and layouts of the chunks depend only on the files, not on timing.
class InputReader {
 public:
  // Starts the thread, which reads at most `ahead` chunks ahead. `stop`, if set, is called on that thread; when it
  // returns true the reader ends with absl::CancelledError.
  InputReader(std::vector<InputFile> files, const LayoutRequest& layout, std::size_t ahead, const InputLimits& limits,
              std::function<bool()> stop);
  // Stops reading and joins the thread.
  ~InputReader();
  InputReader(const InputReader&) = delete;
  InputReader& operator=(const InputReader&) = delete;

  // Waits for the next chunk. Empty at the end or after an error; see status(). One thread at a time.
  std::optional<TextChunk> Next() ABSL_LOCKS_EXCLUDED(mutex_);
  // Gives the memory of a processed chunk back for reuse. Not used for a base's chunks. Any thread.
  void Reuse(std::string text) ABSL_LOCKS_EXCLUDED(spare_mutex_);
  // REQUIRES: Next returned empty
  absl::Status status() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Compressed bytes read so far, of all files. Any thread.
  std::uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }
  const std::vector<InputFile>& files() const { return files_; }
  // The formats of all files except a base's, for the summary. REQUIRES: Next returned empty
  const std::vector<InputFormat>& formats() const { return formats_; }
  // The number of entries promised by the header of each file, if it has one. REQUIRES: Next returned empty
  const std::vector<std::optional<std::uint64_t>>& promised_edges() const { return promised_edges_; }
  // The columns of all files except a base's; count 0 if no line showed them. REQUIRES: Next returned empty
  const Columns& columns() const { return columns_; }

 private:
  void Run();
  absl::Status ReadFile(std::size_t file);
  absl::Status ReadBase(std::size_t file);
  // Reads a NumPy array whose first bytes are `head`.
  absl::Status ReadArray(std::size_t file, CompressedInput& input, std::string head, const FileFormat& format);
  // Reads lines. `stated` is the format by flag or extension; if empty, the lines decide.
  absl::Status ReadLines(std::size_t file, LineChunker& chunker, std::optional<FileFormat> stated);
  // Returns the layout for all chunks of a file, from the first chunk with data, which `lines_before` lines precede.
  absl::StatusOr<LineLayout> LayoutOf(std::size_t file, std::string_view text, const FileFormat& decided,
                                      std::uint64_t lines_before, std::string_view name);
  absl::StatusOr<LineLayout> LayoutOfMatrix(std::size_t file, std::string_view text, std::string_view name);
  // Sets columns_, or checks that it equals `columns`, those of a file whose format determines them.
  absl::Status AgreeOn(const Columns& columns, std::string_view name);
  // Adds a chunk to the queue; waits for room. Returns false if the reader is being destroyed.
  bool Push(TextChunk chunk) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns a string to overwrite, of any size.
  std::string Spare() ABSL_LOCKS_EXCLUDED(spare_mutex_);

  // Constant after construction.
  const std::vector<InputFile> files_;
  const LayoutRequest request_;
  const std::size_t ahead_;
  const InputLimits limits_;
  const std::function<bool()> stop_;

  // Owned by the reading thread until it has ended.
  Columns columns_;
  std::vector<InputFormat> formats_;
  std::vector<std::optional<std::uint64_t>> promised_edges_;

  std::atomic<std::uint64_t> bytes_read_ = 0;
  std::atomic<bool> abandoned_ = false;

  mutable Mutex mutex_;
  std::deque<TextChunk> chunks_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status result_ ABSL_GUARDED_BY(mutex_);

  Mutex spare_mutex_;                                             // separate, as nobody waits for what it guards
  std::vector<std::string> spare_ ABSL_GUARDED_BY(spare_mutex_);  // at most ahead_

  std::thread thread_;  // last, so that it starts after all other members
};

}  // namespace octavo
