// Loads the rows of a partition from a table's file to given addresses, in one of three ways:
//
//   mapped     Maps the file's pages copy-on-write and reads nothing. A page is read when a row in it is accessed, and
//              becomes private memory when a row in it is written. Training begins at once and memory holds only what
//              is accessed. But the pages are small, and the page cache keeps the clean page beside its private copy
//              until it is dropped.
//   populated  Makes the same mapping and copies every page at once. Drops the page cache after each step, so that
//              memory holds the rows only once.
//   direct     Reads the file past the page cache (O_DIRECT) into private huge pages.
//
// In all three, the file never sees what is written to the memory, and the rows have the same bits. Call each function
// from one thread, while no other thread accesses the partition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/file.h"

namespace octavo {

enum class Loading { kMapped, kPopulated, kDirect };
std::string_view LoadingName(Loading loading);

// Whether the kernel supports the first two (Linux 5.14).
bool CanMapTables();

// The bytes of a partition in memory and in its file.
struct PartitionPlace {
  std::span<std::byte> memory;  // not empty; begins on a page border; the rest of its last page is unused
  const File& file;
  std::uint64_t offset = 0;  // in the file; a multiple of the page size
};

// The three ways. Populate and Read return the XXH3-64 of the rows, or 0 without `wants_checksum`. A file that ends too
// early is a corrupt-file error, one that cannot be read a runtime error, both with the byte offset. After an error the
// memory is in an unknown state; call ReleaseMemory.
absl::Status MapPartition(const PartitionPlace& place);
absl::StatusOr<std::uint64_t> PopulatePartition(const PartitionPlace& place, bool wants_checksum);
absl::StatusOr<std::uint64_t> ReadPartition(const PartitionPlace& place, bool wants_checksum);

// Makes every page of a partition that MapPartition mapped a private copy, and drops the clean pages from the page
// cache. The file stays mapped, but nothing is read from it any more: it may be written. After an error every row is
// still there.
absl::Status MakePrivate(const PartitionPlace& place);

// Frees the memory. The addresses stay reserved, and accessing them faults.
void ReleaseMemory(std::span<std::byte> memory);

}  // namespace octavo
