#include "walk/walker_file.h"

#include <algorithm>
#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/heap_peak.h"
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
      for (std::size_t piece = 0; piece < file.Pieces(bucket); ++piece) {
        ASSERT_OK(file.Read(bucket, piece, words));
        ASSERT_EQ(words.size(), file.Walkers(bucket, piece) * layout.words());
        ASSERT_FALSE(words.empty());
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

// The position of each piece took 16 bytes, which no plan counted.
TEST(WalkerFile, HoldsNoMoreThanItSays) {
  const TemporaryFolder folder;
  SpillUse use;
  const WalkerLayout layout(1);
  constexpr std::uint64_t kBufferBytes = 16 << 10;
  constexpr std::uint64_t kWalkers = 200'000;
  const std::uint64_t index = WalkerFile::IndexBytes(kWalkers, layout, 64, 2, kBufferBytes);
  EXPECT_LT(index, kWalkers * 2) << "pages of 10 walkers";
  const HeapPeak peak;
  WalkerFile file(SpillFile::Create(folder / "walkers", use).value(), layout, 64, 2, kBufferBytes);
  for (std::uint32_t i = 0; i < kWalkers; ++i) WalkerLayout::SetNumber(file.writer(i % 2).Next(i * 7 % 64), i);
  ASSERT_OK(file.Finish());
  EXPECT_EQ(file.walkers(), kWalkers);
  EXPECT_LE(peak.bytes(), index + kBufferBytes + (16 << 10));
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
