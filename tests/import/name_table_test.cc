#include "import/name_table.h"

#include <array>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "io/checksum.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

std::vector<std::uint32_t> Intern(NameTable& table, const std::vector<std::string>& texts) {
  std::vector<NameTable::Name> names;
  for (const std::string& text : texts) names.push_back({text, HashName(text, 0)});
  std::vector<std::uint32_t> ids(names.size());
  EXPECT_OK(table.Intern(names, ids));
  return ids;
}

TEST(NameTable, GivesEachNameOneId) {
  NameTable table;
  std::vector<std::string> texts;
  for (int i = 0; i < 20000; ++i) texts.push_back("name " + std::to_string(i % 10000));
  texts.push_back("");
  texts.push_back(std::string(100000, 'x'));
  const std::vector<std::uint32_t> ids = Intern(table, texts);
  EXPECT_EQ(table.size(), 10002U);
  EXPECT_EQ(std::set<std::uint32_t>(ids.begin(), ids.end()).size(), 10002U);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ASSERT_LT(ids[i], table.id_limit());
    EXPECT_TRUE(table.Contains(ids[i]));
    EXPECT_EQ(table.Text(ids[i]), texts[i]);
    EXPECT_EQ(table.Hash(ids[i]), HashName(texts[i], 0));
  }
  EXPECT_EQ(Intern(table, texts), ids);
}

TEST(NameTable, KeepsNamesApartThatShareAHash) {
  NameTable table;
  const std::vector<NameTable::Name> names = {{"a", 7}, {"b", 7}, {"a", 7}};
  std::vector<std::uint32_t> ids(3);
  ASSERT_OK(table.Intern(names, ids));
  EXPECT_EQ(ids[0], ids[2]);
  EXPECT_NE(ids[0], ids[1]);
}

TEST(NameTable, KeepsTextsOfAnyLength) {
  NameTable table;
  std::vector<std::string> texts;
  for (std::size_t length = 0; length < 70; ++length) {
    texts.push_back(std::string(length, 'x'));
    texts.push_back(std::string(length, 'x') + '\0');
  }
  for (const bool alike : {false, true}) {  // hashes
    std::vector<NameTable::Name> names;
    for (const std::string& text : texts) names.push_back({text, alike ? 7 : HashName(text, 0)});
    std::vector<std::uint32_t> ids(names.size());
    ASSERT_OK(table.Intern(names, ids));
    for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(table.Text(ids[i]), texts[i]);
    EXPECT_EQ(std::set<std::uint32_t>(ids.begin(), ids.end()).size(), texts.size());
    std::vector<std::uint32_t> again(names.size());
    ASSERT_OK(table.Intern(names, again));
    EXPECT_EQ(again, ids);
  }
}

TEST(NameTable, KeepsTextsApartThatDifferInAnyByte) {
  for (std::size_t length = 1; length < 40; ++length) {
    NameTable table;
    std::vector<std::string> texts = {std::string(length, 'x')};
    for (std::size_t at = 0; at < length; ++at) texts.emplace_back(texts[0]).at(at) = 'y';
    std::vector<NameTable::Name> names;
    for (const std::string& text : texts) names.push_back({text, 7});
    std::vector<std::uint32_t> ids(names.size());
    ASSERT_OK(table.Intern(names, ids));
    EXPECT_EQ(std::set<std::uint32_t>(ids.begin(), ids.end()).size(), texts.size()) << length;
  }
}

// All in one shard with the same first slot, so that they follow each other; a slot's bits of the hash differ little.
TEST(NameTable, FindsNamesAfterOthersOfTheSameSlot) {
  NameTable table;
  std::vector<std::string> texts;
  std::vector<NameTable::Name> names;
  for (int i = 0; i < 3000; ++i) texts.push_back(std::to_string(i));
  for (std::uint64_t i = 0; i < texts.size(); ++i) names.push_back({texts[i], i % 3 << 52 | i << 30});
  std::vector<std::uint32_t> ids(names.size());
  std::vector<std::uint32_t> again(names.size());
  ASSERT_OK(table.Intern(std::span(names).first(1000), std::span(ids).first(1000)));
  ASSERT_OK(table.Intern(names, ids));
  EXPECT_EQ(table.size(), 3000U);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(table.Text(ids[i]), texts[i]);
    EXPECT_EQ(table.Hash(ids[i]), names[i].hash);
  }
  ASSERT_OK(table.Intern(names, again));
  EXPECT_EQ(again, ids);
}

TEST(NameTable, InternsFromManyThreads) {
  NameTable table;
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i) texts.push_back(std::to_string(i));
  std::vector<std::vector<std::uint32_t>> ids(4);
  std::vector<std::thread> threads;
  for (auto& mine : ids) {
    threads.emplace_back([&table, &texts, &mine] {
      for (int round = 0; round < 5; ++round) mine = Intern(table, texts);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(table.size(), 5000U);
  for (const auto& mine : ids) EXPECT_EQ(mine, ids[0]);
}

// The first thread looks up the same long name again and again, all the time in the shard that the second one needs.
TEST(NameTable, WaitsForAShardThatAnotherThreadIsIn) {
  NameTable table;
  const std::string text(std::size_t{8} << 20, 'x');
  std::thread first([&] {
    const std::vector<NameTable::Name> names(50, {text, 7});
    std::vector<std::uint32_t> ids(names.size());
    EXPECT_OK(table.Intern(names, ids));
  });
  while (table.bytes() < text.size()) std::this_thread::yield();
  std::uint32_t id = UINT32_MAX;
  EXPECT_OK(table.Intern(std::array{NameTable::Name{"y", 8}}, {&id, 1}));
  first.join();
  ASSERT_TRUE(table.Contains(id));
  EXPECT_EQ(table.Text(id), "y");
}

TEST(NameTable, ResetRemovesNamesAndCountsTheirMemoryOn) {
  NameTable table;
  std::vector<std::string> texts;
  for (int i = 0; i < 20000; ++i) texts.push_back("a name longer than twenty bytes " + std::to_string(i));
  Intern(table, texts);
  table.Reset();
  EXPECT_EQ(table.size(), 0U);
  EXPECT_EQ(table.id_limit(), 0U);
  EXPECT_GE(table.bytes(), 20000U * 48);
  EXPECT_EQ(table.bytes(100), table.bytes()) << "what is beside is of names that are there";
  texts.resize(10000);
  const std::uint64_t kept = table.bytes();
  const std::vector<std::uint32_t> ids = Intern(table, texts);
  EXPECT_EQ(table.size(), 10000U);
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(table.Text(ids[i]), texts[i]);
  EXPECT_GT(table.bytes(), kept) << "texts";
  table.Clear();
  EXPECT_EQ(table.bytes(), 0U);
}

TEST(NameTable, EmptyHasNoIds) {
  NameTable table;
  EXPECT_EQ(Intern(table, {}), std::vector<std::uint32_t>{});
  EXPECT_EQ(table.id_limit(), 0U);
  EXPECT_FALSE(table.Contains(0));
}

}  // namespace
}  // namespace octavo
