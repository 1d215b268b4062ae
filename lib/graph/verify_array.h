// The part of VerifyGraph that checks one array of integers (format/array_header.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>

#include "format/array_header.h"
#include "graph/check_options.h"
#include "io/check_report.h"

namespace octavo {

inline constexpr std::uint64_t kArrayElementBytes = sizeof(std::uint64_t);

// Element `i` of a piece of an array, and the place of an element in its file.
inline std::uint64_t ArrayElementAt(std::span<const std::byte> bytes, std::size_t i) {
  std::uint64_t value;
  std::memcpy(&value, bytes.data() + i * kArrayElementBytes, kArrayElementBytes);
  return value;
}
inline std::uint64_t ArrayPlaceOf(std::uint64_t element) { return sizeof(ArrayHeader) + element * kArrayElementBytes; }

// Checks the header, the checksum of the elements, and, for hashes of nodes and for offsets, that they are strictly
// ascending. Returns the header if it is valid. REQUIRES: as VerifyGraph
std::optional<ArrayHeader> VerifyArray(const std::filesystem::path& path, ArrayKind kind,
                                       const GraphCheckOptions& options, CheckReport& report);

}  // namespace octavo
