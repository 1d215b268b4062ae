// Generated edges as lines of text: head, relation (if there are relations) and tail, separated by tabs.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "generate/edge_generator.h"

namespace octavo {

enum class NameStyle {
  kInteger,  // 123
  kString,   // node_0000123, relation_07: zero-padded to the length of the last name
};

// Constant after construction; any thread.
class EdgeText {
 public:
  EdgeText(const GenerateOptions& options, NameStyle style);

  // Length of the longest line in bytes.
  std::size_t max_line_bytes() const;
  // Appends one line for each edge.
  void Append(std::span<const GeneratedEdge> edges, std::string& text) const;

 private:
  void AppendNode(std::uint64_t node, std::string& text) const;

  bool has_relations_;
  NameStyle style_;
  std::size_t node_digits_;  // digits of the last node's number
  std::size_t relation_digits_;
};

}  // namespace octavo
