// The generator of a kind of graph.
#pragma once

#include <memory>

#include "generate/edge_generator.h"

namespace octavo {

// REQUIRES: the options pass CheckGenerateOptions
std::unique_ptr<EdgeGenerator> MakeEdgeGenerator(const GenerateOptions& options);

}  // namespace octavo
