#include "export/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "fmt/format.h"
#include "io/compressed_input.h"
#include "io/failpoint.h"
#include "tests/support/cached_bytes.h"
#include "tests/support/child_process.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

using ::testing::HasSubstr;

std::string ContentsOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class OutputFileTest : public testing::Test {
 protected:
  // Outputs to path_ and, if that is a file, to beside_, with a word in each.
  std::vector<OutputFile> OpenTwo() const {
    std::ofstream(beside_) << "old";
    std::vector<OutputFile> outputs;
    for (const auto& [path, text] : {std::pair(path_, "one"), std::pair(beside_, "two")}) {
      auto output = OutputFile::Open(path);
      EXPECT_TRUE(output.ok() && output->Append(text).ok());
      outputs.push_back(*std::move(output));
    }
    return outputs;
  }

  TemporaryFolder folder_;
  std::string path_ = (folder_.path() / "out").string();
  std::string beside_ = (folder_.path() / "beside").string();
  std::string partial_ = (folder_.path() / fmt::format(".out.partial-{}", ::getpid())).string();
};

TEST_F(OutputFileTest, AppearsWhenCommitted) {
  {
    auto output = OutputFile::Open(path_);
    ASSERT_TRUE(output.ok());
    ASSERT_TRUE(output->Append("one ").ok());
    ASSERT_TRUE(output->Append("two").ok());
    EXPECT_EQ(output->bytes_written(), 7U);
    EXPECT_TRUE(std::filesystem::exists(partial_));
    EXPECT_FALSE(std::filesystem::exists(path_));
    ASSERT_TRUE(output->Commit().ok());
  }
  EXPECT_EQ(ContentsOf(path_), "one two");
  EXPECT_FALSE(std::filesystem::exists(partial_));
}

TEST_F(OutputFileTest, CompressesToTheSameBytesForAnyPieces) {
  std::string text;
  for (unsigned i = 0; text.size() < (3 << 20); ++i) text += fmt::format("{} ", i * 7919 % 10'007);
  for (const char* extension : {".gz", ".zst"}) {
    std::string first;
    for (const std::size_t piece : {text.size(), std::size_t{100'003}}) {
      auto output = OutputFile::Open(path_ + extension, CompressionOfExtension(extension));
      ASSERT_TRUE(output.ok());
      for (std::size_t i = 0; i < text.size(); i += piece) {
        ASSERT_TRUE(output->Append(std::string_view(text).substr(i, piece)).ok());
      }
      ASSERT_TRUE(output->Commit().ok());
      const std::string bytes = ContentsOf(path_ + extension);
      EXPECT_EQ(output->bytes_written(), bytes.size());
      EXPECT_LT(bytes.size(), text.size() / 2);
      if (first.empty()) first = bytes;
      EXPECT_EQ(bytes, first);
    }
    auto input = CompressedInput::Open(path_ + extension);
    std::string read(text.size() + 1, ' ');
    EXPECT_EQ(*(*input)->Read(read), text.size());
    EXPECT_EQ(read.substr(0, text.size()), text);
  }
}

TEST_F(OutputFileTest, NothingCompressedIsAWholeFile) {
  for (const char* extension : {".gz", ".zst"}) {
    auto output = OutputFile::Open(path_ + extension, CompressionOfExtension(extension));
    ASSERT_TRUE(output->Commit().ok());
    auto input = CompressedInput::Open(path_ + extension);
    std::string read(1, ' ');
    EXPECT_EQ(*(*input)->Read(read), 0U);
    EXPECT_GT(output->bytes_written(), 0U);
  }
}

// With a fixed name for the unfinished file, an export once destroyed the user's file of that name.
TEST_F(OutputFileTest, LeavesTheUsersOwnFilesAlone) {
  std::ofstream(path_ + ".partial") << "mine";
  auto output = OutputFile::Open(path_);
  ASSERT_TRUE(output.ok());
  ASSERT_TRUE(output->Append("whole").ok());
  ASSERT_TRUE(output->Commit().ok());
  EXPECT_EQ(ContentsOf(path_), "whole");
  EXPECT_EQ(ContentsOf(path_ + ".partial"), "mine");
}

TEST_F(OutputFileTest, WithoutCommitTheOldFileStays) {
  std::ofstream(path_) << "old";
  {
    auto output = OutputFile::Open(path_);
    ASSERT_TRUE(output.ok());
    ASSERT_TRUE(output->Append("new and longer").ok());
  }
  EXPECT_EQ(ContentsOf(path_), "old");
  EXPECT_FALSE(std::filesystem::exists(partial_));
}

TEST_F(OutputFileTest, FollowsALink) {
  std::ofstream(folder_.path() / "target") << "old";
  std::filesystem::create_symlink("target", path_);
  auto output = OutputFile::Open(path_);
  ASSERT_TRUE(output.ok());
  ASSERT_TRUE(output->Append("new").ok());
  ASSERT_TRUE(output->Commit().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_EQ(ContentsOf(folder_.path() / "target"), "new");
}

TEST_F(OutputFileTest, FoldersAreUsageErrors) {
  const auto folder = OutputFile::Open(folder_.path().string());
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(KindOf(folder.status()), ErrorKind::kUsage);
  const auto lost = OutputFile::Open((folder_.path() / "absent" / "file").string());
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(KindOf(lost.status()), ErrorKind::kUsage);
  EXPECT_THAT(std::string(MessageOf(lost.status())), HasSubstr("absent"));
}

TEST_F(OutputFileTest, FullDiskAndFailedSyncLeaveNothing) {
  for (const char* failpoint : {"file.write=enospc", "file.sync=eio"}) {
    {
      auto output = OutputFile::Open(path_);
      ASSERT_TRUE(output.ok());
      ASSERT_TRUE(SetFailpoints(failpoint).ok());
      absl::Status status = output->Append("text");
      if (status.ok()) status = output->Commit();
      ASSERT_TRUE(SetFailpoints("").ok());
      EXPECT_FALSE(status.ok()) << failpoint;
    }
    EXPECT_FALSE(std::filesystem::exists(path_)) << failpoint;
    EXPECT_FALSE(std::filesystem::exists(partial_)) << failpoint;
  }
}

// The first of two was renamed before the second one was written.
TEST_F(OutputFileTest, FilesThatBelongTogetherAppearWhenAllAreWhole) {
  for (const std::string failpoint : {"file.sync:1=eio", "file.sync:2=eio", ""}) {
    {
      std::vector<OutputFile> outputs = OpenTwo();
      ASSERT_TRUE(SetFailpoints(failpoint).ok());
      const absl::Status status = OutputFile::CommitAll(std::array{&outputs[0], &outputs[1]});
      ASSERT_TRUE(SetFailpoints("").ok());
      EXPECT_EQ(status.ok(), failpoint.empty());
    }
    EXPECT_EQ(std::filesystem::exists(path_), failpoint.empty());
    EXPECT_EQ(ContentsOf(beside_), failpoint.empty() ? "two" : "old");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), failpoint.empty() ? 2 : 1);
  }
}

TEST_F(OutputFileTest, WhatAKilledProcessLeftIsRemovedByTheNext) {
  const ChildEnd end = RunChild([&] {
    const auto output = OutputFile::Open(path_);
    return ::raise(SIGKILL);
  });
  ASSERT_EQ(end.signal, SIGKILL);
  const std::string alive = (folder_.path() / fmt::format(".out.partial-{}", ::getppid())).string();
  std::ofstream(alive) << "of a process that lives";
  std::ofstream(folder_.path() / ".out.partial-x") << "mine";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 3);
  const auto output = OutputFile::Open(path_);
  ASSERT_TRUE(output.ok());
  EXPECT_TRUE(std::filesystem::exists(partial_));
  EXPECT_TRUE(std::filesystem::exists(alive));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 3);
  RemoveAbandonedFiles(path_);
  EXPECT_TRUE(std::filesystem::exists(partial_)) << "its own is locked";
}

// A file of a process with the same number in another container was an error.
TEST_F(OutputFileTest, APartialFileOfTheSameNumberIsLeftAlone) {
  std::ofstream(partial_) << "theirs";
  const PathLock lock(partial_);
  {
    auto output = OutputFile::Open(path_);
    ASSERT_TRUE(output.ok()) << output.status();
    ASSERT_TRUE(output->Append("ours").ok());
    ASSERT_TRUE(output->Commit().ok());
  }
  EXPECT_EQ(ContentsOf(path_), "ours");
  EXPECT_EQ(ContentsOf(partial_), "theirs");
}

// A signal between the two renames left the new file of one and the old file of the other.
TEST_F(OutputFileTest, NoSignalComesBetweenTheRenamesOfASet) {
  std::vector<OutputFile> outputs = OpenTwo();
  ASSERT_TRUE(SetFailpoints("folder.sync:2=sleep").ok());
  std::thread signal([&] {  // what a signal's thread does
    while (!std::filesystem::exists(path_)) std::this_thread::yield();
    OutputFile::RemovePartialFiles();
  });
  const absl::Status status = OutputFile::CommitAll(std::array{&outputs[0], &outputs[1]});
  signal.join();
  ASSERT_TRUE(SetFailpoints("").ok());
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(ContentsOf(path_), "one");
  EXPECT_EQ(ContentsOf(beside_), "two");
}

TEST_F(OutputFileTest, PartialFilesAreRemovedWhereNoDestructorWill) {
  const ChildEnd end = RunChild([&] {
    const auto output = OutputFile::Open(path_);
    auto done = OutputFile::Open(path_ + ".done");
    if (!output.ok() || !done.ok() || !done->Append("whole").ok() || !done->Commit().ok()) return 1;
    OutputFile::RemovePartialFiles();
    return 0;
  });
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(ContentsOf(path_ + ".done"), "whole");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(OutputFileTest, WritesIntoAPipeThatStandsThere) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = ContentsOf(path_); });
  {
    auto output = OutputFile::Open(path_);
    ASSERT_TRUE(output.ok());
    ASSERT_TRUE(output->Append("through the pipe").ok());
    ASSERT_TRUE(output->Commit().ok());
  }
  reader.join();
  EXPECT_EQ(read, "through the pipe");
}

TEST_F(OutputFileTest, AReaderThatLeftIsAnError) {
  ASSERT_NE(::signal(SIGPIPE, SIG_IGN), SIG_ERR);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const int reader = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK);
  auto output = OutputFile::Open(path_);
  ASSERT_TRUE(output.ok());
  ::close(reader);
  const absl::Status status = output->Append("text");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(KindOf(status), ErrorKind::kRuntime);
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("the reader closed the pipe"));
}

TEST_F(OutputFileTest, WrittenBehindHasTheSameBytesAndLeavesTheCache) {
  std::string expected;
  {
    auto output = OutputFile::Open(path_);
    ASSERT_TRUE(output.ok());
    output->WriteBehind(100'000);
    for (int i = 0; i < 3000; ++i) {
      const std::string piece = fmt::format("{:0{}}\n", i, 1 + i % 1000);
      expected += piece;
      ASSERT_TRUE(output->Append(piece).ok());
    }
    EXPECT_TRUE(!IsOnDisk(folder_.path()) || CachedBytes(partial_) < 400'000);
    ASSERT_TRUE(output->Commit().ok());
  }
  EXPECT_EQ(ContentsOf(path_), expected);
}

// A kill between the renames left a new file of names beside the old vectors.
TEST_F(OutputFileTest, AKillBetweenTheRenamesLeavesNoMixedPair) {
  bool between = false;
  for (int n = 1;; ++n) {
    std::ofstream(path_) << "old";
    const ChildEnd end = RunChild([&] {
      std::vector<OutputFile> outputs = OpenTwo();
      if (!SetFailpoints("file.rename:" + std::to_string(n) + "=kill").ok()) return 2;
      OutputFile* const files[] = {&outputs[0], &outputs[1]};
      return OutputFile::CommitAll(files).ok() ? 0 : 1;
    });
    if (end.code == 0) break;
    ASSERT_EQ(end.signal, SIGKILL) << end.code;
    if (ContentsOf(path_) == "one") {
      EXPECT_FALSE(std::filesystem::exists(beside_));
      between = true;
    }
  }
  EXPECT_TRUE(between);
  EXPECT_EQ(ContentsOf(path_) + ContentsOf(beside_), "onetwo");
}

}  // namespace
}  // namespace octavo
