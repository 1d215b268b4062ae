#include "walk/walker_file.h"

#include <algorithm>
#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

TEST(WalkerFile, ReturnsTheWalkersOfEachBucketWhole) {
  const TemporaryFolder folder;
  for (const std::uint64_t buffer_bytes : {1ULL, 5000ULL, 1000000ULL}) {
    SpillUse use;
    const WalkerLayout layout(3);
    WalkerFile file(SpillFile::Create(folder / "walkers", use).value(), layout, 5, 2, buffer_bytes);
    std::map<std::size_t, std::vector<std::vector<std::uint32_t>>> expected;
    for (std::uint32_t i = 0; i < 5000; ++i) {
      const std::size_t bucket = i * i % 7 % 4;  // the last one stays empty
      std::uint32_t* const walker = file.writer(i % 2).Next(bucket);
      const std::uint64_t number = std::uint64_t{i} << 20;
      WalkerLayout::SetNumber(walker, number);
      EXPECT_EQ(WalkerLayout::Number(walker), number);
      for (std::uint32_t k = 0; k < 3; ++k) WalkerLayout::Nodes(walker)[k] = i * 3 + k;
      expected[bucket].emplace_back(walker, walker + layout.words());
    }
    ASSERT_OK(file.Finish());
    EXPECT_EQ(file.walkers(), 5000U);
    for (std::size_t bucket = 0; bucket < 5; ++bucket) {
      std::vector<std::vector<std::uint32_t>> found;
      std::vector<std::uint32_t> words;
      for (const SpillExtent& extent : file.Extents(bucket)) {
        ASSERT_OK(file.Read(extent, words));
        ASSERT_EQ(words.size() % layout.words(), 0U);
        for (std::size_t at = 0; at < words.size(); at += layout.words()) {
          found.emplace_back(words.begin() + static_cast<std::ptrdiff_t>(at),
                             words.begin() + static_cast<std::ptrdiff_t>(at + layout.words()));
        }
      }
      std::ranges::sort(found);
      std::ranges::sort(expected[bucket]);
      EXPECT_TRUE(found == expected[bucket]) << bucket;
    }
  }
}

TEST(WalkerFile, TheFirstErrorOfAnyWriterIsThatOfFinish) {
  const TemporaryFolder folder;
  SpillUse use;
  use.stop = [] { return true; };
  WalkerFile file(SpillFile::Create(folder / "walkers", use).value(), WalkerLayout(1), 2, 2, 1);
  for (std::uint32_t i = 0; i < 100; ++i) WalkerLayout::SetNumber(file.writer(i % 2).Next(1), i);
  EXPECT_TRUE(absl::IsCancelled(file.Finish()));
}

}  // namespace
}  // namespace octavo
