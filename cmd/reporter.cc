#include "cmd/reporter.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/escape.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

bool OnTerminal() {
  static const bool on_terminal = ::isatty(STDERR_FILENO) == 1;
  return on_terminal;
}

bool Coloured() {
  static const bool coloured = OnTerminal() && std::getenv("NO_COLOR") == nullptr;
  return coloured;
}

// A log that cannot be written is no reason to end a training (fmt::print throws): nobody is left to be told.
void Print(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

void Reporter::Configure(Format format, bool quiet, bool verbose) {
  format_ = format;
  quiet_ = quiet;
  verbose_ = verbose;
}

void Reporter::Write(std::string_view level, std::string_view message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ClearProgress();
  if (format_ == Format::kJson) {
    const nlohmann::json line = {{"level", level}, {"message", message}};
    Print(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else if (level == "error" || level == "warning") {
    const std::string_view colour = level == "error" ? "\x1b[31m" : "\x1b[33m";
    if (Coloured()) {
      Print(fmt::format("{}{}:\x1b[0m {}\n", colour, level, EscapeControls(message)));
    } else {
      Print(fmt::format("{}: {}\n", level, EscapeControls(message)));
    }
  } else {
    Print(EscapeControls(message) + "\n");
  }
}

void Reporter::Error(std::string_view message) { Write("error", message); }
void Reporter::Warning(std::string_view message) { Write("warning", message); }
void Reporter::Info(std::string_view message) {
  if (!quiet_) Write("info", message);
}
void Reporter::Detail(std::string_view message) {
  if (verbose_ && !quiet_) Write("detail", message);
}

void Reporter::Progress(std::string_view message) {
  if (quiet_ || format_ == Format::kJson) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  const auto interval = OnTerminal() ? std::chrono::milliseconds(100) : std::chrono::seconds(10);
  if (now - last_progress_ < interval) return;
  last_progress_ = now;
  if (OnTerminal()) {
    Print(fmt::format("\r\x1b[K{}", EscapeControls(message)));
    progress_shown_ = true;
  } else {
    Print(EscapeControls(message) + "\n");
  }
}

void Reporter::EndProgress() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ClearProgress();
}

void Reporter::ClearProgress() {
  if (progress_shown_) Print("\r\x1b[K");
  progress_shown_ = false;
}

}  // namespace octavo
