// Turns edge lists into a graph folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace octavo {

}  // namespace octavo
