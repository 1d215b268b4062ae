#include "generate/edge_text.h"

#include <string_view>

#include "fmt/format.h"

namespace octavo {
namespace {

constexpr std::string_view kNode = "node_";
constexpr std::string_view kRelation = "relation_";

std::size_t DigitsOf(std::uint64_t number) { return fmt::format_int(number).size(); }

void AppendNumber(std::uint64_t number, std::string& text) {
  const fmt::format_int digits(number);
  text.append(digits.data(), digits.size());
}

void AppendName(std::string_view kind, std::uint64_t number, std::size_t width, std::string& text) {
  const fmt::format_int digits(number);
  text += kind;
  text.append(width - digits.size(), '0');
  text.append(digits.data(), digits.size());
}

}  // namespace

EdgeText::EdgeText(const GenerateOptions& options, NameStyle style)
    : has_relations_(options.kind == GraphKind::kKg),
      style_(style),
      node_digits_(DigitsOf(options.nodes - 1)),
      relation_digits_(DigitsOf(options.relations - 1)) {}

std::size_t EdgeText::max_line_bytes() const {
  return 2 * (kNode.size() + node_digits_ + 1) + kRelation.size() + relation_digits_ + 1;
}

void EdgeText::AppendNode(std::uint64_t node, std::string& text) const {
  if (style_ == NameStyle::kInteger) {
    AppendNumber(node, text);
  } else {
    AppendName(kNode, node, node_digits_, text);
  }
}

void EdgeText::Append(std::span<const GeneratedEdge> edges, std::string& text) const {
  for (const GeneratedEdge& edge : edges) {
    AppendNode(edge.head, text);
    if (has_relations_) {
      text += '\t';
      if (style_ == NameStyle::kInteger) {
        AppendNumber(edge.relation, text);
      } else {
        AppendName(kRelation, edge.relation, relation_digits_, text);
      }
    }
    text += '\t';
    AppendNode(edge.tail, text);
    text += '\n';
  }
}

}  // namespace octavo
