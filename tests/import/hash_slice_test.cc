#include "import/hash_slice.h"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

TEST(HashSlice, FindsWhatAMapFinds) {
  std::mt19937_64 random(1);
  for (const std::size_t count : {0UL, 1UL, 2UL, 3UL, 63UL, 1000UL, 50000UL}) {
    // Evenly spread, as hashes are; and as no hash should be: a few values at one end, or consecutive.
    for (const std::uint64_t mask : {~std::uint64_t{0}, std::uint64_t{0xFFFFF}, std::uint64_t{0xFFFFF} << 44}) {
      std::map<std::uint64_t, std::uint32_t> ranks;
      while (ranks.size() < count) ranks[random() & mask];
      std::vector<std::uint64_t> hashes;
      for (auto& [hash, rank] : ranks) {
        rank = static_cast<std::uint32_t>(1000 + hashes.size());
        hashes.push_back(hash);
      }
      const HashSlice slice(hashes, 1000);
      EXPECT_EQ(slice.size(), count);
      std::vector<std::uint64_t> wanted = {0, 1, ~std::uint64_t{0}, ~std::uint64_t{0} - 1};
      for (const std::uint64_t hash : hashes) wanted.insert(wanted.end(), {hash, hash - 1, hash + 1});
      for (int i = 0; i < 1000; ++i) wanted.push_back(random() & mask);
      for (const std::uint64_t hash : wanted) {
        slice.PrefetchBucket(hash);
        slice.PrefetchHash(hash);
        const auto found = ranks.find(hash);
        EXPECT_EQ(slice.Find(hash), found == ranks.end() ? HashSlice::kAbsent : found->second);
        EXPECT_EQ(slice.Covers(hash), count > 0 && hash >= hashes.front() && hash <= hashes.back());
      }
    }
  }
}

}  // namespace
}  // namespace octavo
