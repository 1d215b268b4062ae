// The ranks of a job as threads of one process.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "ranks/ranks.h"
#include "tests/support/local_transport.h"

namespace octavo {

// Runs `work` as each rank of a job, and returns what each of them returned. An error of one ends the job, as a process
// that fails does: calls of the others that wait for it fail.
inline std::vector<absl::Status> RunRanks(LocalHub& hub, const std::function<absl::Status(Ranks&)>& work) {
  std::vector<absl::Status> results(static_cast<std::size_t>(hub.ranks()));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < hub.ranks(); ++rank) {
    threads.emplace_back([&, rank] {
      absl::Status& result = results[static_cast<std::size_t>(rank)];
      // Ten times as many looks as usual, as trainings of a test do little else than wait for each other.
      const MessengerSettings settings{.pause = std::chrono::microseconds(100)};
      const auto ranks = Ranks::Join(hub.Join(rank), settings, "host" + std::to_string(rank), "threads");
      result = ranks.ok() ? work(**ranks) : ranks.status();
      if (result.ok()) {
        (*ranks)->Part();
      } else {
        hub.Break();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

inline std::vector<absl::Status> RunRanks(int ranks, const std::function<absl::Status(Ranks&)>& work,
                                          std::uint64_t seed = 1) {
  LocalHub hub(ranks, seed);
  return RunRanks(hub, work);
}

}  // namespace octavo
