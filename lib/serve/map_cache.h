// The map of a run, made once, when it is first asked for, and again on request.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "serve/map_points.h"
#include "serve/served_run.h"

namespace octavo {

// Reads the file of classes that the run was given, if any, and returns its error: at the start, instead of when
// somebody looks at the map.
absl::Status CheckMapClasses(ServedRun& run);

// Any thread.
class MapCache {
 public:
  // Runs a task in the background; false if it cannot.
  using Start = std::function<bool(std::function<void()>)>;

  // `run` must outlive the cache; tasks must end before it.
  explicit MapCache(ServedRun& run) : run_(run) {}

  struct State {
    std::shared_ptr<const MapPoints> points;  // null: none yet
    bool building = false;
    std::string error;  // why the last one was not made
  };
  // Returns the state. Starts to make a map if there is none, none is being made and none has failed; with `refresh`,
  // also if there is one of an older commit, or whose file is of one, or if the last one failed. `stop` ends the
  // making.
  State Get(bool refresh, const Start& start, const std::function<bool()>& stop);

 private:
  void Build(const std::function<bool()>& stop);

  ServedRun& run_;
  Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace octavo
