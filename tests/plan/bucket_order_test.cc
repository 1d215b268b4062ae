#include "plan/bucket_order.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

// Partitions of one unit each: a cell is a bucket.
std::vector<std::uint32_t> Ones(std::uint32_t partitions) { return std::vector<std::uint32_t>(partitions, 1); }

RandomStream Stream(std::uint64_t seed) { return RandomStream(seed, RandomPurpose::kBucketOrder, 0, 0); }

// Follows the states with a set and checks everything that MakeBucketOrder promises.
void CheckOrder(const StateSequence& states, std::uint32_t partitions, std::uint32_t resident) {
  std::set<std::uint32_t> memory;
  for (std::uint32_t p = 0; p < resident; ++p) memory.insert(p);
  std::set<UnitCell> trained;
  for (std::size_t s = 0; s < states.size(); ++s) {
    if (s > 0) {
      ASSERT_EQ(memory.erase(states.exchanges[s - 1].leaves), 1U) << "was not in memory";
      ASSERT_TRUE(memory.insert(states.exchanges[s - 1].enters).second) << "is in memory";
    }
    ASSERT_EQ(memory.size(), resident);
    for (const UnitCell& bucket : states.CellsOf(s)) {
      ASSERT_TRUE(memory.contains(bucket.head) && memory.contains(bucket.tail));
      ASSERT_TRUE(trained.insert(bucket).second) << "twice: " << bucket.head << " " << bucket.tail;
    }
  }
  EXPECT_EQ(trained.size(), std::size_t{partitions} * partitions);
}

TEST(BucketOrder, TrainsEachBucketOnceWithBothPartitionsInMemory) {
  for (std::uint32_t partitions = 1; partitions <= 17; ++partitions) {
    for (std::uint32_t resident = partitions == 1 ? 1 : 2; resident <= partitions; ++resident) {
      for (const BucketOrder order : {BucketOrder::kBeta, BucketOrder::kInsideOut, BucketOrder::kRandom}) {
        SCOPED_TRACE(::testing::Message() << partitions << " " << resident << " " << static_cast<int>(order));
        CheckOrder(MakeBucketOrder(order, Ones(partitions), resident, Stream(partitions)), partitions, resident);
      }
    }
  }
  CheckOrder(MakeBucketOrder(BucketOrder::kBeta, Ones(64), 7, Stream(1)), 64, 7);
  CheckOrder(MakeBucketOrder(BucketOrder::kBeta, Ones(512), 128, Stream(1)), 512, 128);
}

TEST(BucketOrder, BetaMakesAsManyExchangesAsItsFormula) {
  for (std::uint32_t partitions = 2; partitions <= 40; ++partitions) {
    for (std::uint32_t resident = 2; resident <= partitions; ++resident) {
      const auto states = MakeBucketOrder(BucketOrder::kBeta, Ones(partitions), resident, Stream(7));
      EXPECT_EQ(states.size() - 1, BetaExchanges(partitions, resident)) << partitions << " " << resident;
      EXPECT_GE(BetaExchanges(partitions, resident), LeastExchanges(partitions, resident));
    }
  }
  EXPECT_EQ(BetaExchanges(1, 1), 0U);
}

// The figures of Marius' authors and of our design for 32 partitions, 8 of them in memory.
TEST(BucketOrder, BetaOfThirtyTwoPartitionsAndEight) {
  EXPECT_EQ(BetaExchanges(32, 8), 78U);
  EXPECT_EQ(LeastExchanges(32, 8), 67U);
  EXPECT_EQ(MakeBucketOrder(BucketOrder::kBeta, Ones(32), 8, Stream(1)).size() - 1, 78U);
}

TEST(BucketOrder, OrdersRankAsTheyShould) {
  const auto exchanges = [](BucketOrder order) { return MakeBucketOrder(order, Ones(32), 8, Stream(3)).size() - 1; };
  EXPECT_LT(exchanges(BucketOrder::kBeta), exchanges(BucketOrder::kInsideOut));
  EXPECT_LT(exchanges(BucketOrder::kInsideOut), exchanges(BucketOrder::kRandom));
}

// Belady's rule is optimal for a sequence: no worse than replacing the least recently used, on the same buckets.
TEST(BucketOrder, RandomLosesNothingAgainstLeastRecentlyUsed) {
  const std::uint32_t partitions = 12;
  const std::uint32_t resident = 4;
  const auto states = MakeBucketOrder(BucketOrder::kRandom, Ones(partitions), resident, Stream(11));
  std::map<std::uint32_t, std::size_t> last_use;
  for (std::uint32_t p = 0; p < resident; ++p) last_use[p] = 0;
  std::size_t clock = 1;
  std::size_t exchanges = 0;
  for (std::size_t s = 0; s < states.size(); ++s) {
    for (const UnitCell& bucket : states.CellsOf(s)) {
      for (const std::uint32_t wanted : {bucket.head, bucket.tail}) {
        if (!last_use.contains(wanted)) {
          auto oldest = last_use.end();
          for (auto it = last_use.begin(); it != last_use.end(); ++it) {
            const bool needed = it->first == bucket.head || it->first == bucket.tail;
            if (!needed && (oldest == last_use.end() || it->second < oldest->second)) oldest = it;
          }
          last_use.erase(oldest);
          ++exchanges;
        }
        last_use[wanted] = clock++;
      }
    }
  }
  EXPECT_LE(states.size() - 1, exchanges);
}

TEST(BucketOrder, IsAPureFunctionOfItsArguments) {
  const auto flat = [](std::uint64_t seed) {
    std::vector<std::uint32_t> numbers;
    const StateSequence states = MakeBucketOrder(BucketOrder::kBeta, Ones(9), 3, Stream(seed));
    for (std::size_t s = 0; s < states.size(); ++s) {
      if (s > 0) numbers.insert(numbers.end(), {states.exchanges[s - 1].leaves, states.exchanges[s - 1].enters});
      for (const UnitCell& bucket : states.CellsOf(s)) numbers.insert(numbers.end(), {bucket.head, bucket.tail});
    }
    return numbers;
  };
  EXPECT_EQ(flat(1), flat(1));
  EXPECT_NE(flat(1), flat(2));
}

// COMET: without the random assignment the first state would train all of its buckets, resident x resident of them.
TEST(BucketOrder, BetaSpreadsTheBucketsOverTheStates) {
  std::size_t most = 0;
  std::size_t empty = 0;
  const auto states = MakeBucketOrder(BucketOrder::kBeta, Ones(32), 8, Stream(5));
  for (std::size_t s = 0; s < states.size(); ++s) {
    most = std::max(most, states.CellsOf(s).size());
    empty += states.CellsOf(s).empty() ? 1 : 0;
  }
  EXPECT_LT(most, 64U);
  EXPECT_LT(empty, states.size() / 10);
}

TEST(BucketOrder, EachPairOfUnitsStandsInOneState) {
  const std::vector<std::uint32_t> units = {2, 3, 2, 1, 3};
  for (const BucketOrder order : {BucketOrder::kBeta, BucketOrder::kInsideOut, BucketOrder::kRandom}) {
    std::set<std::uint32_t> memory = {0, 1};
    std::set<UnitCell> trained;
    const auto partition_of = [&](std::uint32_t unit) {
      std::uint32_t p = 0;
      for (; unit >= units[p]; ++p) unit -= units[p];
      return p;
    };
    const StateSequence states = MakeBucketOrder(order, units, 2, Stream(4));
    for (std::size_t s = 0; s < states.size(); ++s) {
      if (s > 0) {
        memory.erase(states.exchanges[s - 1].leaves);
        memory.insert(states.exchanges[s - 1].enters);
      }
      for (const UnitCell& cell : states.CellsOf(s)) {
        EXPECT_TRUE(memory.contains(partition_of(cell.head)) && memory.contains(partition_of(cell.tail)));
        EXPECT_TRUE(trained.insert(cell).second);
      }
    }
    EXPECT_EQ(trained.size(), 11U * 11U);
  }
}

// The cells of a bucket are spread over states: a state has some cells of many buckets.
TEST(BucketOrder, BetaSpreadsTheCellsOfABucket) {
  const std::vector<std::uint32_t> units(8, 4);
  std::vector<std::set<std::size_t>> states_of(64);
  const auto states = MakeBucketOrder(BucketOrder::kBeta, units, 4, Stream(4));
  for (std::size_t s = 0; s < states.size(); ++s) {
    for (const UnitCell& cell : states.CellsOf(s)) states_of[cell.head / 4 * 8 + cell.tail / 4].insert(s);
  }
  std::size_t several = 0;
  for (const auto& of_bucket : states_of) several += of_bucket.size() > 1 ? 1 : 0;
  EXPECT_GT(several, 32U);
}

}  // namespace
}  // namespace octavo
