// What the verbs that build and search an index share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cmd/program.h"
#include "index/cosine_index.h"
#include "run/trained_run.h"

namespace octavo {

inline constexpr std::uint64_t kDefaultEf = 100;
inline constexpr std::uint64_t kMaxEf = 1'000'000;

struct OpenedIndex {
  CosineIndex index;
  std::uint64_t rest_bytes = 0;  // of --memory, in addition to the index and the work
};

// Loads the index at `path` within --memory, with `work_bytes` left for the search. An index of another run, or of
// another commit than the opened one, is a corrupt-file error. `folder` is the run's.
absl::StatusOr<OpenedIndex> OpenIndex(const Program& program, const std::string& path, TrainedRun& run,
                                      std::string_view folder, std::uint64_t work_bytes);

// Returns how many of the program's threads may search at once. Each needs `search_bytes`; the first one's are not part
// of `rest_bytes`.
int SearchThreads(const Program& program, std::uint64_t rest_bytes, std::uint64_t search_bytes);

// Returns "recall@10 0.9950 (ef 100, 100 nodes, against an exact search)".
std::string DescribeRecall(double recall, std::uint64_t k, std::uint64_t ef, std::uint64_t sample);

}  // namespace octavo
