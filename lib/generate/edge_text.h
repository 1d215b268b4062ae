// Generated edges as lines of text: head, relation if there are any, tail, with tabs between.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "generate/edge_generator.h"

namespace octavo {

enum class NameStyle {
  kInteger,  // 123
  kString,   // node_0000123, relation_07: zeros up to the length of the last one
};

// Constant after construction; any thread.
class EdgeText {
 public:
  EdgeText(const GenerateOptions& options, NameStyle style);

  // Bytes of the longest line.
  std::size_t max_line_bytes() const;
  // Appends a line for each edge.
  void Append(std::span<const GeneratedEdge> edges, std::string& text) const;

 private:
  void AppendNode(std::uint64_t node, std::string& text) const;

  bool has_relations_;
  NameStyle style_;
  std::size_t node_digits_;  // of the last one
  std::size_t relation_digits_;
};

}  // namespace octavo
