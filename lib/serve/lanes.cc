#include "serve/lanes.h"

#include <utility>

namespace octavo {

Lanes::Lanes(int quick_threads, std::size_t most_waiting) : most_waiting_(most_waiting) {
  for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
    State& state = *states_.emplace_back(std::make_unique<State>());
    const int threads = lane == static_cast<std::size_t>(Lane::kQuick) ? quick_threads : 1;
    for (int i = 0; i < threads; ++i) threads_.emplace_back([&state] { Work(state); });
  }
}

Lanes::~Lanes() {
  for (const std::unique_ptr<State>& state : states_) {
    const MutexLock lock(state->mutex);
    state->ends = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

bool Lanes::Submit(Lane lane, std::function<void()> task) {
  State& state = *states_[static_cast<std::size_t>(lane)];
  const MutexLock lock(state.mutex);
  if (state.waiting.size() >= most_waiting_) return false;
  state.waiting.push_back(std::move(task));
  return true;
}

void Lanes::Work(State& state) {
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
