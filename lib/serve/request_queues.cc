#include "serve/request_queues.h"

#include <utility>

namespace octavo {

RequestQueues::RequestQueues(int quick_threads, std::size_t most_waiting) : most_waiting_(most_waiting) {
  for (std::size_t queue = 0; queue < kRequestQueueCount; ++queue) {
    State& state = *states_.emplace_back(std::make_unique<State>());
    const int threads = queue == static_cast<std::size_t>(RequestQueue::kQuick) ? quick_threads : 1;
    for (int i = 0; i < threads; ++i) threads_.emplace_back([&state] { Work(state); });
  }
}

RequestQueues::~RequestQueues() {
  for (const std::unique_ptr<State>& state : states_) {
    const MutexLock lock(state->mutex);
    state->ends = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

bool RequestQueues::Submit(RequestQueue queue, std::function<void()> task) {
  State& state = *states_[static_cast<std::size_t>(queue)];
  const MutexLock lock(state.mutex);
  if (state.waiting.size() >= most_waiting_) return false;
  state.waiting.push_back(std::move(task));
  return true;
}

void RequestQueues::Work(State& state) {
  while (true) {
    std::function<void()> task;
    {
      const MutexLock lock(state.mutex);
      state.mutex.Await(
          [&state]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mutex) { return state.ends || !state.waiting.empty(); });
      if (state.waiting.empty()) return;
      task = std::move(state.waiting.front());
      state.waiting.pop_front();
    }
    task();
  }
}

}  // namespace octavo
