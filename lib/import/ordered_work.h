// Processes a sequence of items with several threads and delivers the results in the order of the items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "base/parallel.h"

namespace octavo {

// Takes items until `take()`, a std::optional<Item>, is empty; calls `process(item)` for each, in parallel; and passes
// the results to `deliver(result)`, an absl::Status, one at a time in the order in which the items were taken. Stops at
// the first error and returns it. Only one result may wait for a slower item before the workers wait too: at most
// `workers` + 1 items and results are held. Each worker has a copy of `process`, which may keep memory between items
// and may modify the item. `process` and `deliver` must not start parallel work: a thread waiting for that could start
// another item and deadlock. Exceptions of `process` are rethrown here.
template <typename Item, typename Take, typename Process, typename Deliver>
absl::Status ProcessInOrder(std::size_t workers, const Take& take, const Process& process, const Deliver& deliver) {
  using Result = std::decay_t<std::invoke_result_t<Process&, Item&>>;
  Mutex take_mutex;
  std::uint64_t taken = 0;  // guarded by take_mutex
  Mutex deliver_mutex;
  std::map<std::uint64_t, Result> waiting;  // by number; this and the next three are guarded by deliver_mutex
  std::uint64_t delivered = 0;
  bool ended = false;
  absl::Status status;
  const auto work_on_next = [&](Process& work) -> bool {
    std::optional<Item> item;
    std::uint64_t number = 0;
    {
      const MutexLock lock(take_mutex);
      item = take();
      if (!item) return false;
      number = taken++;
    }
    Result result = work(*item);
    item.reset();
    const MutexLock lock(deliver_mutex);
    waiting.emplace(number, std::move(result));
    while (!ended && !waiting.empty() && waiting.begin()->first == delivered) {
      status = deliver(std::move(waiting.extract(waiting.begin()).mapped()));
      ended = !status.ok();
      ++delivered;
    }
    deliver_mutex.Await([&] { return ended || waiting.size() < 2; });
    return !ended;
  };
  ParallelEach(0, workers, [&](std::size_t) {
    try {
      Process work = process;
      while (work_on_next(work)) {
      }
    } catch (...) {
      const MutexLock lock(deliver_mutex);
      ended = true;  // otherwise the others would wait for this item for ever
      throw;
    }
  });
  return status;
}

}  // namespace octavo
