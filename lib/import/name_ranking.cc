#include "import/name_ranking.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#include "base/parallel.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

struct HashedName {
  std::uint64_t hash;
  std::uint32_t id;
};

// By NameTable::ShardOf of the hash. For the table's own hashes these are its shards.
using Buckets = std::array<std::vector<HashedName>, NameTable::kShards>;

// The seen names; each bucket in ascending order of the hashes.
Buckets SortNames(const NameTable& names, const NameMarks& marks, NameHash hash, std::uint64_t seed) {
  Buckets buckets;
  ParallelEach(0, buckets.size(), [&](std::size_t shard) {
    buckets[shard].reserve(marks.size() / NameTable::kShards);
    for (std::size_t i = shard; i < marks.size(); i += NameTable::kShards) {
      const auto id = static_cast<std::uint32_t>(i);
      if (marks.Seen(id)) buckets[shard].push_back({HashOf(names, id, hash, seed), id});
    }
  });
  // With another hash the table's shards are not in the order of the hashes, so distribute the names again.
  if (!HasHash(hash, seed)) {
    const Buckets by_shard = std::exchange(buckets, {});
    for (const auto& shard : by_shard) {
      for (const HashedName& name : shard) buckets[NameTable::ShardOf(name.hash)].push_back(name);
    }
  }
  ParallelEach(0, buckets.size(), [&](std::size_t i) { std::ranges::sort(buckets[i], {}, &HashedName::hash); });
  return buckets;
}

bool HasTwoAlike(const Buckets& buckets) {
  std::atomic<bool> found = false;  // relaxed: read after the threads have been joined
  ParallelEach(0, buckets.size(), [&](std::size_t i) {
    if (std::ranges::adjacent_find(buckets[i], {}, &HashedName::hash) == buckets[i].end()) return;
    found.store(true, std::memory_order_relaxed);
  });
  return found.load(std::memory_order_relaxed);
}

}  // namespace

std::optional<NameRanking> RankNodesWithSeed(const NameTable& names, const NameMarks& marks, bool only_train,
                                             NameHash hash, std::uint64_t seed) {
  Buckets buckets = SortNames(names, marks, hash, seed);
  // All seen names must have distinct hashes, even those without a row: looking one up must not find another.
  if (HasTwoAlike(buckets)) return std::nullopt;
  // The buckets are in the order of the hashes: a bucket's first rank is the number of names in the buckets before it.
  std::array<std::size_t, NameTable::kShards + 1> begin{};
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (only_train) std::erase_if(buckets[i], [&](const HashedName& name) { return !marks.InTrain(name.id); });
    begin[i + 1] = begin[i] + buckets[i].size();
  }
  NameRanking ranking{.rank = {}, .by_rank = {}, .hashes = {}, .seed = seed};
  // New memory: its first touch takes as long as the writes below.
  ParallelBoth([&] { ranking.hashes.resize(begin.back()); },
               [&] {
                 ranking.by_rank.resize(begin.back());
                 ranking.rank.resize(marks.size());
               });
  ParallelEach(0, buckets.size(), [&](std::size_t i) {
    std::size_t rank = begin[i];
    for (const HashedName& name : buckets[i]) {
      ranking.by_rank[rank] = name.id;
      ranking.hashes[rank] = name.hash;
      ranking.rank[name.id] = static_cast<std::uint32_t>(rank++);
    }
  });
  return ranking;
}

absl::StatusOr<NameRanking> RankNodes(const NameTable& names, const NameMarks& marks, bool only_train, NameHash hash) {
  for (std::uint64_t seed = 0; seed < kMaxHashSeeds; ++seed) {
    if (std::optional<NameRanking> ranking = RankNodesWithSeed(names, marks, only_train, hash, seed)) {
      return *std::move(ranking);
    }
  }
  return NoHashSeedError();
}

absl::Status NoHashSeedError() {
  return RuntimeError(
      fmt::format("each of {} seeds gave two names the same hash; expected one without collision", kMaxHashSeeds));
}

NameRanking RankRelations(const NameTable& names, const NameMarks& marks, bool only_train) {
  NameRanking ranking;
  for (std::uint32_t id = 0; id < marks.size(); ++id) {
    if (marks.Keeps(id, only_train)) ranking.by_rank.push_back(id);
  }
  std::ranges::sort(ranking.by_rank, {}, [&](std::uint32_t id) { return names.Text(id); });
  ranking.rank.resize(marks.size());
  for (std::uint32_t rank = 0; rank < ranking.by_rank.size(); ++rank) ranking.rank[ranking.by_rank[rank]] = rank;
  return ranking;
}

void EncodeIds(EdgeChunks& chunks, const NameRanking& nodes, const NameRanking& relations) {
  ParallelEach(0, chunks.size(), [&](std::size_t chunk) {
    for (EdgeRecord& record : chunks[chunk]) {
      if (record.split() == EdgeSplit::kDropped) continue;
      record.head = nodes.rank[record.head];
      record.tail = nodes.rank[record.tail];
      if (!relations.rank.empty()) record.set_relation(relations.rank[record.relation()]);
    }
  });
}

}  // namespace octavo
