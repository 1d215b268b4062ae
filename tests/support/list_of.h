// Lists of a plan's states that can be compared.
#pragma once

#include <span>
#include <vector>

namespace octavo {

template <typename Item>
std::vector<Item> ListOf(std::span<const Item> list) {
  return {list.begin(), list.end()};
}

}  // namespace octavo
