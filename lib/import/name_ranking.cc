#include "import/name_ranking.h"

#include <algorithm>
#include <cstddef>

#include "base/parallel.h"
#include "base/status.h"
#include "fmt/format.h"
#include "oneapi/tbb/parallel_sort.h"

namespace octavo {
namespace {

// Names that one task hashes or gives their ranks.
constexpr std::size_t kGrain = 1024;

struct HashedName {
  std::uint64_t hash;
  std::uint32_t id;
};

std::vector<HashedName> HashNames(const NameTable& names, const std::vector<std::uint32_t>& ids, NameHash hash,
                                  std::uint64_t seed) {
  std::vector<HashedName> hashed(ids.size());
  ParallelRanges(0, ids.size(), kGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) hashed[i] = {HashOf(names, ids[i], hash, seed), ids[i]};
  });
  return hashed;
}

// Shard by shard: as the names lie in memory and, with seed 0, in the order of the high bits of their hashes, which
// leaves a sort less to do where it is not parallel yet.
std::vector<std::uint32_t> IdsThatStay(const std::vector<bool>& stays) {
  std::vector<std::uint32_t> ids;
  ids.reserve(stays.size());
  for (std::uint32_t shard = 0; shard < NameTable::kShards; ++shard) {
    for (std::uint32_t id = shard; id < stays.size(); id += NameTable::kShards) {
      if (stays[id]) ids.push_back(id);
    }
  }
  return ids;
}

}  // namespace

absl::StatusOr<NameRanking> RankNodes(const NameTable& names, const std::vector<bool>& seen,
                                      const std::vector<bool>& stays, NameHash hash) {
  const std::vector<std::uint32_t> ids = IdsThatStay(seen);
  NameRanking ranking;
  for (; ranking.seed < kMaxHashSeeds; ++ranking.seed) {
    std::vector<HashedName> hashed = HashNames(names, ids, hash, ranking.seed);
    tbb::parallel_sort(hashed.begin(), hashed.end(),
                       [](const HashedName& a, const HashedName& b) { return a.hash < b.hash; });
    const auto same = [](const HashedName& a, const HashedName& b) { return a.hash == b.hash; };
    if (std::adjacent_find(hashed.begin(), hashed.end(), same) != hashed.end()) continue;
    if (stays != seen) std::erase_if(hashed, [&](const HashedName& name) { return !stays[name.id]; });
    ranking.by_rank.resize(hashed.size());
    ranking.hashes.resize(hashed.size());
    ranking.rank.resize(stays.size());
    ParallelRanges(0, hashed.size(), kGrain, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        ranking.by_rank[i] = hashed[i].id;
        ranking.hashes[i] = hashed[i].hash;
        ranking.rank[hashed[i].id] = static_cast<std::uint32_t>(i);
      }
    });
    return ranking;
  }
  return NoHashSeedError();
}

absl::Status NoHashSeedError() {
  return RuntimeError(fmt::format("{} seeds gave two names the same hash; expected none to", kMaxHashSeeds));
}

NameRanking RankRelations(const NameTable& names, const std::vector<bool>& stays) {
  NameRanking ranking;
  ranking.by_rank = IdsThatStay(stays);
  std::ranges::sort(ranking.by_rank, {}, [&](std::uint32_t id) { return names.Text(id); });
  ranking.rank.resize(stays.size());
  for (std::uint32_t rank = 0; rank < ranking.by_rank.size(); ++rank) ranking.rank[ranking.by_rank[rank]] = rank;
  return ranking;
}

void EncodeIds(EdgeRuns& runs, const NameRanking& nodes, const NameRanking& relations) {
  ParallelEach(0, runs.size(), [&](std::size_t run) {
    for (EdgeRecord& record : runs[run]) {
      if (record.part() == Part::kDropped) continue;
      record.head = nodes.rank[record.head];
      record.tail = nodes.rank[record.tail];
      if (!relations.rank.empty()) record.set_relation(relations.rank[record.relation()]);
    }
  });
}

}  // namespace octavo
