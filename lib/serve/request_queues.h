// Threads that work on requests, in queues: what is quick never waits for what reads a whole table.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace octavo {

enum class RequestQueue {
  kQuick,  // answers from memory: pages, searches of an index, the history of a run
  kNames,  // looks at the names of all nodes, for a bounded time
  kPass,   // reads tables or edges from beginning to end
  kMap,    // makes the points of the map
};
inline constexpr std::size_t kRequestQueueCount = 4;

class RequestQueues {
 public:
  // kQuick has `quick_threads` threads, the others one each. At most `most_waiting` tasks wait in a queue.
  RequestQueues(int quick_threads, std::size_t most_waiting);
  // Waits for all tasks, including those that wait.
  ~RequestQueues();

  // Runs `task` on a thread of the queue, in order of submission. Returns false, without running it, if too many wait.
  // Any thread.
  bool Submit(RequestQueue queue, std::function<void()> task);

 private:
  struct State {
    Mutex mutex;
    std::deque<std::function<void()>> waiting ABSL_GUARDED_BY(mutex);
    bool ends ABSL_GUARDED_BY(mutex) = false;
  };
  static void Work(State& state);

  const std::size_t most_waiting_;
  std::vector<std::unique_ptr<State>> states_;
  std::vector<std::thread> threads_;
};

}  // namespace octavo
