#include "import/name_ranking.h"

#include <algorithm>
#include <cstddef>

#include "base/parallel.h"
#include "base/status.h"
#include "fmt/format.h"
#include "oneapi/tbb/parallel_sort.h"

namespace octavo {
namespace {

// Names hashed by one task: some 100 microseconds of work.
constexpr std::size_t kHashGrain = 1024;

struct HashedName {
  std::uint64_t hash;
  std::uint32_t id;
};

std::vector<HashedName> HashNames(const NameTable& names, const std::vector<std::uint32_t>& ids, NameHash hash,
                                  std::uint64_t seed) {
  std::vector<HashedName> hashed(ids.size());
  ParallelRanges(0, ids.size(), kHashGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) hashed[i] = {hash(names.Text(ids[i]), seed), ids[i]};
  });
  return hashed;
}

std::vector<std::uint32_t> IdsThatStay(const std::vector<bool>& stays) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t id = 0; id < stays.size(); ++id) {
    if (stays[id]) ids.push_back(id);
  }
  return ids;
}

void SetRanks(NameRanking& ranking, std::size_t ids) {
  ranking.rank.resize(ids);
  for (std::uint32_t rank = 0; rank < ranking.by_rank.size(); ++rank) ranking.rank[ranking.by_rank[rank]] = rank;
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
    std::erase_if(hashed, [&](const HashedName& name) { return !stays[name.id]; });
    ranking.by_rank.resize(hashed.size());
    ranking.hashes.resize(hashed.size());
    for (std::size_t i = 0; i < hashed.size(); ++i) {
      ranking.by_rank[i] = hashed[i].id;
      ranking.hashes[i] = hashed[i].hash;
    }
    SetRanks(ranking, stays.size());
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
  SetRanks(ranking, stays.size());
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
