// Plans for tests.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "plan/epoch_plan.h"

namespace octavo {

// A copy of a state's list, which can be compared.
template <typename Item>
std::vector<Item> ListOf(std::span<const Item> list) {
  return {list.begin(), list.end()};
}

inline PlannedStates StatesOf(std::initializer_list<DraftState> drafts) {
  PlannedStates::Maker states;
  for (const DraftState& draft : drafts) states.Add(ViewOf(draft));
  return states.Make();
}

}  // namespace octavo
