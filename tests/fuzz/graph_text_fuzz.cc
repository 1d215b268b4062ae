// The text files of a graph folder: after a 'g' graph.json, after an 'r' relations.tsv.
#include <string>
#include <vector>

#include "format/graph_description.h"
#include "graph/relation_list.h"
#include "tests/fuzz/fuzz.h"

namespace octavo {
namespace {

void CheckDescription(std::string_view text) {
  const absl::StatusOr<GraphDescription> description = DecodeGraphDescription(text, "graph.json");
  if (!description.ok()) return CheckError(description.status(), {ErrorKind::kCorrupt});
  MUST(description->node_count > 0 && description->relation_count > 0 && description->partition_count > 0);
  const std::string written = EncodeGraphDescription(*description, "{}");
  const absl::StatusOr<GraphDescription> again = DecodeGraphDescription(written, "graph.json");
  MUST(again.ok() && *again == *description);
  MUST(EncodeGraphDescription(*again, "{}") == written);
}

void CheckRelations(std::string_view text) {
  const absl::StatusOr<std::vector<RelationEntry>> relations = ParseRelationList(text, "relations.tsv");
  if (!relations.ok()) return CheckError(relations.status(), {ErrorKind::kCorrupt});
  std::string written;
  for (std::size_t i = 0; i < relations->size(); ++i) {
    const RelationEntry& relation = (*relations)[i];
    MUST(i == 0 || (*relations)[i - 1].name < relation.name);
    MUST(relation.name.find('\n') == std::string::npos);
    written += relation.name + "\t" + std::to_string(relation.train_edges) + "\n";
  }
  // Only leading zeros of a count can be lost.
  MUST(written.size() <= text.size());
  if (written.size() == text.size()) MUST(written == text);
  const absl::StatusOr<std::vector<RelationEntry>> again = ParseRelationList(written, "relations.tsv");
  MUST(again.ok() && again->size() == relations->size());
  for (std::size_t i = 0; i < relations->size(); ++i) {
    MUST((*again)[i].name == (*relations)[i].name && (*again)[i].train_edges == (*relations)[i].train_edges);
  }
}

}  // namespace
}  // namespace octavo

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  octavo::FuzzInput input(data, size);
  const char kind = input.Value<char>();
  if (kind == 'g') octavo::CheckDescription(input.rest());
  if (kind == 'r') octavo::CheckRelations(input.rest());
  return 0;
}
