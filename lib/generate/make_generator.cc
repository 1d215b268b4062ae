#include "generate/make_generator.h"

#include "generate/knowledge_graph.h"
#include "generate/rmat.h"
#include "generate/stochastic_blocks.h"

namespace octavo {

std::unique_ptr<EdgeGenerator> MakeEdgeGenerator(const GenerateOptions& options) {
  switch (options.kind) {
    case GraphKind::kRmat:
      return std::make_unique<Rmat>(options);
    case GraphKind::kSbm:
      return std::make_unique<StochasticBlocks>(options);
    case GraphKind::kKg:
      return std::make_unique<KnowledgeGraph>(options);
  }
  return nullptr;
}

}  // namespace octavo
