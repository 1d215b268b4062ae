#include "evaluate/wanted_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "base/status.h"
#include "tests/evaluate/fixture.h"

namespace octavo {
namespace {

constexpr std::size_t kDim = 6;

std::vector<WantedRow> DrawWanted(std::size_t count, std::uint64_t nodes) {
  RandomStream random(3, RandomPurpose::kSplit, 0, 0);
  std::vector<WantedRow> wanted(count);
  for (std::size_t i = 0; i < count; ++i) wanted[i] = {random.Below(nodes), static_cast<std::uint32_t>(i)};
  return wanted;
}

TEST(ForEachWantedRow, GivesEachItsRowOnce) {
  EmbeddedFixture fixture({.nodes = 2500});
  for (const std::size_t count : {0UL, 1UL, 511UL, 513UL, 6000UL}) {
    const std::vector<WantedRow> drawn = DrawWanted(count, 2500);
    for (const std::uint64_t max_bytes : {1UL, 4096UL, 1UL << 20}) {
      for (const int threads : {1, 2, 4}) {
        std::vector<WantedRow> wanted = drawn;
        std::vector<std::atomic<int>> calls(count);
        std::atomic<int> wrong = 0;
        const absl::Status status = WithThreads(threads, [&] {
          return ForEachWantedRow(fixture.Embedded(), wanted, max_bytes,
                                  [&](std::size_t index, std::span<const float> row) {
                                    ++calls[index];
                                    const std::size_t first = drawn[index].node * kDim;
                                    if (!std::equal(row.begin(), row.end(), &fixture.naive.embeddings[first])) ++wrong;
                                  });
        });
        ASSERT_TRUE(status.ok());
        EXPECT_EQ(wrong.load(), 0);
        for (const std::atomic<int>& call : calls) EXPECT_EQ(call.load(), 1);
      }
    }
  }
}

TEST(ForEachWantedRow, NamesTheFirstWantedRowThatIsNotFinite) {
  EmbeddedFixture fixture({.nodes = 2500});
  for (const std::size_t node : {3UL, 901UL, 2400UL}) fixture.naive.embeddings[node * kDim + 2] = std::nanf("");
  fixture.Write();
  std::vector<WantedRow> drawn = DrawWanted(6000, 2500);
  drawn.push_back({901, 6000});
  drawn.push_back({2400, 6001});
  std::erase_if(drawn, [](const WantedRow& row) { return row.node == 3; });  // node 3 is between wanted rows
  for (const int threads : {1, 4}) {
    std::vector<WantedRow> wanted = drawn;
    const absl::Status status = WithThreads(threads, [&] {
      return ForEachWantedRow(fixture.Embedded(), wanted, 1 << 20, [](std::size_t, std::span<const float>) {});
    });
    EXPECT_THAT(MessageOf(status), testing::HasSubstr("row 901 (node")) << threads;
  }
}

}  // namespace
}  // namespace octavo
