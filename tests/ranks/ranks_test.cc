#include "ranks/ranks.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"
#include "tests/support/local_transport.h"
#include "tests/support/rank_threads.h"

namespace octavo {
namespace {

Message Number(std::uint64_t number) {
  MessageWriter writer;
  writer.Put(number);
  return writer.Take();
}

std::vector<std::uint64_t> NumbersOf(const std::vector<Message>& all) {
  std::vector<std::uint64_t> numbers;
  for (const Message& message : all) {
    std::uint64_t number = 0;
    EXPECT_OK(MessageReader(message).Get(number));
    numbers.push_back(number);
  }
  return numbers;
}

void ExpectAllOk(const std::vector<absl::Status>& results) {
  for (const absl::Status& result : results) EXPECT_OK(result);
}

// Ranks that call each step at other times.
void Dawdle(const Ranks& ranks, std::uint64_t step) {
  std::this_thread::sleep_for(
      std::chrono::microseconds((static_cast<std::uint64_t>(ranks.rank()) * 2654435761U + step * 40503U) % 1500));
}

TEST(Ranks, StepsGiveEachItsPart) {
  for (const int count : {1, 2, 5}) {
    ExpectAllOk(RunRanks(count, [&](Ranks& ranks) -> absl::Status {
      EXPECT_EQ(ranks.size(), count);
      EXPECT_EQ(ranks.first(), ranks.rank() == 0);
      EXPECT_EQ(ranks.NameOf(count - 1), std::to_string(count - 1) + " on host" + std::to_string(count - 1));
      for (std::uint64_t step = 0; step < 10; ++step) {
        Dawdle(ranks, step);
        const std::uint64_t mine = 100 * step + static_cast<std::uint64_t>(ranks.rank());
        std::vector<std::uint64_t> expected;
        for (int rank = 0; rank < count; ++rank) expected.push_back(100 * step + static_cast<std::uint64_t>(rank));
        ASSIGN_OR_RETURN(const std::vector<Message> gathered, ranks.Gather(Number(mine)));
        EXPECT_EQ(NumbersOf(gathered), ranks.first() ? expected : std::vector<std::uint64_t>{});
        ASSIGN_OR_RETURN(const Message told, ranks.Tell(Number(mine + 7)));
        EXPECT_EQ(NumbersOf({told}), std::vector{100 * step + 7}) << "that of rank 0";
        ASSIGN_OR_RETURN(const std::vector<Message> all, ranks.Together(Number(mine)));
        EXPECT_EQ(NumbersOf(all), expected);
        // Messages of any length, one empty.
        ASSIGN_OR_RETURN(const std::vector<Message> lengths,
                         ranks.Together(Message(static_cast<std::size_t>(ranks.rank()) * 1000)));
        for (std::size_t rank = 0; rank < lengths.size(); ++rank) EXPECT_EQ(lengths[rank].size(), rank * 1000);
      }
      return absl::OkStatus();
    }));
  }
}

TEST(Ranks, NobodyLeavesAMeetingBeforeAllAreThere) {
  constexpr int kRanks = 4;
  std::atomic<int> arrived = 0;
  ExpectAllOk(RunRanks(kRanks, [&](Ranks& ranks) -> absl::Status {
    for (int meeting = 1; meeting <= 20; ++meeting) {
      Dawdle(ranks, static_cast<std::uint64_t>(meeting));
      ++arrived;
      RETURN_IF_ERROR(ranks.Meet());
      EXPECT_GE(arrived, kRanks * meeting);
    }
    return absl::OkStatus();
  }));
}

TEST(Ranks, AnErrorOfOneEndsTheWaitingOfAll) {
  const auto results = RunRanks(
      3, [](Ranks& ranks) -> absl::Status { return ranks.rank() == 2 ? RuntimeError("a full disk") : ranks.Meet(); });
  EXPECT_ERROR(results[2], kRuntime, "a full disk");
  EXPECT_ERROR(results[0], kRuntime, "connection to another rank is lost");
  EXPECT_ERROR(results[1], kRuntime, "connection to another rank is lost");
}

TEST(Ranks, RefuseAMixOfKinds) {
  LocalHub hub(3);
  std::vector<absl::Status> results(3);
  std::vector<std::thread> threads;
  std::atomic<int> joined = 0;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      const auto ranks = Ranks::Join(hub.Join(rank), {}, rank == 2 ? "c" : "ab", rank == 2 ? "AVX-512" : "AVX2");
      results[static_cast<std::size_t>(rank)] = ranks.status();
      for (++joined; joined < 3;) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& result : results) {
    EXPECT_ERROR(result, kUsage,
                 "rank 0 on ab has AVX2, rank 2 on c has AVX-512: their bits differ; expected the same");
  }
}

TEST(Message, ReadsWhatWasWritten) {
  MessageWriter writer;
  writer.Put(std::uint32_t{7});
  writer.PutText("");
  writer.PutText("two\0words");
  writer.PutAll(std::span<const float>(std::vector<float>{1.5F, -2}));
  writer.PutAll(std::span<const float>());
  writer.Put(true);
  const Message message = writer.Take();
  MessageReader reader(message);
  std::uint32_t number = 0;
  std::string text = "old";
  std::vector<float> values(9);
  std::vector<float> none(9);
  bool flag = false;
  EXPECT_OK(reader.Get(number));
  EXPECT_EQ(number, 7U);
  EXPECT_OK(reader.GetText(text));
  EXPECT_EQ(text, "");
  EXPECT_OK(reader.GetText(text));
  EXPECT_EQ(text, "two");
  EXPECT_OK(reader.GetAll(values));
  EXPECT_EQ(values, (std::vector<float>{1.5F, -2}));
  EXPECT_OK(reader.GetAll(none));
  EXPECT_TRUE(none.empty());
  EXPECT_OK(reader.Get(flag));
  EXPECT_TRUE(flag);
  EXPECT_FALSE(reader.Get(flag).ok()) << "nothing is left";
}

TEST(Message, ShortOnesAreErrors) {
  MessageWriter writer;
  writer.Put(std::uint64_t{3});
  writer.PutAll(std::span<const double>(std::vector<double>{1, 2}));
  writer.PutText("abc");
  const Message whole = writer.Take();
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    // A separate copy, so that the sanitizer sees each byte past the end.
    const Message cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
    MessageReader reader(cut);
    std::uint64_t number = 0;
    std::vector<double> values;
    std::string text;
    absl::Status status = reader.Get(number);
    if (status.ok()) status = reader.GetAll(values);
    if (status.ok()) status = reader.GetText(text);
    EXPECT_EQ(status.ok(), bytes == whole.size()) << bytes;
  }
}

TEST(Message, CountsThatCannotBeAreErrors) {
  for (const std::uint64_t count : {std::uint64_t{2}, std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
    MessageWriter writer;
    writer.Put(count);
    writer.Put(1.0);
    const Message message = writer.Take();
    std::vector<double> values;
    EXPECT_FALSE(MessageReader(message).GetAll(values).ok()) << count;
    std::vector<double> three(3);
    EXPECT_FALSE(MessageReader(message).GetAll(std::span<double>(three)).ok());
    std::string text;
    EXPECT_EQ(MessageReader(message).GetText(text).ok(), count == 2);  // eight letters follow
  }
}

}  // namespace
}  // namespace octavo
