#include "cmd/interrupt.h"

#include <signal.h>

namespace octavo {
namespace {

std::atomic<int> signal_number = 0;
static_assert(std::atomic<int>::is_always_lock_free);  // or the handler could not touch it

void Remember(int number) { signal_number.store(number, std::memory_order_relaxed); }

}  // namespace

void CatchInterrupts() {
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // as nohup or a shell's background job wants it
    struct sigaction action {};
    action.sa_handler = Remember;
    // Back to the default for the second signal. No SA_RESTART: a waiting read must wake up.
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(number, &action, nullptr);
  }
}

bool Interrupted() { return signal_number.load(std::memory_order_relaxed) != 0; }

const std::atomic<int>& InterruptSignal() { return signal_number; }

int InterruptExitCode() { return 128 + signal_number.load(std::memory_order_relaxed); }

}  // namespace octavo
