// tbb::parallel_sort on one thread, for builds with the thread sanitizer: see parallel_for.h beside this file.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>

namespace tbb {

template <typename Iterator, typename Compare = std::less<>>
void parallel_sort(Iterator begin, Iterator end, const Compare& compare = Compare()) {
  std::sort(begin, end, compare);
}

template <typename Container, typename Compare = std::less<>>
requires requires(Container& container) { std::begin(container); }
void parallel_sort(Container& container, const Compare& compare = Compare()) {
  std::sort(std::begin(container), std::end(container), compare);
}

}  // namespace tbb
