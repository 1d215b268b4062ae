#include "import/input_reader.h"

#include <new>
#include <utility>

#include "base/status.h"
#include "import/line_chunker.h"

namespace octavo {

InputReader::InputReader(std::vector<InputFile> files, const LayoutRequest& layout, std::size_t ahead,
                         const InputLimits& limits, std::function<bool()> stop)
    : files_(std::move(files)),
      request_(layout),
      ahead_(ahead),
      limits_(limits),
      stop_(std::move(stop)),
      columns_(layout.columns),
      thread_([this] { Run(); }) {}

InputReader::~InputReader() {
  {
    const MutexLock lock(mutex_);  // so that a waiting Push sees the flag
    abandoned_.store(true, std::memory_order_relaxed);
  }
  thread_.join();
}

void InputReader::Run() {
  absl::Status status;
  try {
    for (std::size_t file = 0; file < files_.size() && status.ok(); ++file) status = ReadFile(file);
  } catch (const std::bad_alloc&) {
    status = RuntimeError("out of memory while reading the input");
  }
  const MutexLock lock(mutex_);
  status_ = std::move(status);
  ended_ = true;
}

absl::Status InputReader::ReadFile(std::size_t file) {
  const auto stop = [this] { return abandoned_.load(std::memory_order_relaxed) || (stop_ && stop_()); };
  ASSIGN_OR_RETURN(std::unique_ptr<CompressedInput> input, CompressedInput::Open(files_[file].path, stop, limits_));
  LineChunker chunker(std::move(input));
  const std::uint64_t bytes_before = bytes_read();
  std::optional<TextFormat> format = request_.format;
  if (!format) format = FormatOfExtension(files_[file].path);
  while (true) {
    ASSIGN_OR_RETURN(std::optional<std::string> text, chunker.Next());
    bytes_read_.store(bytes_before + chunker.input().compressed_bytes_read(), std::memory_order_relaxed);
    if (!text) break;
    TextChunk chunk = {.file = file, .text = std::move(*text), .layout = {}};
    chunk.layout = LayoutOf(chunk.text, format);
    if (!Push(std::move(chunk))) return absl::CancelledError("abandoned");
  }
  formats_.push_back(format.value_or(TextFormat::kBlank));
  return absl::OkStatus();
}

LineLayout InputReader::LayoutOf(const std::string& text, std::optional<TextFormat>& format) {
  if (!format) format = GuessFormat(text);
  // Without a data line so far the format stays open for the next chunk; this one has nothing that needs it.
  if (!format) return {TextFormat::kBlank, columns_};
  if (columns_.count == 0) columns_ = GuessColumns(text, *format);
  return {*format, columns_};
}

bool InputReader::Push(TextChunk chunk) {
  const MutexLock lock(mutex_);
  mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return chunks_.size() < ahead_ || abandoned_.load(std::memory_order_relaxed);
  });
  if (abandoned_.load(std::memory_order_relaxed)) return false;
  chunks_.push_back(std::move(chunk));
  return true;
}

std::optional<TextChunk> InputReader::Next() {
  const MutexLock lock(mutex_);
  mutex_.Await([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !chunks_.empty() || ended_; });
  if (chunks_.empty()) return std::nullopt;
  TextChunk chunk = std::move(chunks_.front());
  chunks_.pop_front();
  return chunk;
}

absl::Status InputReader::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

}  // namespace octavo
