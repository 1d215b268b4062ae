#include "vectors/sorted_vectors.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

using Named = std::pair<std::string, std::vector<float>>;

class ListSource : public VectorSource {
 public:
  ListSource(std::vector<Named> list, std::optional<std::uint64_t> order = {})
      : list_(std::move(list)), order_(order) {}
  std::size_t columns() const override { return 3; }
  std::optional<std::uint64_t> order() const override { return order_; }
  std::string PlaceOf(std::uint64_t number) const override { return fmt::format("list:{}", number + 1); }

 protected:
  absl::StatusOr<std::optional<NamedVector>> Read() override {
    if (count() == list_.size()) return std::nullopt;
    return NamedVector{list_[count()].first, list_[count()].second};
  }

 private:
  std::vector<Named> list_;
  std::optional<std::uint64_t> order_;
};

std::vector<Named> RandomList(std::uint64_t count) {
  RandomStream random(1, RandomPurpose::kSplit, 0, 0);
  std::vector<Named> list;
  for (std::uint64_t i = 0; i < count; ++i) {
    // Some long names, and an empty one.
    list.push_back({i == 5 ? "" : fmt::format("{}{}", std::string(random.Below(100) == 0 ? 5000 : 3, 'n'), i),
                    {random.NextFloat(), static_cast<float>(i), -0.0F}});
  }
  return list;
}

absl::StatusOr<std::vector<Named>> ReadAll(SortedVectors& sorted) {
  std::vector<Named> list;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<HashedVector> vector, sorted.Next());
    if (!vector) return list;
    EXPECT_EQ(vector->hash, HashName(vector->name, 7));
    list.push_back({std::string(vector->name), {vector->values.begin(), vector->values.end()}});
  }
}

TEST(SortedVectors, AreInTheOrderOfTheHashesWhateverTheMemory) {
  const TemporaryFolder folder;
  const std::vector<Named> list = RandomList(20'000);
  std::vector<Named> expected = list;
  std::ranges::sort(expected, {}, [](const Named& named) { return HashName(named.first, 7); });
  for (const std::uint64_t memory : {std::uint64_t{1} << 30, std::uint64_t{1} << 20}) {
    SpillUse use;
    ASSERT_OK_AND_ASSIGN(auto sorted,
                         SortedVectors::Make(std::make_unique<ListSource>(list), 7, memory, folder / "spill", use));
    EXPECT_EQ(use.written_bytes > 0, memory < (1 << 30));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    ASSERT_OK_AND_ASSIGN(const std::vector<Named> found, ReadAll(*sorted));
    EXPECT_TRUE(found == expected) << memory;
    EXPECT_EQ(sorted->count(), list.size());
  }
  SpillUse use;
  EXPECT_ERROR(SortedVectors::Make(std::make_unique<ListSource>(list), 7, 100'000, folder / "spill", use), kUsage,
               "--memory");
  // A source in order is passed through; one that only claims to be in order is not.
  ASSERT_OK_AND_ASSIGN(auto ordered, SortedVectors::Make(std::make_unique<ListSource>(expected, 7), 7, 0, "", use));
  ASSERT_OK_AND_ASSIGN(const std::vector<Named> found, ReadAll(*ordered));
  EXPECT_TRUE(found == expected);
  std::swap(expected[70], expected[71]);
  ASSERT_OK_AND_ASSIGN(auto unordered, SortedVectors::Make(std::make_unique<ListSource>(expected, 7), 7, 0, "", use));
  EXPECT_ERROR(ReadAll(*unordered), kCorrupt, "list:72: \"");
}

TEST(SortedVectors, EndsWhereItIsToldToStop) {
  const TemporaryFolder folder;
  const std::vector<Named> list = RandomList(1000);
  for (const bool ordered : {false, true}) {
    for (const int last : {1, 500, 1500}) {
      int asked = 0;
      SpillUse use = {.stop = [&] { return ++asked > last; }};
      const auto order = ordered ? std::optional<std::uint64_t>(7) : std::nullopt;
      auto sorted = SortedVectors::Make(std::make_unique<ListSource>(list, order), 7, 1 << 30, folder / "spill", use);
      const absl::Status status = sorted.ok() ? ReadAll(**sorted).status() : sorted.status();
      // In the order of the list, up to the first name that is out of place.
      EXPECT_TRUE(ordered ? !status.ok() : absl::IsCancelled(status)) << status.ToString();
      EXPECT_LE(asked, last + 1);
    }
  }
}

TEST(SortedVectors, RefusesANameThatComesTwice) {
  const TemporaryFolder folder;
  std::vector<Named> list = RandomList(5000);
  list[4000].first = list[17].first;
  for (const std::uint64_t memory : {std::uint64_t{1} << 30, std::uint64_t{1} << 20}) {
    SpillUse use;
    ASSERT_OK_AND_ASSIGN(auto sorted,
                         SortedVectors::Make(std::make_unique<ListSource>(list), 7, memory, folder / "spill", use));
    EXPECT_ERROR(ReadAll(*sorted), kInput, "list:4001: found \"" + list[17].first + "\" again, first at list:18");
  }
}

}  // namespace
}  // namespace octavo
