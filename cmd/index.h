// What the verbs that build and search an index share.
#pragma once

#include <cstdint>
#include <string>

#include "cmd/program.h"
#include "query/opened_index.h"

namespace octavo {

// Returns how many of the program's threads may search at once. Each needs `search_bytes`; the first one's are not part
// of `rest_bytes`.
int SearchThreads(const Program& program, std::uint64_t rest_bytes, std::uint64_t search_bytes);

// Returns "recall@10 0.9950 (ef 100, 100 nodes, against an exact search)".
std::string DescribeRecall(double recall, std::uint64_t k, std::uint64_t ef, std::uint64_t sample);

}  // namespace octavo
