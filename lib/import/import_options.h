// The options of an import, and what it has counted.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "format/graph_description.h"
#include "import/label_writer.h"
#include "import/memory_plan.h"
#include "import/name_ranking.h"
#include "io/checksum.h"
#include "parse/input_format.h"

namespace octavo {

struct ImportOptions {
  // Paths, glob patterns (input_paths.h), or "-" for standard input.
  std::vector<std::string> inputs{};  // training edges
  std::string valid{};                // empty for none
  std::string test{};                 // empty for none
  // A graph whose edges, in their splits, come before the inputs' edges; empty for none. Not with split.
  std::filesystem::path base{};
  std::filesystem::path graph{};  // the folder to make
  bool overwrite = false;

  std::optional<InputFormat> format{};  // empty: determined by extension or contents
  char separator = '\0';                // of csv; 0: determined by the first data lines
  // "head,relation,tail,weight", or by number or title (parse/column_choice.h); empty: determined by the first data
  // line
  std::string columns{};
  std::uint64_t skip_lines = 0;  // at the head of each file of tsv, csv or blank, e.g. column titles
  std::uint64_t max_bad_lines = 0;
  bool keep_literals = false;    // keep triples whose object is a literal
  std::string node_names{};      // file of names for the indexes of NumPy arrays (name_list.h); empty: numbers
  std::string relation_names{};  // the same for relations
  // Texts for people (import/label_import.h). The graph's fingerprint does not depend on them.
  std::string labels{};        // file of names and labels (parse/label_file.h), or "-"; empty for none
  LabelChoice label_choice{};  // triples of the inputs that are labels; without a predicate none

  std::string split{};     // "0.9,0.05,0.05"; empty: by file. Not with valid or test
  std::uint64_t seed = 0;  // for split

  bool undirected =
      false;  // a line gives both directions, in every split; a self-loop stays one edge. Not for the base
  bool merge_duplicates = true;
  bool drop_self_loops = false;  // like merge_duplicates and drop_unseen, also for the base's edges
  bool drop_unseen = false;      // drop valid and test edges with a name that is in no training edge
  std::uint64_t partitions = 0;  // at most; 0: chosen by the number of nodes. REQUIRES: <= kMostPartitions

  std::uint64_t memory_bytes = 0;  // of everything held, including its files in the page cache; 0: no limit
  // Replaces the plan that memory_bytes would give. For tests.
  std::optional<MemoryPlan> memory_plan{};
  NameHash node_hash = HashName;  // with any other hash, names of the graph are not found. For tests

  bool check_only = false;  // end after all checks except of lines, with an empty summary; leave nothing
  // May be empty. Called with the format of each file, as soon as the file has been started; one thread at a time. With
  // check_only: only for files that can be read again.
  std::function<void(const std::string& path, const FileFormat& format)> opened{};
  std::function<bool()> stop{};  // may be empty; any thread. True: return absl::CancelledError soon
};

// Counts by split are train, valid, test.
struct ImportSummary {
  GraphDescription graph;
  Columns columns;
  std::vector<InputFormat> formats;  // of inputs, then valid, then test
  std::uint64_t bytes_read = 0;      // compressed
  std::uint64_t lines = 0;           // including rows of arrays
  std::uint64_t comment_lines = 0;
  std::uint64_t blank_lines = 0;
  std::uint64_t literals = 0;      // triples whose object is a literal
  std::uint64_t label_lines = 0;   // triples with labels, of any language
  ImportedLabels labels;           // of those that were given, and of the base
  std::uint64_t zero_weights = 0;  // lines of weight 0, which are no edges
  std::uint64_t bad_lines = 0;
  std::vector<std::string> bad_line_messages;  // the first ones
  std::uint64_t input_edges = 0;               // lines with an edge
  std::uint64_t base_edges = 0;
  std::uint64_t self_loops = 0;
  std::uint64_t unseen_nodes = 0;  // names in valid or test edges but in no training edge
  std::uint64_t unseen_relations = 0;
  std::array<std::uint64_t, 3> unseen_edges{};
  std::array<std::uint64_t, 3> duplicates{};
  std::array<std::uint64_t, 3> also_in_train{};
  std::uint64_t hash_seed = 0;
  std::uint64_t spilled_bytes = 0;  // written to temporary files; 0: everything was in memory
  double read_seconds = 0;          // parsing, and writing names and edges to temporary files
  double rank_seconds = 0;          // ranking the nodes; with temporary files, also writing them
  double encode_seconds = 0;        // setting ids and sorting edges; without temporary files, also writing the nodes
  double write_seconds = 0;         // writing cells and committing the folder

  double seconds() const { return read_seconds + rank_seconds + encode_seconds + write_seconds; }
};

}  // namespace octavo
