// Questions to a run, and their answers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

inline constexpr std::string_view kAsked = "?";

struct Question {
  enum class Kind { kNeighbors, kPredict, kAnalogy };
  Kind kind = Kind::kNeighbors;
  // The name of a node; or head, relation and tail; or a, b and c of "a is to b as c is to ?". With only two words the
  // tail is empty: they are a head and a relation, or the two ends if the graph has only one relation.
  std::array<std::string, 3> words = {};
  std::string known = {};              // "hide" or "mark"; empty: as in the options
  bool typed = false;                  // also if the options say so
  std::string metric = {};             // of neighbors: "cosine" or "dot"; empty: as in the options
  bool suggest = true;                 // similar names for one that is unknown, which takes a second in a large graph
  bool exact = false;                  // compare all vectors even if there is an index
  std::optional<std::size_t> ef = {};  // candidates kept in an index search, at most those of the options; none: these
};

struct AnswerRow {
  std::string name;   // complete, or as a table shows it
  std::string label;  // the same; empty for none
  float score = 0.0F;
  bool known = false;
  bool plausible = true;
};

struct Answer {
  Question question;        // with all words, as names where they were labels, and what the options say
  bool has_labels = false;  // the graph
  std::optional<std::uint64_t> ef = std::nullopt;  // of neighbors: of the index search; none: exact
  std::array<std::string, 3> labels = {};          // of the words; empty for none
  std::vector<AnswerRow> rows = {};                // best first
  std::uint64_t known = 0;                         // for predict: nodes that answer it in the graph, hidden or marked
};

}  // namespace octavo
