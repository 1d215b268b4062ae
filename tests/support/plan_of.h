// Lists of plans for tests.
#pragma once

#include <span>
#include <vector>

#include "plan/epoch_plan.h"

namespace octavo {

// A copy of a state's list, which can be compared.
template <typename Item>
std::vector<Item> ListOf(std::span<const Item> list) {
  return {list.begin(), list.end()};
}

}  // namespace octavo
