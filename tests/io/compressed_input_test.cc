#include "io/compressed_input.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "io/failpoint.h"
#include "tests/support/expect_status.h"
#include "tests/support/file_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

std::string Gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

// Lines that do not compress well.
std::string Text(std::size_t bytes) {
  RandomStream random(1, RandomPurpose::kSplit, 0, 0);
  std::string text;
  while (text.size() < bytes)
    text += std::to_string(random.Below(100000)) + "\t" + std::to_string(random.Below(9)) + "\n";
  return text;
}

absl::StatusOr<std::string> ReadAll(const std::string& path, std::size_t step) {
  ASSIGN_OR_RETURN(const auto input, CompressedInput::Open(path));
  std::string text;
  while (true) {
    std::string piece(step, '\0');
    ASSIGN_OR_RETURN(const std::size_t got, input->Read(piece));
    text.append(piece, 0, got);
    if (got < step) return text;
  }
}

class CompressedInputTest : public ::testing::Test {
 protected:
  // A new file each time: ext4 writes a file back at once if it was truncated and filled again.
  std::string Write(const std::string& bytes) {
    std::filesystem::remove(path_);
    path_ = (folder_ / ("input" + std::to_string(++files_))).string();
    WriteFileBytes(path_, bytes);
    return path_;
  }
  void TearDown() override { EXPECT_OK(SetFailpoints("")); }
  TemporaryFolder folder_;
  std::string path_;
  int files_ = 0;
};

TEST_F(CompressedInputTest, ReadsPlainGzipAndZstdInAnySteps) {
  const std::string text = Text(1 << 20);
  for (const std::string& bytes : {text, Gzip(text), Zstd(text)}) {
    const std::string path = Write(bytes);
    for (const std::size_t step : {std::size_t{7}, std::size_t{4096}, text.size(), text.size() + 1}) {
      if (step == 7 && bytes.size() == text.size()) continue;
      ASSERT_OK_AND_ASSIGN(const std::string read, ReadAll(path, step));
      EXPECT_TRUE(read == text) << step;
    }
  }
}

TEST_F(CompressedInputTest, ReadsEmptyAndTinyFiles) {
  for (const std::string& text : {std::string(), std::string("a"), std::string("\x1f"), std::string("\x28\xb5\x2f")}) {
    EXPECT_EQ(*ReadAll(Write(text), 10), text);
  }
  EXPECT_EQ(*ReadAll(Write(Gzip("")), 10), "");
  EXPECT_EQ(*ReadAll(Write(Zstd("")), 10), "");
}

TEST_F(CompressedInputTest, ReadsSeveralMembersAndFrames) {
  const std::string a = Text(300000);
  EXPECT_TRUE(*ReadAll(Write(Gzip(a) + Gzip("") + Gzip("b\n")), 5000) == a + "b\n");
  const std::string skippable("\x50\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
  EXPECT_TRUE(*ReadAll(Write(Zstd(a) + skippable + Zstd("b\n")), 5000) == a + "b\n");
}

// Output of pzstd, in which each frame follows a skippable frame with its length, was read as plain text.
TEST_F(CompressedInputTest, ReadsAFileThatBeginsWithASkippableFrame) {
  const std::string a = Text(3000);
  const std::string skippable("\x50\x2a\x4d\x18\x04\x00\x00\x00\x10\x00\x00\x00", 12);
  EXPECT_TRUE(*ReadAll(Write(skippable + Zstd(a) + skippable + Zstd("b\n")), 5000) == a + "b\n");
  EXPECT_ERROR(ReadAll(Write(skippable.substr(0, 9)), 5000), kInput, "was the file cut?");
  EXPECT_EQ(*ReadAll(Write("P*M"), 5000), "P*M");
}

// A frame that ends early was accepted if its last block was empty and the reader had less room than the frame
// declares.
TEST_F(CompressedInputTest, AZstdFrameHoldsWhatItDeclares) {
  const std::string frame("\x28\xb5\x2f\xfd\x20\x20\x01\x00\x00", 9);  // declares 32 bytes; its last block is empty
  for (const std::size_t step : {5U, 5000U}) {
    EXPECT_ERROR(ReadAll(Write(Zstd("a\tb\n") + frame), step), kInput, "expected");
  }
}

TEST_F(CompressedInputTest, TruncationIsAnInputErrorWhereverItFalls) {
  const std::string text = Text(3000);
  for (const std::string& whole : {Gzip(text), Zstd(text)}) {
    for (std::size_t size = 4; size < whole.size(); ++size) {
      const auto read = ReadAll(Write(whole.substr(0, size)), 1 << 16);
      EXPECT_ERROR(read, kInput, "was the file cut?") << size << " of " << whole.size();
    }
  }
}

TEST_F(CompressedInputTest, TrailingGarbageIsAnInputErrorThatNamesThePlace) {
  const std::string gzip = Gzip("a\tb\n");
  EXPECT_ERROR(ReadAll(Write(gzip + "junk"), 100), kInput, "byte " + std::to_string(gzip.size()));
  EXPECT_ERROR(ReadAll(Write(gzip + "\x1f"), 100), kInput, "another gzip member");
  EXPECT_ERROR(ReadAll(Write(gzip + std::string(512, '\0')), 100), kInput, "another gzip member");
  const std::string zstd = Zstd("a\tb\n");
  EXPECT_ERROR(ReadAll(Write(zstd + "junk"), 100), kInput, "byte " + std::to_string(zstd.size()));
  EXPECT_ERROR(ReadAll(Write(zstd + "\x28"), 100), kInput, "another zstd frame");
}

TEST_F(CompressedInputTest, FlippedBitsAreErrorsOrHarmless) {
  const std::string text = Text(3000);
  for (const std::string& whole : {Gzip(text), Zstd(text)}) {
    for (std::size_t at = 4; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      const auto read = ReadAll(Write(damaged), 1 << 16);
      // A few header bits (time, operating system) do not affect the contents.
      if (read.ok()) {
        EXPECT_EQ(*read, text) << at;
      } else {
        EXPECT_ERROR(read, kInput, "compressed byte") << at;
      }
    }
  }
}

TEST_F(CompressedInputTest, FoldersAndMissingFilesAreUsageErrors) {
  EXPECT_ERROR(CompressedInput::Open((folder_ / "none").string()), kUsage, "no such file");
  EXPECT_ERROR(CompressedInput::Open(folder_.path().string()), kUsage, "is a folder");
}

TEST_F(CompressedInputTest, RefusesOtherCompressionsByName) {
  using namespace std::string_literals;
  const std::string path = (folder_ / "edges").string();
  for (const auto& [bytes, error] :
       {std::pair("\xfd\x37zXZ\0\0\4"s, "found xz; expected text, gzip or zstd; xz -dc "),
        std::pair("BZh91AY&SY\x12\x34"s, "found bzip2; expected text, gzip or zstd"),
        std::pair("\x04\x22\x4d\x18\x64"s, "found lz4; "),
        std::pair("\x37\x7a\xbc\xaf\x27\x1c\0"s, "found 7z; expected text, gzip or zstd")}) {
    WriteFileBytes(path, bytes);
    EXPECT_ERROR(CompressedInput::Open(path), kInput, error);
  }
  WriteFileBytes(path, "BZh7\tlikes\tBZh9\n");  // a name
  EXPECT_OK(CompressedInput::Open(path).status());
}

TEST_F(CompressedInputTest, ReadErrorsPassThrough) {
  const std::string path = Write(Text(1 << 20));
  ASSERT_OK(SetFailpoints("input.read:3=eio"));
  EXPECT_ERROR(ReadAll(path, 1 << 16), kRuntime, "Input/output error");
}

TEST_F(CompressedInputTest, CountsCompressedBytes) {
  const std::string bytes = Gzip(Text(100000));
  ASSERT_OK_AND_ASSIGN(const auto input, CompressedInput::Open(Write(bytes)));
  std::string out(200000, '\0');
  ASSERT_OK(input->Read(out));
  EXPECT_EQ(input->compressed_bytes_read(), bytes.size());
  EXPECT_EQ(input->name(), path_);
}

TEST_F(CompressedInputTest, RefusesAZstdWindowAboveTheLimit) {
  const std::string text = Text(3 << 20);
  std::string zstd(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 21);
  zstd.resize(ZSTD_compress2(context, zstd.data(), zstd.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  // A second frame, with a window that the first frame's reader would accept.
  const std::string path = Write(Zstd("a\tb\n") + zstd);
  std::string out(text.size() + 4, '\0');
  ASSERT_OK_AND_ASSIGN(const auto fits, CompressedInput::Open(path, nullptr, {.window_bytes = 2 << 20}));
  ASSERT_OK_AND_ASSIGN(const std::size_t got, fits->Read(out));
  EXPECT_EQ(got, out.size());
  ASSERT_OK_AND_ASSIGN(const auto tight, CompressedInput::Open(path, nullptr, {.window_bytes = (2 << 20) - 1}));
  EXPECT_ERROR(tight->Read(out), kUsage, path_ + ": a zstd frame with a window above 1.0 MiB");
}

TEST_F(CompressedInputTest, DropsALargeFileFromThePageCacheOnceRead) {
  const std::string text = Text(16 << 20);
  const std::string path = Write(text);
  const int descriptor = ::open(path.c_str(), O_RDONLY);
  ASSERT_GE(descriptor, 0);
  ::fsync(descriptor);
  const auto cached_pages = [&] {
    void* const data = ::mmap(nullptr, text.size(), PROT_READ, MAP_SHARED, descriptor, 0);
    std::vector<unsigned char> pages((text.size() + 4095) / 4096);
    EXPECT_EQ(::mincore(data, text.size(), pages.data()), 0);
    ::munmap(data, text.size());
    return std::ranges::count_if(pages, [](unsigned char page) { return (page & 1U) != 0; });
  };
  const auto all = cached_pages();
  for (const std::uint64_t limit : {std::uint64_t{16} << 21, std::uint64_t{1} << 20}) {
    ASSERT_OK_AND_ASSIGN(const auto input, CompressedInput::Open(path, nullptr, {.max_cached_bytes = limit}));
    std::string out(text.size() + 1, '\0');
    ASSERT_OK_AND_ASSIGN(const std::size_t got, input->Read(out));
    EXPECT_EQ(got, text.size());
    EXPECT_EQ(cached_pages() == all, limit > text.size());
  }
  ::close(descriptor);
}

TEST_F(CompressedInputTest, StopEndsAReadThatWaitsForAPipe) {
  const std::string path = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] {
    WriteFileBytes(path, "a\tb\n");  // opens, writes, closes
  });
  const int keeper = ::open(path.c_str(), O_RDWR);  // so that the reader never sees the end
  ASSERT_GE(keeper, 0);
  std::atomic<bool> stop = false;
  ASSERT_OK_AND_ASSIGN(const auto input, CompressedInput::Open(path, [&] { return stop.load(); }));
  writer.join();
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  std::string out(100, '\0');
  EXPECT_TRUE(absl::IsCancelled(input->Read(out).status()));
  stopper.join();
  ::close(keeper);
}

}  // namespace
}  // namespace octavo
