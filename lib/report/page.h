// A run as one self-contained HTML page: no network, no other file. Pure assembly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluate/ranking.h"
#include "format/graph_description.h"
#include "report/examples.h"
#include "report/node_survey.h"
#include "report/residency.h"
#include "report/run_history.h"
#include "run/options.h"

namespace octavo {

// A readable name for the map. If it is longer than 256 bytes, or fewer with letters outside ASCII, its middle is left
// out.
std::string MapName(std::string_view name);
// The same with a label, which may be empty: "label (name)".
std::string MapName(std::string_view name, std::string_view label);

// "label (name)", or the name if there is no label. Any bytes.
std::string TextWithName(std::string_view name, std::string_view label);

// The most classes that the map names; other nodes are shown as having another class.
inline constexpr std::size_t kMostMapClasses = 1000;

// Nodes as points of a plane.
struct EmbeddingMap {
  struct Node {
    std::string name = {};  // from MapName
    std::uint64_t degree = 0;
    double x = 0;
    double y = 0;
    std::optional<std::uint32_t> node_class = {};  // index into `classes`, or kMostMapClasses
  };
  std::vector<Node> nodes = {};           // those to be named first come first
  std::vector<std::string> classes = {};  // by descending number of nodes, from MapName; empty: none given
  bool by_neighbors = false;              // near their neighbours by cosine; otherwise on the principal axes
  double x_share = 0;                     // share of the variance along the principal axis
  double y_share = 0;
};

// The filtered MRR of one relation.
struct RelationQuality {
  std::string name = {};
  std::uint64_t triples = 0;
  double tail_mrr = 0;  // of (h, r, ?)
  double head_mrr = 0;  // of (?, r, t)
};

struct HeldOutQuality {
  std::string split = {};
  std::uint64_t edges = 0;  // number in the split
  RankingReport ranks = {};
  std::vector<RelationQuality> relations = {};  // most frequent first; empty if there is only one
};

struct RunPage {
  std::string version = {};  // of the program
  std::filesystem::path run = {};
  std::filesystem::path graph = {};
  GraphDescription description = {};
  TrainOptions options = {};
  std::uint64_t epochs_done = 0;
  std::uint64_t batches_done = 0;  // of the current epoch
  std::string committed = {};      // the time, e.g. "2024-05-06 07:08 UTC"
  RunHistory history = {};
  std::optional<Residency> residency = {};
  std::optional<HeldOutQuality> quality = {};
  std::optional<DegreeNorms> norms = {};
  std::optional<EmbeddingMap> map = {};
  Examples examples = {};
};

// Returns the page. Names may contain any bytes; those that are not UTF-8 are shown as U+FFFD.
std::string ToHtml(const RunPage& page);

// Upper bound for the memory of a page and of making it, for each node of its map.
inline constexpr std::uint64_t kMapNodeBytes = 4096;

}  // namespace octavo
