// Opens the index of a run within a memory limit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "index/cosine_index.h"
#include "run/trained_run.h"

namespace octavo {

inline constexpr std::uint64_t kDefaultEf = 100;
inline constexpr std::uint64_t kMaxEf = 1'000'000;

struct OpenedIndex {
  CosineIndex index;
  std::uint64_t rest_bytes = 0;  // of the limit, in addition to the run, the index and the work
};

// Loads the index at `path` within `limit` bytes, with `work_bytes` left for the search. An index of another run, or of
// another commit than the opened one, is a corrupt-file error. `folder` is the run's.
absl::StatusOr<OpenedIndex> OpenIndex(std::uint64_t limit, const std::string& path, TrainedRun& run,
                                      std::string_view folder, std::uint64_t work_bytes);

}  // namespace octavo
