// relations.tsv: a line a relation, in id order, its name and the number of its training edges behind a tab.
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

// The file is held in memory as a whole; a larger one is not a list of relations.
inline constexpr std::uint64_t kMaxRelationsBytes = std::uint64_t{16} << 30;

// Parses the file. A corrupt-file error names the line: names ascend by their bytes.
absl::StatusOr<std::vector<RelationEntry>> ParseRelationList(std::string_view text, std::string_view file_name);

}  // namespace octavo
