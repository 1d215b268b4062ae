#include "cmd/reporter.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "base/escape.h"
#include "base/json_escape.h"
#include "cmd/terminal.h"
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

constexpr auto kRedrawInterval = std::chrono::milliseconds(100);
constexpr auto kLineInterval = std::chrono::seconds(10);
constexpr std::size_t kLineColumns = 200;

// By the user's locale: the bar has no useful ASCII equivalent.
bool Utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale = value;
    return locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
  }
  return false;
}

nlohmann::ordered_json ProgressObject(const ShownProgress& progress, const ProgressFacts& facts) {
  nlohmann::ordered_json object = {{"level", "progress"}, {"phase", progress.phase}};
  if (progress.share >= 0) object["share"] = progress.share;
  if (!progress.unit.empty()) object[progress.unit] = progress.done;
  object["seconds"] = facts.seconds;
  if (const double left = SecondsLeft(progress, facts); left >= 0) object["seconds_left"] = left;
  if (!progress.detail.empty()) object["detail"] = progress.detail;
  object["memory_bytes"] = facts.memory;
  object["disk_bytes_per_second"] = facts.disk_bytes_per_second;
  return object;
}

// Does not throw as fmt::print does: a training must not end because its log cannot be written.
void Print(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

void Reporter::Configure(Format format, bool quiet, bool verbose, std::uint64_t memory_limit) {
  format_ = format;
  quiet_ = quiet;
  verbose_ = verbose;
  memory_limit_ = memory_limit;
}

void Reporter::SetRank(std::string name, bool silent) {
  rank_ = std::move(name);
  silent_ = silent;
}

void Reporter::Write(std::string_view level, std::string_view message) {
  if (silent_ && level != "error") return;
  const std::lock_guard<std::mutex> lock(mutex_);
  ClearProgress();
  if (format_ == Format::kJson) {
    const nlohmann::json line = {{"level", level}, {"message", message}};
    Print(EscapeJsonControls(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) + "\n");
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

void Reporter::FinalError(std::string_view message) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (std::exchange(final_error_, std::string(message)) == message) return;
  }
  Error(message);
}

void Reporter::Error(std::string_view message) {
  Write("error", rank_.empty() ? std::string(message) : fmt::format("{}: {}", rank_, message));
}
void Reporter::Warning(std::string_view message) { Write("warning", message); }
void Reporter::Info(std::string_view message) {
  if (!quiet_) Write("info", message);
}
void Reporter::Detail(std::string_view message) {
  if (verbose_ && !quiet_) Write("detail", message);
}

void Reporter::Show(const ShownProgress& progress) {
  if (quiet_ || silent_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  meter_.Enter(progress);
  const bool line_each_time = !OnTerminal() || format_ == Format::kJson;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_progress_ < (line_each_time ? kLineInterval : kRedrawInterval)) return;
  last_progress_ = now;
  const ProgressFacts facts = meter_.Take(memory_limit_);
  if (format_ == Format::kJson) {
    Print(EscapeJsonControls(
              ProgressObject(progress, facts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) +
          "\n");
  } else if (line_each_time) {
    Print(EscapeControls(ProgressLine(progress, facts, /*bar=*/false, kLineColumns)) + "\n");
  } else {
    Print(fmt::format("\r\x1b[K{}",
                      EscapeControls(ProgressLine(progress, facts, Utf8(), TerminalColumns(STDERR_FILENO) - 1))));
    progress_shown_ = true;
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
