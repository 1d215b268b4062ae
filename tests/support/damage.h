// Every way in which the tests damage a file: cut at places that matter, and flipped bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "base/random.h"
#include "fmt/format.h"
#include "tests/support/file_bytes.h"

namespace octavo {

// Calls `look(what, bytes)` with the file damaged in each way, and restores the file. Cuts: at 0, 1, before, at and
// after the header's end, half, one before the end, and one byte more. Bits: one of each byte of the header and of the
// last 16 bytes, and `bits` random ones.
inline void ForEachDamage(const std::filesystem::path& path, std::uint64_t header_bytes, int bits,
                          const std::function<void(const std::string& what, const std::string& bytes)>& look) {
  const std::string whole = FileBytes(path);
  const auto examine = [&](const std::string& what, const std::string& bytes) {
    if (bytes == whole) return;
    WriteFileBytes(path, bytes);
    look(fmt::format("{}: {}", path.filename().string(), what), bytes);
  };
  const std::uint64_t header = std::min<std::uint64_t>(header_bytes, whole.size());
  std::set<std::uint64_t> cuts = {0, 1, header, whole.size() / 2};
  if (header > 0) cuts.insert(header - 1);
  if (!whole.empty()) cuts.insert(whole.size() - 1);
  for (const std::uint64_t cut : cuts) {
    if (cut < whole.size()) examine(fmt::format("cut at {}", cut), whole.substr(0, cut));
  }
  examine("one byte longer", whole + "x");
  RandomStream random(1, RandomPurpose::kSplit, 0, whole.size());
  std::set<std::uint64_t> places;  // bits
  for (std::uint64_t byte = 0; byte < header; ++byte) places.insert(byte * 8 + byte % 8);
  for (std::uint64_t byte = whole.size() - std::min<std::uint64_t>(16, whole.size()); byte < whole.size(); ++byte) {
    places.insert(byte * 8 + byte % 8);
  }
  for (int i = 0; i < bits && !whole.empty(); ++i) places.insert(random.Below(whole.size() * 8));
  for (const std::uint64_t place : places) {
    std::string bytes = whole;
    bytes[place / 8] = static_cast<char>(bytes[place / 8] ^ (1 << (place % 8)));
    examine(fmt::format("bit {} of byte {}", place % 8, place / 8), bytes);
  }
  WriteFileBytes(path, whole);
}

}  // namespace octavo
