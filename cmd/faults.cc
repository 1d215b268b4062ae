#include "cmd/faults.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "base/status.h"
#include "io/mapped_range.h"

namespace octavo {
namespace {

std::atomic<bool> as_json = false;
std::atomic_flag said = ATOMIC_FLAG_INIT;

// A line in its own memory: a signal handler must not allocate.
class Line {
 public:
  explicit Line(bool json) : json_(json) {}
  void Add(std::string_view text) {
    for (const char c : text) Put(c);
  }
  void Add(std::uint64_t number) {
    std::array<char, 20> digits;
    Add(std::string_view(digits.data(), std::to_chars(digits.begin(), digits.end(), number).ptr));
  }
  // Adds a name, which has already been escaped, except for JSON.
  void AddQuoted(std::string_view text) {
    for (const char c : text) {
      if (json_ && (c == '\\' || c == '"')) Put('\\');
      Put(c);
    }
  }
  void Write() const {
    // A failure cannot be reported anywhere.
    [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, text_.data(), size_);
  }

 private:
  void Put(char c) {
    if (size_ < text_.size()) text_[size_++] = c;
  }
  const bool json_;
  std::array<char, 4096> text_;
  std::size_t size_ = 0;
};

// Prints what `add` adds to the line and ends the program. Only calls what a signal handler may: no allocation, no
// locks, no destructors.
template <typename Add>
[[noreturn]] void End(ErrorKind kind, const Add& add) {
  // Another thread hit a fault too and is ending the program.
  if (said.test_and_set(std::memory_order_relaxed)) {
    while (true) ::pause();
  }
  const bool json = as_json.load(std::memory_order_relaxed);
  Line line(json);
  line.Add(json ? "{\"level\":\"error\",\"message\":\"" : "error: ");
  add(line);
  line.Add(json ? "\"}\n" : "\n");
  line.Write();
  ::_exit(static_cast<int>(kind));
}

// The kernel could not bring a page of a mapping. Whether the file still has the page tells a truncation from a disk
// that failed.
void OnBusError(int number, siginfo_t* info, void*) {
  const MappedPlace place = MappedPlaceAt(info->si_addr);
  if (place.name == nullptr && info->si_code != BUS_ADRERR) {  // not a file's page: failed memory, or a bug
    ::signal(number, SIG_DFL);
    return;  // repeats the fault, now with the default action
  }
  struct stat file {};
  const bool known = place.name != nullptr && ::fstat(place.descriptor, &file) == 0;
  const auto size = static_cast<std::uint64_t>(file.st_size);
  const bool truncated = known && size <= place.offset;
  End(truncated ? ErrorKind::kCorrupt : ErrorKind::kRuntime, [&](Line& line) {
    line.AddQuoted(place.name == nullptr ? "a mapped file" : place.name);
    if (truncated) {
      line.Add(": ends at byte ");
      line.Add(size);
      line.Add(", and byte ");
      line.Add(place.offset);
      line.Add(" was in use: it was truncated; expected a file that does not change");
    } else {
      line.Add(": byte ");
      line.Add(place.offset);
      line.Add(" could not be read: its disk failed");
    }
  });
}

std::terminate_handler terminate_before = nullptr;

void OnTerminate() {
  const std::exception_ptr exception = std::current_exception();
  try {
    if (exception != nullptr) std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    End(ErrorKind::kRuntime, [](Line& line) { line.Add("out of memory"); });
  } catch (...) {
    terminate_before();  // a bug: a core dump is more useful
  }
  // Thrown by the standard library where the exception is already gone.
  End(ErrorKind::kRuntime, [](Line& line) { line.Add("terminated; out of memory?"); });
}

}  // namespace

void CatchFaults(bool json) {
  as_json.store(json, std::memory_order_relaxed);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  struct sigaction action {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
  const std::terminate_handler before = std::set_terminate(OnTerminate);
  if (before != OnTerminate) terminate_before = before;
}

}  // namespace octavo
