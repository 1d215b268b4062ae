// The labels of an import: from a file, from triples of the input, and from the graph that is added to.
//
// A label is a text for people; the first one of a name counts, a file's before those of triples, these before those of
// the base. Memory does not depend on the number of labels (label_sorter.h).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cells/spill_file.h"
#include "format/graph_description.h"
#include "format/paths.h"
#include "graph/graph.h"
#include "import/label_sorter.h"
#include "import/label_writer.h"
#include "import/name_ranking.h"
#include "io/compressed_input.h"

namespace octavo {

// One import. One owner; one thread at a time.
class LabelImport {
 public:
  // Names of temporary files in the folder. They exist only between creation and unlinking.
  static constexpr std::array<std::string_view, 3> kFileNames = {"labels.spill", "labels_again.spill",
                                                                 "label_order.spill"};

  // `seed` is that of the names' hashes, as far as it is known yet. Until Write it holds about `memory_bytes`. `use`
  // must outlive this object.
  LabelImport(std::filesystem::path folder, NameHash hash, std::uint64_t seed, std::uint64_t memory_bytes,
              SpillUse& use);

  // Adds the label of a triple, in input order. An empty one is no label.
  absl::Status AddTriple(std::string_view name, std::string_view label);
  // Adds the labels of a file (parse/label_file.h).
  absl::Status AddFile(const std::string& path, const std::function<bool()>& stop, const InputLimits& limits);
  // Reads up to `most` labels of a file that can be read again, so that a malformed one is an error before the edges
  // are read.
  static absl::Status CheckFile(const std::string& path, std::uint64_t most, const std::function<bool()>& stop,
                                const InputLimits& limits);
  // Adds those of another graph.
  absl::Status AddBase(const Graph& base);

  // Writes the files of labels of the graph in `paths`, whose nodes and relations are complete, and sets the labels'
  // part of `graph`. `seed` is that of the nodes' hashes. Once, last.
  absl::StatusOr<ImportedLabels> Write(const GraphPaths& paths, std::uint64_t seed, std::uint64_t memory_bytes,
                                       bool drop_behind, GraphDescription& graph);

 private:
  absl::Status Add(LabelSource source, std::string_view name, std::string_view label);
  // Sorts the labels by the hashes with another seed.
  absl::Status SortAgain(std::uint64_t seed, std::uint64_t memory_bytes);

  const std::filesystem::path folder_;
  const NameHash hash_;
  std::uint64_t seed_;
  SpillUse& use_;
  std::unique_ptr<LabelSorter> sorter_;
  std::string changed_;  // for LabelLine
};

}  // namespace octavo
