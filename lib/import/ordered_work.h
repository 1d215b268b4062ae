// Work on a sequence of items by several threads whose results are taken in the order of the items.
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

// Takes items until `take()`, a std::optional<Item>, is empty; calls `process(item)` for each, in parallel; and hands
// the results to `deliver(result)`, an absl::Status, one at a time in the order in which the items were taken. Ends at
// the first error, which it returns. A worker goes on behind one result that waits for an item which takes longer: at
// most `workers` + 1 items and results are held at once. Each worker has a copy of `process`, so that it may keep
// memory from one item to the next, and may take the item apart. `process` and `deliver` must not start parallel work
// of their own: waiting for it a thread could take up another item and wait for itself. What `process` throws is thrown
// here.
template <typename Item, typename Take, typename Process, typename Deliver>
absl::Status ProcessInOrder(std::size_t workers, const Take& take, const Process& process, const Deliver& deliver) {
  using Result = std::decay_t<std::invoke_result_t<Process&, Item&>>;
  Mutex take_mutex;
  std::uint64_t taken = 0;  // under take_mutex
  Mutex deliver_mutex;
  std::map<std::uint64_t, Result> waiting;  // by number; these four under deliver_mutex
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
      ended = true;  // or the others would wait for this item for ever
      throw;
    }
  });
  return status;
}

}  // namespace octavo
