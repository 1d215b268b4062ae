// The program's output: results go to standard output, everything else to standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "cmd/progress.h"

namespace octavo {

// Log lines as text or as JSON objects, one per line, and a progress line, redrawn in place on a terminal and printed
// now and then elsewhere. Control bytes in messages are escaped. Errors of writing the log are ignored. Thread-safe.
class Reporter {
 public:
  enum class Format { kText, kJson };

  // `quiet` shows only warnings and errors; `verbose` adds details. `memory_limit` as in ProgressFacts.
  void Configure(Format format, bool quiet, bool verbose, std::uint64_t memory_limit);

  // From now on this is one of several processes: errors begin with its name, and with `silent` nothing else is
  // written, as the first process says it.
  void SetRank(std::string name, bool silent);

  void Error(std::string_view message);
  // For the error that ends the program: if several threads end by it, it is written once.
  void FinalError(std::string_view message);
  void Warning(std::string_view message);
  void Info(std::string_view message);
  void Detail(std::string_view message);  // only with --verbose
  // Replaces the progress line: on a terminal at most 10 times a second, elsewhere a line every 10 seconds.
  void Show(const ShownProgress& progress);
  // Ends the progress line, so that further output starts on a new line.
  void EndProgress();

 private:
  void Write(std::string_view level, std::string_view message);
  void ClearProgress();

  std::mutex mutex_;
  Format format_ = Format::kText;
  bool quiet_ = false;
  bool silent_ = false;
  std::string rank_;
  std::string final_error_;
  bool verbose_ = false;
  std::uint64_t memory_limit_ = 0;
  ProgressMeter meter_;
  bool progress_shown_ = false;
  std::chrono::steady_clock::time_point last_progress_ = std::chrono::steady_clock::now();
};

}  // namespace octavo
