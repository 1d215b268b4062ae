#include "cmd/interrupt.h"

#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "export/output_file.h"
#include "fmt/format.h"

namespace octavo {
namespace {

std::atomic<int> signal_number = 0;
static_assert(std::atomic<int>::is_always_lock_free);  // otherwise the handler could not use it

std::atomic<bool> commit_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free);

// Posted after the first signal and by its waiter's destructor: a semaphore is what a handler may use to wake a thread.
sem_t first_signal;

std::atomic<std::int64_t> first_nanoseconds = 0;
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// timeout(1) sends a signal to its child and to the child's group, so one request may come twice.
constexpr std::int64_t kSameRequestNanoseconds = 500'000'000;

std::int64_t NanosecondsNow() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Whether it is the first signal.
bool RememberFirst(int number) {
  int none = 0;
  if (!signal_number.compare_exchange_strong(none, number, std::memory_order_relaxed)) return false;
  first_nanoseconds.store(NanosecondsNow(), std::memory_order_relaxed);
  ::sem_post(&first_signal);
  return true;
}

void Remember(int number) {
  if (RememberFirst(number)) return;
  // Where another thread has not yet stored the time of the first, the second comes at the same time.
  const std::int64_t first = first_nanoseconds.load(std::memory_order_relaxed);
  if (first == 0 || NanosecondsNow() - first < kSameRequestNanoseconds) return;
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(number, &action, nullptr);
  ::raise(number);  // takes effect when this handler returns
}

// A launcher may pass the signal on more than once.
void RememberStop(int number) { RememberFirst(number); }

// Before any handler can post it; once, as a second time would forget a signal.
void PrepareFirstSignal() {
  static const int prepared = ::sem_init(&first_signal, /*pshared=*/0, 0);
  (void)prepared;
}

void RememberCommit(int) { commit_requested.store(true, std::memory_order_relaxed); }

}  // namespace

void CatchInterrupts() {
  PrepareFirstSignal();
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // nohup and background jobs of a shell do this
    struct sigaction action {};
    action.sa_handler = Remember;
    action.sa_flags = 0;  // no SA_RESTART: a waiting read must wake up
    ::sigaction(number, &action, nullptr);
  }
}

std::atomic<bool>& CatchCommitRequests() {
  struct sigaction action {};
  action.sa_handler = RememberCommit;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &action, nullptr);
  return commit_requested;
}

void CatchStopRequests() {
  PrepareFirstSignal();
  struct sigaction action {};
  action.sa_handler = RememberStop;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &action, nullptr);
}

bool Interrupted() { return signal_number.load(std::memory_order_relaxed) != 0; }

const std::atomic<int>& InterruptSignal() { return signal_number; }

int InterruptExitCode() {
  const int number = signal_number.load(std::memory_order_relaxed);
  return 128 + (number == 0 ? SIGUSR1 : number);
}

std::string_view InterruptName() {
  switch (signal_number.load(std::memory_order_relaxed)) {
    case SIGINT:
      return "SIGINT";
    case SIGHUP:
      return "SIGHUP";
    case SIGUSR1:
      return "SIGUSR1";
    case 0:
      return "another rank";
    default:
      return "SIGTERM";
  }
}

EndOnInterrupt::EndOnInterrupt(Program& program, std::string target) {
  CatchInterrupts();
  thread_ = std::thread([this, &program, target = std::move(target)] {
    while (::sem_wait(&first_signal) != 0) {  // EINTR
    }
    if (!Interrupted()) return;
    OutputFile::RemovePartialFiles();
    const bool made = made_.load(std::memory_order_relaxed);
    program.reporter.Warning(made ? std::string("interrupted") : fmt::format("interrupted; {} was not made", target));
    ::_exit(InterruptExitCode());
  });
}

EndOnInterrupt::~EndOnInterrupt() {
  ::sem_post(&first_signal);
  thread_.join();
}

bool EndedByInterrupt(Program& program, const absl::Status& status, std::string_view target, std::string_view fate) {
  if (!absl::IsCancelled(status) || !Interrupted()) return false;
  program.reporter.Warning(fmt::format("interrupted; {} {}", target, fate));
  program.exit_code = InterruptExitCode();
  return true;
}

}  // namespace octavo
