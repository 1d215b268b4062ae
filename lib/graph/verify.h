// Checks a graph folder as a whole: every byte against its checksum, every file against the others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "absl/status/status.h"
#include "io/check_report.h"
#include "io/piece_reader.h"

namespace octavo {

struct GraphCheckOptions {
  PieceOptions reading;  // piece_bytes at least 128 KiB; each worker holds three pieces
  // The block index of an edge file, and relations.tsv twice, are held as a whole: at most this much of either.
  std::uint64_t whole_bytes = std::uint64_t{1} << 40;
  // Gets the bytes that were checked since the last call; any thread. May be empty.
  std::function<void(std::uint64_t bytes)> progress;
};

// Checks graph.json, the headers, checksums and order of nodes.hash and nodes.offsets, that each name of nodes.names
// stands where its offset says and has its hash, relations.tsv with the counts of its edges, each edge file's header,
// index, blocks and ids, and the fingerprint. What is wrong goes to `report`, all of it; an error says why the check
// could not be done: too little memory, or a folder that was replaced meanwhile. Runs on the calling arena's threads.
absl::Status VerifyGraph(const std::filesystem::path& folder, const GraphCheckOptions& options, CheckReport& report);

}  // namespace octavo
