// Uses octavo as a library: prints the nodes nearest to one, by cosine, from a run that octavo train made.
//
//   cmake -S examples -B build/examples && cmake --build build/examples
//   c++ -std=c++20 examples/nearest.cc -o nearest $(pkg-config --cflags --libs octavo)

#include <cstdio>
#include <string>

#include "absl/status/statusor.h"
#include "evaluate/nearest.h"
#include "run/trained_run.h"

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: nearest RUN NAME\n"), 2;
  const absl::StatusOr<octavo::TrainedRun> run = octavo::OpenTrainedRun(argv[1]);
  if (!run.ok()) return std::fprintf(stderr, "%s\n", run.status().ToString().c_str()), 1;
  const octavo::NodeNames& names = run->graph->nodes();
  const auto node = names.Find(argv[2]);
  if (!node) return std::fprintf(stderr, "no node %s\n", argv[2]), 1;

  const octavo::EmbeddedGraph embedded{*run->graph, run->embeddings, run->relations, run->model, run->reciprocal};
  const auto nearest = octavo::NearestNodes(embedded, *node, octavo::Similarity::kCosine, {.k = 5});
  if (!nearest.ok()) return std::fprintf(stderr, "%s\n", nearest.status().ToString().c_str()), 1;
  for (const octavo::ScoredNode& found : *nearest) {
    std::printf("%s\t%.4f\n", std::string(names.Name(found.node)).c_str(), found.score);
  }
}
