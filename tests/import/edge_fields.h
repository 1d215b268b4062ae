// The fields of an edge as one value, which gtest compares and prints.

#ifndef OCTAVO_TESTS_IMPORT_EDGE_FIELDS_H_
#define OCTAVO_TESTS_IMPORT_EDGE_FIELDS_H_

#include <cstdint>
#include <tuple>

#include "cells/edge_record.h"

namespace octavo {

using Fields = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, float>;
inline Fields FieldsOf(const EdgeRecord& edge) { return {edge.head, edge.tail, edge.relation_and_split, edge.weight}; }

}  // namespace octavo

#endif  // OCTAVO_TESTS_IMPORT_EDGE_FIELDS_H_
