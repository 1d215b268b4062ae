#include "run/training_remarks.h"

#include "base/count_text.h"
#include "fmt/format.h"
#include "model/bf16_product.h"

namespace octavo {
namespace {

std::string Text(const TrainOptions& options, std::string_view name) { return FindTrainOption(name)->format(options); }

}  // namespace

std::string GraphText(const GraphDescription& graph) {
  return fmt::format("{}, {}, {} train, {} valid and {}", CountText(graph.node_count, "node"),
                     CountText(graph.relation_count, "relation"), graph.train_edges, graph.valid_edges,
                     CountText(graph.test_edges, "test edge"));
}

std::string TrainingText(const TrainOptions& options) {
  return fmt::format("{}, dim {}, {}{}: {} against {} negatives, {} at {}", Text(options, "model"), options.dim,
                     options.precision == Precision::kBf16 ? "products of bf16, " : "",
                     CountText(options.epochs, "epoch"), Text(options, "loss"), Text(options, "negatives"),
                     Text(options, "optimizer"), Text(options, "learning-rate"));
}

std::vector<std::string> TrainingRemarks(const GraphDescription& graph, const TrainOptions& options) {
  std::vector<std::string> remarks;
  const bool learns_relations = options.model_spec().RelationWidth() > 0;
  if (!learns_relations && graph.relation_count > 1) {
    remarks.push_back(
        fmt::format("model {} ignores which of the {} relations an edge has; complex, distmult, transe "
                    "and rotate learn them",
                    Text(options, "model"), graph.relation_count));
  }
  // complex and rescal are good at the edges of one relation, too.
  const bool suits_one = options.model == ModelKind::kComplEx || options.model == ModelKind::kRescal;
  if (learns_relations && !graph.has_relations && !suits_one) {
    remarks.push_back(
        fmt::format("the graph has no relations for model {}; complex predicts edges of such graphs, dot makes vectors "
                    "of nodes that are alike",
                    Text(options, "model")));
  }
  if (options.negatives > graph.node_count) {
    const std::string_view without = options.known_negatives && options.degree_fraction > 0
                                         ? " --known-negatives=false --degree-fraction 0"
                                     : options.known_negatives     ? " --known-negatives=false"
                                     : options.degree_fraction > 0 ? " --degree-fraction 0"
                                                                   : "";
    remarks.push_back(
        fmt::format("negatives is {}, more than the {}; --negatives all{} takes each node once, which is "
                    "less work",
                    options.negatives, CountText(graph.node_count, "node"), without));
  }
  if (options.precision == Precision::kBf16 && ActiveBf16Backend() != Bf16Backend::kAmx) {
    remarks.push_back(fmt::format(
        "precision bf16 is for processors with AMX, which this one lacks: here its products are made by {}, "
        "slower than float32; the result has the same bits",
        ActiveBf16Backend() == Bf16Backend::kFma ? "float32 instructions" : "a slow loop"));
  }
  return remarks;
}

}  // namespace octavo
