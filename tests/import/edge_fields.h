// The fields of an edge as one value, which gtest compares and prints.
#pragma once

#include <cstdint>
#include <tuple>

#include "cells/edge_record.h"

namespace octavo {

using EdgeFields = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, float>;
inline EdgeFields FieldsOf(const EdgeRecord& edge) {
  return {edge.head, edge.tail, edge.relation_and_split, edge.weight};
}

}  // namespace octavo
