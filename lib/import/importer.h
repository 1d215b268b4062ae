// Import: edge lists become a graph folder (DESIGN of the formats: format/cells.h, format/array_header.h,
// format/graph_description.h).
//
// Text is parsed in parallel, names become ids by the rank of their hashes, edges fall into cells. The files are the
// same bytes for any number of threads, and all but the counts of lines in graph.json for any order of the input lines.
// Everything is held in memory on the way: about 32 bytes an edge and 50 bytes and the text of each name.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "format/graph_description.h"
#include "import/text_format.h"

namespace octavo {

struct ImportOptions {
  std::vector<std::string> inputs{};  // training edges; "-" is standard input
  std::string valid{};                // empty for none
  std::string test{};                 // empty for none
  std::filesystem::path graph{};      // the folder to make
  bool overwrite = false;

  std::optional<TextFormat> format{};  // by extension or contents if there is none
  std::string columns{};               // "head,relation,tail,weight"; empty: by the first data line
  std::uint64_t max_bad_lines = 0;

  std::string split{};     // "0.9,0.05,0.05"; empty: by file. Not together with valid or test
  std::uint64_t seed = 0;  // of split

  bool merge_duplicates = true;
  bool drop_self_loops = false;
  bool drop_unseen = false;  // leave out valid and test edges with a name that no training edge has

  std::function<bool()> stop{};  // may be empty; any thread. True: give up soon, with absl::CancelledError
};

// Counts by part are train, valid, test.
struct ImportSummary {
  GraphDescription graph;
  Columns columns;
  std::vector<TextFormat> formats;  // of inputs, then valid, then test
  std::uint64_t bytes_read = 0;     // compressed
  std::uint64_t lines = 0;
  std::uint64_t comment_lines = 0;
  std::uint64_t blank_lines = 0;
  std::uint64_t bad_lines = 0;
  std::vector<std::string> bad_line_messages;  // the first ones
  std::uint64_t input_edges = 0;               // lines that hold an edge
  std::uint64_t self_loops = 0;
  std::uint64_t unseen_nodes = 0;  // names in valid or test edges and no training edge
  std::uint64_t unseen_relations = 0;
  std::array<std::uint64_t, 3> unseen_edges{};
  std::array<std::uint64_t, 3> duplicates{};
  std::array<std::uint64_t, 3> also_in_train{};
  std::uint64_t hash_seed = 0;
  double read_seconds = 0;
  double write_seconds = 0;
};

struct ImportProgress {
  std::string_view stage;         // "reading" or "writing"
  std::uint64_t edges = 0;        // so far in this stage
  std::uint64_t total_edges = 0;  // 0 while it is not known
  std::uint64_t bytes = 0;        // compressed, read so far
  std::uint64_t total_bytes = 0;  // 0 if an input is a pipe
};

// Makes the graph folder. `progress` may be empty; it is called from one thread at a time, not always the same. On any
// error nothing stands under the folder's name that was not there before. Runs on TBB's workers and a reading thread.
absl::StatusOr<ImportSummary> Import(const ImportOptions& options,
                                     const std::function<void(const ImportProgress&)>& progress = nullptr);

}  // namespace octavo
