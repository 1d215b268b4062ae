// Work on a sequence of items by several threads whose results are taken in the order of the items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "base/parallel.h"

namespace octavo {

// Takes items until `take()`, a std::optional<Item>, is empty; calls `process(item)` for each, in parallel; and hands
// the results to `deliver(result)`, an absl::Status, one at a time in the order in which the items were taken. Ends at
// the first error, which it returns. At most `workers` items are held at once. Each worker has a copy of `process`, so
// that it may keep memory from one item to the next, and may take the item apart. `process` must not start parallel
// work of its own: waiting for it a thread could take up another item and wait for itself. What `process` throws is
// thrown here.
template <typename Item, typename Take, typename Process, typename Deliver>
absl::Status ProcessInOrder(std::size_t workers, const Take& take, const Process& process, const Deliver& deliver) {
  Mutex take_mutex;
  std::uint64_t taken = 0;  // under take_mutex
  Mutex deliver_mutex;
  std::uint64_t delivered = 0;  // these three under deliver_mutex
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
    auto result = work(*item);
    item.reset();
    const MutexLock lock(deliver_mutex);
    deliver_mutex.Await([&] { return delivered == number || ended; });
    if (ended) return false;
    status = deliver(std::move(result));
    ended = !status.ok();
    ++delivered;
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
