#include "io/failpoint.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {
namespace {

enum class Action { kKill, kAbort, kEio, kEnospc, kShort, kSleep };

struct Armed {
  std::string name;
  std::uint64_t at = 1;  // acts at this pass, counted from 1
  Action action = Action::kKill;
  std::uint64_t passes = 0;
};

// Checked first, without the lock: in the common case nothing is armed.
std::atomic<bool> any_armed{false};

std::mutex& RulesMutex() {
  static std::mutex mutex;
  return mutex;
}

std::vector<Armed>& ArmedPoints() {
  static std::vector<Armed> points;
  return points;
}

absl::StatusOr<Action> ParseAction(std::string_view text) {
  constexpr std::pair<std::string_view, Action> kActions[] = {{"kill", Action::kKill},   {"abort", Action::kAbort},
                                                              {"eio", Action::kEio},     {"enospc", Action::kEnospc},
                                                              {"short", Action::kShort}, {"sleep", Action::kSleep}};
  for (const auto& [name, action] : kActions) {
    if (name == text) return action;
  }
  return UsageError(
      fmt::format("OCTAVO_FAILPOINT: action \"{}\"; expected kill, abort, eio, enospc, short or sleep", Escape(text)));
}

absl::StatusOr<std::vector<Armed>> Parse(std::string_view text) {
  std::vector<Armed> points;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      return UsageError(fmt::format("OCTAVO_FAILPOINT: \"{}\"; expected name[:n]=action", Escape(item)));
    }
    Armed point;
    ASSIGN_OR_RETURN(point.action, ParseAction(item.substr(equals + 1)));
    item = item.substr(0, equals);
    if (const std::size_t colon = item.find(':'); colon != std::string_view::npos) {
      const std::string_view count = item.substr(colon + 1);
      const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), point.at);
      if (error != std::errc() || end != count.data() + count.size() || point.at == 0) {
        return UsageError(fmt::format("OCTAVO_FAILPOINT: count \"{}\"; expected a number from 1", Escape(count)));
      }
      item = item.substr(0, colon);
    }
    point.name = std::string(item);
    points.push_back(std::move(point));
  }
  return points;
}

absl::Status Act(Action action, std::string_view name) {
  switch (action) {
    case Action::kKill:
      ::kill(::getpid(), SIGKILL);
      ::pause();
      break;
    case Action::kAbort:
      std::abort();
    case Action::kEio:
      return ErrnoError(fmt::format("failpoint {}", name), EIO);
    case Action::kEnospc:
      return ErrnoError(fmt::format("failpoint {}", name), ENOSPC);
    case Action::kShort:
      return RuntimeError(fmt::format("failpoint {}: short write", name));
    case Action::kSleep:
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      break;
  }
  return absl::OkStatus();
}

// Reads the environment once, before the first pass. An invalid value stops the program: a test that arms nothing by
// mistake would pass for the wrong reason.
bool ArmFromEnvironment() {
  const char* text = std::getenv("OCTAVO_FAILPOINT");
  if (text == nullptr || *text == '\0') return true;
  if (!SetFailpoints(text).ok()) std::abort();
  return true;
}

}  // namespace

absl::Status CheckFailpointEnvironment() {
  const char* text = std::getenv("OCTAVO_FAILPOINT");
  return text == nullptr ? absl::OkStatus() : Parse(text).status();
}

absl::Status SetFailpoints(std::string_view specification) {
  ASSIGN_OR_RETURN(std::vector<Armed> points, Parse(specification));
  const std::lock_guard<std::mutex> lock(RulesMutex());
  ArmedPoints() = std::move(points);
  // Relaxed everywhere: a thread that sees the flag a moment late only passes one more failpoint.
  any_armed.store(!ArmedPoints().empty(), std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status Failpoint(std::string_view name) {
  static const bool environment_read = ArmFromEnvironment();
  if (!environment_read || !any_armed.load(std::memory_order_relaxed)) return absl::OkStatus();
  Action action{};
  {
    const std::lock_guard<std::mutex> lock(RulesMutex());
    bool acts = false;
    for (Armed& point : ArmedPoints()) {
      if (point.name == name && ++point.passes == point.at) {
        acts = true;
        action = point.action;
      }
    }
    if (!acts) return absl::OkStatus();
  }
  return Act(action, name);
}

}  // namespace octavo
