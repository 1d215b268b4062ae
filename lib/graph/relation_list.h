// relations.tsv: one line per relation, in id order: its name, a tab and the number of its training edges.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace octavo {

struct RelationEntry {
  std::string name;
  std::uint64_t train_edges = 0;
};

// The whole file is held in memory; a larger one is not a list of relations.
inline constexpr std::uint64_t kMaxRelationsBytes = std::uint64_t{16} << 30;

// Parses the file. Names ascend by their bytes. A corrupt-file error names the line.
absl::StatusOr<std::vector<RelationEntry>> ParseRelationList(std::string_view text, std::string_view file_name);

}  // namespace octavo
