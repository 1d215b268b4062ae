#include "import/import_report.h"

#include <algorithm>
#include <array>

#include "format/paths.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

// Objects are made by Json::object(): if [] runs out of memory while making one, the library dereferences a null
// pointer.

Json BySplit(const std::array<std::uint64_t, 3>& counts) {
  Json object = Json::object();
  for (const Split split : {Split::kTrain, Split::kValid, Split::kTest}) {
    object[std::string(SplitName(split))] = counts[static_cast<std::size_t>(split)];
  }
  return object;
}

Json OptionsJson(const ImportOptions& options, const ImportSummary& summary) {
  Json object = Json::object();
  if (!options.base.empty()) object["base"] = options.base.string();
  object["inputs"] = options.inputs;
  if (!options.valid.empty()) object["valid"] = options.valid;
  if (!options.test.empty()) object["test"] = options.test;
  object["formats"] = Json::array();
  for (const InputFormat format : summary.formats) object["formats"].push_back(InputFormatName(format));
  object["columns"] = ColumnsText(summary.columns);
  if (options.separator != '\0') object["separator"] = std::string(1, options.separator);
  if (options.skip_lines > 0) object["skip_lines"] = options.skip_lines;
  if (std::ranges::any_of(summary.formats, IsTriples)) object["literals"] = options.keep_literals ? "keep" : "drop";
  if (!options.node_names.empty()) object["node_names"] = options.node_names;
  if (!options.relation_names.empty()) object["relation_names"] = options.relation_names;
  if (!options.labels.empty()) object["labels"] = options.labels;
  if (!options.label_choice.predicate.empty()) object["label_predicate"] = options.label_choice.predicate;
  if (!options.label_choice.language.empty()) object["label_language"] = options.label_choice.language;
  if (!options.split.empty()) {
    object["split"] = options.split;
    object["seed"] = options.seed;
  }
  if (options.undirected) object["undirected"] = true;
  object["duplicates"] = options.merge_duplicates ? "merge" : "keep";
  object["self_loops"] = options.drop_self_loops ? "drop" : "keep";
  object["unseen"] = options.drop_unseen ? "drop" : "keep";
  object["max_bad_lines"] = options.max_bad_lines;
  if (options.partitions > 0) object["partitions"] = options.partitions;
  return object;
}

}  // namespace

std::string ImportJson(const ImportOptions& options, const ImportSummary& summary) {
  Json object = Json::object();
  object["options"] = OptionsJson(options, summary);
  object["lines"] = summary.lines;
  object["comment_lines"] = summary.comment_lines;
  object["blank_lines"] = summary.blank_lines;
  if (std::ranges::any_of(summary.formats, IsTriples)) object["literals"] = summary.literals;
  if (!options.label_choice.predicate.empty()) object["label_lines"] = summary.label_lines;
  if (summary.graph.HasLabels() || summary.labels.unknown > 0) {
    object["labelled_nodes"] = summary.labels.nodes;
    object["labelled_relations"] = summary.labels.relations;
    object["repeated_labels"] = summary.labels.repeated;
    object["unknown_names_of_labels"] = summary.labels.unknown;
  }
  if (summary.zero_weights > 0) object["zero_weights"] = summary.zero_weights;
  object["bad_lines"] = summary.bad_lines;
  object["input_edges"] = summary.input_edges;
  if (!options.base.empty()) object["base_edges"] = summary.base_edges;
  object["self_loops"] = summary.self_loops;
  object["unseen_nodes"] = summary.unseen_nodes;
  object["unseen_relations"] = summary.unseen_relations;
  object["unseen_edges"] = BySplit(summary.unseen_edges);
  object["duplicates"] = BySplit(summary.duplicates);
  object["also_in_train"] = BySplit(summary.also_in_train);
  object["hash_seed"] = summary.hash_seed;
  // Paths are bytes, JSON is UTF-8.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace octavo
