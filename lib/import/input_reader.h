// Reads the input files one behind the other on a thread of its own and hands out chunks of whole lines.
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
#include "import/input_format.h"
#include "io/compressed_input.h"

namespace octavo {

class LineChunker;

// One file of the input, and the split that its edges go to.
struct InputFile {
  std::string path;  // "-" is standard input
  Part part = Part::kTrain;
  const Graph* base = nullptr;  // the path is that of its cells (import/base_edges.h)
};

// Whole lines of a file, or for kNpy whole rows.
struct TextChunk {
  std::size_t file = 0;  // index into the files
  std::string text;
  LineLayout layout;
  std::optional<FileFormat> opened;  // of the first chunk of a file that has data
};

// What the lines are made of, as far as the user said; the rest is found out.
struct LayoutRequest {
  std::optional<InputFormat> format;
  Columns columns;               // count 0: by the first data line of the first file, the same for all files
  std::uint64_t skip_lines = 0;  // at the head of each file; other formats than tsv, csv and blank refuse them
  bool keep_literals = false;
  bool splits_directions = false;  // the two directions of an edge may come to different parts: no symmetric matrices
  const NameList* node_names = nullptr;  // of arrays' indexes; borrowed; null: none
  const NameList* relation_names = nullptr;
};

// Returns how a file will be read, by `layout` or else by its extension and first chunk; empty where that has no data
// line and nothing says. What no import would read is an input error.
absl::StatusOr<std::optional<FileFormat>> PeekFormat(const std::string& path, const LayoutRequest& layout,
                                                     const InputLimits& limits);

// The order, cuts and layouts of the chunks depend on the files alone, not on timing.
class InputReader {
 public:
  // Starts the thread, which reads at most `ahead` chunks ahead. `stop`, if there is one, is asked from that thread;
  // when it says true the reader ends with absl::CancelledError.
  InputReader(std::vector<InputFile> files, const LayoutRequest& layout, std::size_t ahead, const InputLimits& limits,
              std::function<bool()> stop);
  // Stops reading and joins the thread.
  ~InputReader();
  InputReader(const InputReader&) = delete;
  InputReader& operator=(const InputReader&) = delete;

  // Waits for the next chunk; empty at the end, or at an error, which status() then has. One thread at a time.
  std::optional<TextChunk> Next() ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes the memory of a chunk that is done with for another one; those of a base take none. Any thread.
  void Reuse(std::string text) ABSL_LOCKS_EXCLUDED(spare_mutex_);
  // REQUIRES: Next returned empty
  absl::Status status() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Compressed bytes read so far, of all files. Any thread.
  std::uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }
  const std::vector<InputFile>& files() const { return files_; }
  // The formats of the files but those of a base, for the summary. REQUIRES: Next returned empty
  const std::vector<InputFormat>& formats() const { return formats_; }
  // The entries that the head of each file promises, if it does. REQUIRES: Next returned empty
  const std::vector<std::optional<std::uint64_t>>& promised_edges() const { return promised_edges_; }
  // The columns of all files but those of a base; count 0 if no line showed them. REQUIRES: Next returned empty
  const Columns& columns() const { return columns_; }

 private:
  void Run();
  absl::Status ReadFile(std::size_t file);
  absl::Status ReadBase(std::size_t file);
  // Reads a NumPy array, of which `head` was already read.
  absl::Status ReadArray(std::size_t file, CompressedInput& input, std::string head, const FileFormat& format);
  // Reads lines. `stated` is the format that flag or extension gives; without one the lines tell.
  absl::Status ReadLines(std::size_t file, LineChunker& chunker, std::optional<FileFormat> stated);
  // The layout of all chunks of a file of `format`, by the first that has data.
  absl::StatusOr<LineLayout> LayoutOf(std::size_t file, std::string_view text, InputFormat format,
                                      std::string_view name);
  absl::StatusOr<LineLayout> LayoutOfMatrix(std::size_t file, std::string_view text, std::string_view name);
  // Has columns_ agree with `columns`, which are those of a file whose format decides them.
  absl::Status AgreeOn(const Columns& columns, std::string_view name);
  // Hands a chunk over, waiting for room. False if the reader is being destroyed.
  bool Push(TextChunk chunk) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns text to overwrite, of any size.
  std::string Spare() ABSL_LOCKS_EXCLUDED(spare_mutex_);

  // Constant after construction.
  const std::vector<InputFile> files_;
  const LayoutRequest request_;
  const std::size_t ahead_;
  const InputLimits limits_;
  const std::function<bool()> stop_;

  // The reading thread's own until it has ended.
  Columns columns_;
  std::vector<InputFormat> formats_;
  std::vector<std::optional<std::uint64_t>> promised_edges_;

  std::atomic<std::uint64_t> bytes_read_ = 0;
  std::atomic<bool> abandoned_ = false;

  mutable Mutex mutex_;
  std::deque<TextChunk> chunks_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status result_ ABSL_GUARDED_BY(mutex_);

  Mutex spare_mutex_;                                             // its own, as nobody waits for what it guards
  std::vector<std::string> spare_ ABSL_GUARDED_BY(spare_mutex_);  // at most ahead_

  std::thread thread_;  // last, so that it starts when all else stands
};

}  // namespace octavo
