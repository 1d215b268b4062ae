#include "cells/spill_file.h"

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span<const char>(text)); }
std::string Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(SpillFile, HasNoNameAndCountsWhatItTakes) {
  TemporaryFolder folder;
  SpillUse use;
  ASSERT_OK_AND_ASSIGN(const auto file, SpillFile::Create(folder / "a", use));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  ASSERT_OK(file->Append(Bytes("one")));
  ASSERT_OK(file->Append(Bytes("two")));
  ASSERT_OK(file->FinishWriting());
  EXPECT_EQ(file->size(), 6U);
  EXPECT_EQ(use.written_bytes, 6U);
  std::vector<std::byte> bytes(4);
  ASSERT_OK(file->ReadOnce(1, bytes));
  EXPECT_EQ(Text(bytes), "netw");
}

TEST(SpillFile, PiecesOfSeveralThreadsStayWhole) {
  TemporaryFolder folder;
  SpillUse use;
  ASSERT_OK_AND_ASSIGN(const auto file, SpillFile::Create(folder / "a", use));
  std::vector<std::thread> threads;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&, letter] {
      for (int i = 0; i < 200; ++i) EXPECT_OK(file->Append(Bytes(std::string(1000, letter))));
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(file->FinishWriting());
  ASSERT_EQ(file->size(), 800000U);
  std::vector<std::byte> piece(1000);
  for (std::uint64_t at = 0; at < file->size(); at += piece.size()) {
    ASSERT_OK(file->ReadOnce(at, piece));
    EXPECT_EQ(Text(piece), std::string(1000, static_cast<char>(piece[0])));
  }
}

TEST(SpillFile, TheErrorOfAFullDiskSaysWhatIsNeededAndOthersDoNot) {
  TemporaryFolder folder;
  SpillUse use;
  use.expected_bytes = std::uint64_t{3} << 20;
  ASSERT_OK_AND_ASSIGN(const auto file, SpillFile::Create(folder / "a", use));
  ASSERT_OK(file->Append(Bytes(std::string(2048, 'x'))));
  for (const std::string point : {"file.write", "file.flush"}) {
    ASSERT_OK(SetFailpoints(point + "=enospc"));
    const absl::Status status = file->Append(Bytes(std::string(3 << 20, 'x')));
    EXPECT_ERROR(status, kRuntime, "No space left");
    EXPECT_ERROR(status, kRuntime, "have 2.0 KiB and need about 3.0 MiB in all");
  }
  ASSERT_OK(SetFailpoints("file.write=eio"));
  const absl::Status status = file->Append(Bytes("x"));
  EXPECT_ERROR(status, kRuntime, "Input/output error");
  EXPECT_EQ(std::string(MessageOf(status)).find("need"), std::string::npos);
  ASSERT_OK(SetFailpoints(""));
}

TEST(SpillFile, WritesEndWhenTheImportIsStopped) {
  TemporaryFolder folder;
  SpillUse use;
  bool stop = false;
  use.stop = [&] { return stop; };
  ASSERT_OK_AND_ASSIGN(const auto file, SpillFile::Create(folder / "a", use));
  ASSERT_OK(file->Append(Bytes("a")));
  stop = true;
  EXPECT_TRUE(absl::IsCancelled(file->Append(Bytes("b"))));
}

TEST(SpillReader, ReadsAnExtentThroughABufferOfAnySize) {
  TemporaryFolder folder;
  SpillUse use;
  ASSERT_OK_AND_ASSIGN(const auto file, SpillFile::Create(folder / "a", use));
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * 7919) + ",";
  ASSERT_OK(file->Append(Bytes(text)));
  ASSERT_OK(file->FinishWriting());
  for (const std::size_t buffer : {10UL, 13UL, 4096UL, 1000000UL}) {
    const SpillExtent extent{.begin = 17, .end = text.size() - 5};
    SpillReader reader(*file, extent, buffer);
    std::string found;
    for (std::size_t step = 1;; step = step % 10 + 1) {
      ASSERT_OK_AND_ASSIGN(const auto bytes, reader.Peek(step));
      if (bytes.empty()) break;
      // Less than requested only at the end.
      EXPECT_TRUE(bytes.size() >= step || found.size() + bytes.size() == extent.end - extent.begin);
      const auto some = bytes.first(std::min(step, bytes.size()));
      found += Text(some);
      reader.Consume(some.size());
    }
    EXPECT_TRUE(found == text.substr(extent.begin, extent.end - extent.begin)) << buffer;
  }
}

}  // namespace
}  // namespace octavo
