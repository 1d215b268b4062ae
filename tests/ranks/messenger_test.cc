#include "ranks/messenger.h"

#include <unistd.h>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/child_process.h"
#include "tests/support/expect_status.h"
#include "tests/support/local_transport.h"

namespace octavo {
namespace {

using std::chrono::milliseconds;

Message Text(const std::string& text) {
  Message message(text.size());
  if (!text.empty()) std::memcpy(message.data(), text.data(), text.size());
  return message;
}
std::string TextOf(const Message& message) { return {reinterpret_cast<const char*>(message.data()), message.size()}; }

// Messengers of all ranks, which leave the job together.
class Job {
 public:
  explicit Job(LocalHub& hub, const MessengerSettings& settings = {}) {
    for (int rank = 0; rank < hub.ranks(); ++rank) {
      auto messenger = Messenger::Start(hub.Join(rank), settings);
      EXPECT_OK(messenger);
      messengers_.push_back(*std::move(messenger));
      EXPECT_EQ(messengers_.back()->rank(), rank);
    }
  }
  Messenger& operator[](int rank) { return *messengers_[static_cast<std::size_t>(rank)]; }
  // All leave: each waits for the others.
  void Finish() {
    std::vector<std::future<void>> ends;
    for (auto& messenger : messengers_) {
      messenger->Finish();
      ends.push_back(std::async(std::launch::async, [&messenger] { messenger.reset(); }));
    }
    for (auto& end : ends) end.get();
  }

 private:
  std::vector<std::unique_ptr<Messenger>> messengers_;
};

TEST(Messenger, KnowsItsJob) {
  LocalHub hub(3);
  Job job(hub);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(job[rank].ranks(), 3);
    EXPECT_EQ(job[rank].library(), "threads");
  }
  job.Finish();
}

// Every rank sends to every other one, messages of three kinds mixed, of lengths around those of the pieces.
void ExchangeMany(std::uint64_t seed, std::uint64_t piece_bytes) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed << ", pieces of " << piece_bytes);
  constexpr int kRanks = 3;
  constexpr int kMessages = 60;
  LocalHub hub(kRanks, seed);
  Job job(hub, {.most_piece_bytes = piece_bytes});
  const MessageKind kinds[] = {MessageKind::kTogether, MessageKind::kControl, MessageKind::kRows};
  std::mt19937_64 random(seed);
  // expected[from][to][kind]
  std::vector<std::string> expected[kRanks][kRanks][3];
  std::uint64_t bytes = 0;
  for (int i = 0; i < kMessages; ++i) {
    for (int from = 0; from < kRanks; ++from) {
      for (int to = 0; to < kRanks; ++to) {
        if (to == from) continue;
        const std::size_t kind = random() % 3;
        std::string text(random() % (3 * piece_bytes), '\0');
        if (random() % 4 == 0) text.resize(piece_bytes * (random() % 3));  // with a header in front, and without
        if (random() % 4 == 0) text.resize(std::max<std::size_t>(16, text.size()) - 16);
        for (char& letter : text) letter = static_cast<char>(random());
        expected[from][to][kind].push_back(text);
        if (from == 0) bytes += text.size();
        job[from].Send(to, kinds[kind], Text(text));
      }
    }
  }
  for (int to = 0; to < kRanks; ++to) {
    for (int from = kRanks - 1; from >= 0; --from) {
      for (std::size_t kind = 0; kind < 3; ++kind) {
        for (const std::string& text : expected[from][to][kind]) {
          const auto message = job[to].Receive(from, kinds[kind]);
          ASSERT_OK(message);
          ASSERT_EQ(TextOf(*message), text) << from << " to " << to << ", kind " << kind;
        }
        EXPECT_FALSE(job[to].TryReceive(from, kinds[kind]).has_value());
      }
    }
  }
  EXPECT_EQ(job[0].bytes_sent(), bytes);
  EXPECT_LE(hub.longest_message(), piece_bytes);
  job.Finish();
}

TEST(Messenger, KeepsTheOrderOfEachKindAndSender) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) ExchangeMany(seed, 1000);
  ExchangeMany(4, 16);
  ExchangeMany(5, 17);
}

// The real limit: a message of a piece and a little, between two small ones.
TEST(Messenger, SendsLongMessagesInPieces) {
  LocalHub hub(2);
  Job job(hub);
  Message large(kMostMessageBytes + 5);
  for (std::size_t i = 0; i < large.size(); i += 4096) large[i] = static_cast<std::byte>(i / 4096);
  large.back() = std::byte{99};
  job[0].Send(1, MessageKind::kRows, Text("before"));
  job[0].Send(1, MessageKind::kRows, large);
  job[0].Send(1, MessageKind::kRows, Text("after"));
  EXPECT_EQ(TextOf(*job[1].Receive(0, MessageKind::kRows)), "before");
  EXPECT_TRUE(*job[1].Receive(0, MessageKind::kRows) == large);
  EXPECT_EQ(TextOf(*job[1].Receive(0, MessageKind::kRows)), "after");
  EXPECT_EQ(hub.longest_message(), kMostMessageBytes);
  EXPECT_EQ(job[1].bytes_received(), large.size() + 11);
  job.Finish();
}

TEST(Messenger, EmptyMessagesArriveEachOnce) {
  LocalHub hub(2);
  Job job(hub);
  for (int i = 0; i < 5; ++i) job[1].Send(0, MessageKind::kStop, {});
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(job[0].Receive(1, MessageKind::kStop)->empty());
  EXPECT_FALSE(job[0].TryReceive(1, MessageKind::kStop).has_value());
  job.Finish();
}

TEST(Messenger, ReceivesFromAnyRankUntilTheKindIsClosed) {
  LocalHub hub(3);
  Job job(hub);
  job[1].Send(0, MessageKind::kRows, Text("one"));
  job[2].Send(0, MessageKind::kRows, Text("two"));
  std::vector<std::string> found;
  for (int i = 0; i < 2; ++i) {
    const auto received = job[0].ReceiveAny(MessageKind::kRows);
    ASSERT_OK(received);
    found.push_back(std::to_string(received->first) + TextOf(received->second));
  }
  std::ranges::sort(found);
  EXPECT_EQ(found, (std::vector<std::string>{"1one", "2two"}));
  auto waiting = std::async(std::launch::async, [&] { return job[0].ReceiveAny(MessageKind::kRows).status(); });
  EXPECT_EQ(waiting.wait_for(milliseconds(50)), std::future_status::timeout);
  job[0].Close(MessageKind::kTogether);  // another one
  EXPECT_EQ(waiting.wait_for(milliseconds(50)), std::future_status::timeout);
  job[0].Close(MessageKind::kRows);
  EXPECT_TRUE(absl::IsCancelled(waiting.get()));
  job.Finish();
}

TEST(Messenger, WaitsForAMessageOrAMoment) {
  LocalHub hub(2);
  Job job(hub);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_OK(job[0].WaitFor(1, MessageKind::kControl, milliseconds(40)));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(40));
  EXPECT_FALSE(job[0].TryReceive(1, MessageKind::kControl).has_value());
  job[1].Send(0, MessageKind::kControl, Text("x"));
  EXPECT_OK(job[0].WaitFor(1, MessageKind::kControl, std::chrono::hours(1)));
  EXPECT_TRUE(job[0].TryReceive(1, MessageKind::kControl).has_value());
  job.Finish();
}

// What was handed over before the end arrives, however slow the transport is.
TEST(Messenger, LeavesWhenAllIsSent) {
  LocalHub hub(2, 3, std::chrono::milliseconds(20));
  Job job(hub, {.most_piece_bytes = 100});
  auto received = std::async(std::launch::async, [&] {
    std::size_t bytes = 0;
    for (int i = 0; i < 4; ++i) bytes += job[1].Receive(0, MessageKind::kRows)->size();
    return bytes;
  });
  for (int i = 0; i < 4; ++i) job[0].Send(1, MessageKind::kRows, Message(250));
  auto end = std::async(std::launch::async, [&] {
    EXPECT_EQ(received.get(), 1000U);
    return true;
  });
  EXPECT_TRUE(end.get());
  job.Finish();
}

double ProcessorSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Four threads that spin would take all of the processors; waiting takes some per cent of one.
TEST(Messenger, TakesLittleOfTheProcessorWhileIdle) {
  LocalHub hub(4);
  Job job(hub);
  auto waiting = std::async(std::launch::async, [&] { return job[0].Receive(1, MessageKind::kTogether).status(); });
  const double before = ProcessorSeconds();
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_LT(ProcessorSeconds() - before, 0.25);
  job[1].Send(0, MessageKind::kTogether, {});
  EXPECT_OK(waiting.get());
  job.Finish();
}

// Silence alone is no loss: beats are enough. A rank whose messages stop is lost, by its name.
TEST(Messenger, NoticesALostRankAndNamesIt) {
  LocalHub hub(3);
  std::atomic<int> calls = 0;
  const std::thread::id here = std::this_thread::get_id();
  const MessengerSettings settings{
      .beat = milliseconds(30), .lost_after = milliseconds(800), .on_lost = [&](const absl::Status& status) {
        ++calls;
        EXPECT_FALSE(status.ok());
        EXPECT_NE(std::this_thread::get_id(), here);
      }};
  auto all = std::make_unique<Job>(hub, settings);
  Job& job = *all;
  for (int rank = 0; rank < 3; ++rank) job[rank].SetNames({"0 on a", "1 on b", "2 on c"});
  std::this_thread::sleep_for(milliseconds(1000));
  EXPECT_EQ(calls, 0) << "idle, but alive";
  job[0].Send(2, MessageKind::kTogether, Text("still"));
  EXPECT_OK(job[2].Receive(0, MessageKind::kTogether));
  hub.Lose(1);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_ERROR(job[0].Receive(1, MessageKind::kTogether), kRuntime, "rank 1 on b has not answered for ");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(500)) << "not before its time";
  EXPECT_ERROR(job[2].ReceiveAny(MessageKind::kRows), kRuntime, "rank 1 on b");
  EXPECT_ERROR(job[0].WaitFor(2, MessageKind::kRows, milliseconds(5)), kRuntime, "rank 1 on b");
  EXPECT_FALSE(job[1].Receive(0, MessageKind::kRows).ok()) << "it has lost the others";
  all.reset();  // their threads end
  EXPECT_EQ(calls, 3) << "once each";
}

TEST(Messenger, WhatArrivedBeforeAnErrorIsStillReceived) {
  LocalHub hub(2);
  Job job(hub);
  job[1].Send(0, MessageKind::kTogether, Text("a"));
  ASSERT_OK(job[0].WaitFor(1, MessageKind::kTogether, std::chrono::hours(1)));
  hub.Break();
  EXPECT_ERROR(job[0].Receive(1, MessageKind::kRows), kRuntime, "the connection to another rank is lost");
  EXPECT_EQ(TextOf(*job[0].Receive(1, MessageKind::kTogether)), "a");
  EXPECT_FALSE(job[0].Receive(1, MessageKind::kTogether).ok());
}

TEST(Messenger, AnErrorOfThisRankEndsItsWaiting) {
  LocalHub hub(2);
  Job job(hub);
  auto waiting = std::async(std::launch::async, [&] { return job[0].Receive(1, MessageKind::kTogether).status(); });
  EXPECT_EQ(waiting.wait_for(milliseconds(50)), std::future_status::timeout);
  job[0].Fail(RuntimeError("a full disk"));
  job[0].Fail(RuntimeError("another"));
  EXPECT_ERROR(waiting.get(), kRuntime, "a full disk");
  EXPECT_ERROR(job[0].ReceiveAny(MessageKind::kRows), kRuntime, "a full disk");
  EXPECT_ERROR(job[0].WaitFor(1, MessageKind::kRows, milliseconds(5)), kRuntime, "a full disk");
  job[1].Send(0, MessageKind::kRows, Text("x"));
  job.Finish();
}

TEST(Messenger, AJobThatCannotBeJoinedIsAnError) {
  LocalHub hub(2);
  hub.Break();
  EXPECT_ERROR(Messenger::Start(hub.Join(0), {}), kRuntime, "the connection to another rank is lost");
}

// The process ends with the exit code, though its main thread is busy elsewhere.
TEST(Messenger, ALostRankEndsTheProcess) {
  const ChildEnd end = RunChild([] {
    LocalHub hub(2);
    const MessengerSettings settings{
        .beat = milliseconds(10), .lost_after = milliseconds(100), .lost_exit_code = 6, .end_process = [](int code) {
          ::_exit(code);
        }};
    const auto messenger = Messenger::Start(hub.Join(0), settings);
    if (!messenger.ok()) return 1;
    std::this_thread::sleep_for(std::chrono::seconds(30));
    return 2;
  });
  EXPECT_EQ(end.code, 6);
}

// A library whose calls do not return: Probe from its 20th call on, or Abort.
class HangingTransport : public Transport {
 public:
  HangingTransport(std::unique_ptr<Transport> transport, bool probe)
      : transport_(std::move(transport)), probe_(probe) {}

  absl::Status Start() override { return transport_->Start(); }
  int rank() const override { return transport_->rank(); }
  int ranks() const override { return transport_->ranks(); }
  std::string library() const override { return "a library"; }
  absl::StatusOr<Request> Send(std::span<const std::byte> data, int to, int tag) override {
    return transport_->Send(data, to, tag);
  }
  absl::StatusOr<std::optional<Arrived>> Probe(int tag) override {
    if (probe_ && ++probes_ == 20) Hang();
    return transport_->Probe(tag);
  }
  absl::StatusOr<Request> Receive(std::span<std::byte> data, int from, int tag) override {
    return transport_->Receive(data, from, tag);
  }
  absl::StatusOr<bool> Test(Request request) override { return transport_->Test(request); }
  void Finish() override { transport_->Finish(); }
  void Abort(int) override { Hang(); }

 private:
  static void Hang() { std::this_thread::sleep_for(std::chrono::hours(1)); }

  std::unique_ptr<Transport> transport_;
  bool probe_;
  int probes_ = 0;
};

// By a cut cable both can hang, and the launcher cannot reach the process.
TEST(Messenger, ATransportThatHangsEndsTheProcess) {
  for (const bool probe : {true, false}) {
    const auto begin = std::chrono::steady_clock::now();
    const ChildEnd end = RunChild([probe] {
      LocalHub hub(2);
      const MessengerSettings settings{
          .beat = milliseconds(10), .lost_after = milliseconds(200), .lost_exit_code = 6, .end_process = [](int code) {
            ::_exit(code);
          }};
      const auto messenger = Messenger::Start(std::make_unique<HangingTransport>(hub.Join(0), probe), settings);
      if (!messenger.ok()) return 1;
      std::this_thread::sleep_for(std::chrono::seconds(60));
      ::_exit(2);  // the messenger's end would wait for the thread that hangs
    });
    EXPECT_EQ(end.code, 6);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(50));
  }
}

TEST(Messenger, AbortEndsTheProcess) {
  const ChildEnd end = RunChild([] {
    LocalHub hub(2);
    const auto messenger = Messenger::Start(hub.Join(0), {.end_process = [](int code) { ::_exit(code); }});
    if (!messenger.ok()) return 1;
    (*messenger)->Abort(4);
    return 2;
  });
  EXPECT_EQ(end.code, 4);
}

}  // namespace
}  // namespace octavo
