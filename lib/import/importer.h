// Import: edge lists become a graph folder (DESIGN of the formats: format/cells.h, format/array_header.h,
// format/graph_description.h).
//
// Text is parsed in parallel, names become ids by the rank of their hashes, edges fall into cells. The files are the
// same bytes for any number of threads and any memory, and all but the counts of lines in graph.json for any order of
// the input lines. What fits the memory is held on the way: 16 bytes an edge, up to 84 bytes a name, and the text of
// those above 20 bytes. What does not goes through temporary files beside the graph (spilled_import.h): about 40 bytes
// an edge and the names.
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
#include "import/input_format.h"
#include "import/memory_plan.h"
#include "import/name_ranking.h"
#include "io/atomic_file.h"
#include "io/checksum.h"

namespace octavo {

struct ImportOptions {
  // Paths, patterns of them (input_paths.h), or "-" for standard input.
  std::vector<std::string> inputs{};  // training edges
  std::string valid{};                // empty for none
  std::string test{};                 // empty for none
  // A graph whose edges, each in the split that it is in, come before the inputs'; empty for none. Not with split.
  std::filesystem::path base{};
  std::filesystem::path graph{};  // the folder to make
  bool overwrite = false;

  std::optional<InputFormat> format{};  // by extension or contents if there is none
  std::string columns{};                // "head,relation,tail,weight"; empty: by the first data line
  std::uint64_t skip_lines = 0;         // at the head of each file of tsv, csv or blank: such as titles
  std::uint64_t max_bad_lines = 0;
  bool keep_literals = false;    // of triples, as objects
  std::string node_names{};      // a file of names for the indexes of NumPy arrays (name_list.h); empty: numbers
  std::string relation_names{};  // the same for relations

  std::string split{};     // "0.9,0.05,0.05"; empty: by file. Not together with valid or test
  std::uint64_t seed = 0;  // of split

  bool undirected = false;  // a line gives both directions, in every part; a self-loop stays one edge. Not of the base
  bool merge_duplicates = true;
  bool drop_self_loops = false;  // these three: of the base's edges, too
  bool drop_unseen = false;      // leave out valid and test edges with a name that no training edge has

  std::uint64_t memory_bytes = 0;  // of everything that is held, page cache of its own files included; 0: no limit
  // In place of what memory_bytes would give: for tests.
  std::optional<MemoryPlan> memory_plan{};
  NameHash node_hash = HashName;  // another one makes a graph that finds no name: for tests

  bool check_only = false;  // end with an empty summary behind all checks but those of the lines, and leave nothing
  // May be empty: told of each file how it is read, as soon as something of it was, from one thread at a time; with
  // check_only of those that can be read again.
  std::function<void(const std::string& path, const FileFormat& format)> opened{};
  std::function<bool()> stop{};  // may be empty; any thread. True: give up soon, with absl::CancelledError
};

// Counts by part are train, valid, test.
struct ImportSummary {
  GraphDescription graph;
  Columns columns;
  std::vector<InputFormat> formats;  // of inputs, then valid, then test
  std::uint64_t bytes_read = 0;      // compressed
  std::uint64_t lines = 0;           // and rows of arrays
  std::uint64_t comment_lines = 0;
  std::uint64_t blank_lines = 0;
  std::uint64_t literals = 0;  // triples whose object is one
  std::uint64_t bad_lines = 0;
  std::vector<std::string> bad_line_messages;  // the first ones
  std::uint64_t input_edges = 0;               // lines that hold an edge
  std::uint64_t base_edges = 0;
  std::uint64_t self_loops = 0;
  std::uint64_t unseen_nodes = 0;  // names in valid or test edges and no training edge
  std::uint64_t unseen_relations = 0;
  std::array<std::uint64_t, 3> unseen_edges{};
  std::array<std::uint64_t, 3> duplicates{};
  std::array<std::uint64_t, 3> also_in_train{};
  std::uint64_t hash_seed = 0;
  std::uint64_t spilled_bytes = 0;  // written to temporary files; 0: all was held in memory
  double read_seconds = 0;          // parsing, and writing generations to temporary files
  double rank_seconds = 0;          // nodes are ranked; from temporary files written, too
  double encode_seconds = 0;        // edges get their ids and are sorted; beside that nodes in memory are written
  double write_seconds = 0;         // cells are written, and the folder is committed

  double seconds() const { return read_seconds + rank_seconds + encode_seconds + write_seconds; }
};

struct ImportProgress {
  std::string_view stage;         // "reading", "ranking", "encoding" or "writing"
  std::string_view unit;          // of done and total: "edges" or "names"
  std::uint64_t done = 0;         // so far in this stage
  std::uint64_t total = 0;        // 0 while it is not known
  std::uint64_t bytes = 0;        // compressed, read so far
  std::uint64_t total_bytes = 0;  // 0 if an input is a pipe
  double seconds = 0;             // in this stage
};

// Makes the graph folder. `progress` may be empty; it is called from one thread at a time, not always the same. On any
// error nothing stands under the folder's name that was not there before. A memory limit that is too small is a usage
// error before any work. Runs on TBB's workers and a reading thread. With `unnamed` the graph is whole when this
// returns but has not its name yet: whoever commits what is then there gives it that.
absl::StatusOr<ImportSummary> Import(const ImportOptions& options,
                                     const std::function<void(const ImportProgress&)>& progress = nullptr,
                                     std::optional<AtomicFolder>* unnamed = nullptr);

}  // namespace octavo
