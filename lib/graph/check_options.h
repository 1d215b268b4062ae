// How a graph folder is checked.
#pragma once

#include <cstdint>
#include <functional>

#include "io/piece_reader.h"

namespace octavo {

struct GraphCheckOptions {
  PieceOptions reading;  // piece_bytes at least 128 KiB; each worker holds three pieces
  // Limit for what must be held as a whole: the block index of an edge file, and relations.tsv twice.
  std::uint64_t whole_bytes = std::uint64_t{1} << 40;
  // Receives the number of bytes checked since the last call. Any thread. May be empty.
  std::function<void(std::uint64_t bytes)> progress;
};

}  // namespace octavo
