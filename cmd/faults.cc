#include "cmd/faults.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <new>
#include <string_view>

#include "base/status.h"
#include "io/mapped_range.h"

namespace octavo {
namespace {

std::atomic<bool> as_json = false;
std::atomic_flag said = ATOMIC_FLAG_INIT;

// A line in memory of its own: the handler may not ask for any.
class Line {
 public:
  void Add(std::string_view text) {
    for (const char c : text) Put(c);
  }
  // As a part of a JSON text; the name is escaped otherwise already.
  void AddQuoted(std::string_view text) {
    for (const char c : text) {
      if (c == '\\' || c == '"') Put('\\');
      Put(c);
    }
  }
  void Write() const {
    // There is nobody to tell that it failed.
    [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, text_.data(), size_);
  }

 private:
  void Put(char c) {
    if (size_ < text_.size()) text_[size_++] = c;
  }
  std::array<char, 4096> text_;
  std::size_t size_ = 0;
};

// Says "FILE: what" and ends the program. Only calls what a handler may: no memory, no locks, no destructors.
[[noreturn]] void End(std::string_view file, std::string_view what, ErrorKind kind) {
  // Another thread has met it, too, and ends the program.
  if (said.test_and_set(std::memory_order_relaxed)) {
    while (true) ::pause();
  }
  const bool json = as_json.load(std::memory_order_relaxed);
  Line line;
  line.Add(json ? "{\"level\":\"error\",\"message\":\"" : "error: ");
  if (json) {
    line.AddQuoted(file);
  } else {
    line.Add(file);
  }
  line.Add(what);
  line.Add(json ? "\"}\n" : "\n");
  line.Write();
  ::_exit(static_cast<int>(kind));
}

void OnBusError(int number, siginfo_t* info, void*) {
  const char* const name = MappedFileAt(info->si_addr);
  if (name == nullptr && info->si_code != BUS_ADRERR) {  // no file's page: memory that failed, or a bug
    ::signal(number, SIG_DFL);
    return;  // to the same fault again
  }
  End(name == nullptr ? "a mapped file" : name,
      ": was cut, or its disk failed, while it was read; expected a file that stays as it was opened",
      ErrorKind::kCorrupt);
}

std::terminate_handler terminate_before = nullptr;

void OnTerminate() {
  const std::exception_ptr exception = std::current_exception();
  try {
    if (exception != nullptr) std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    End("", "out of memory", ErrorKind::kRuntime);
  } catch (...) {
    terminate_before();  // a bug: a core dump says more
  }
  // The standard library's own, where what was thrown is gone already.
  End("", "ended at once; out of memory?", ErrorKind::kRuntime);
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
