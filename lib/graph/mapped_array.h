// Files of a graph folder that are mapped: text, and arrays of 64-bit integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "format/array_header.h"
#include "io/file.h"
#include "io/file_mapping.h"

namespace octavo {

// A mapped file that stays open. The mapping ends before the file is closed. Constant after Open; any thread.
struct MappedFile {
  static absl::StatusOr<MappedFile> Open(const std::filesystem::path& path) {
    MappedFile mapped;
    ASSIGN_OR_RETURN(mapped.file, File::OpenRead(path));
    ASSIGN_OR_RETURN(mapped.mapping, FileMapping::Open(mapped.file));
    return mapped;
  }

  std::span<const std::byte> bytes() const { return mapping.bytes(); }
  // Bytes [begin, end) are not needed again soon: unmaps them and drops them from the page cache.
  void Drop(std::uint64_t begin, std::uint64_t end) const {
    mapping.LetGo(begin, end);
    if (begin < end) file.DropBehind(begin, end - begin);
  }

  File file;
  FileMapping mapping;
};

// A mapped array with its header (format/array_header.h). The same.
struct MappedArray {
  // Checks the header and the size, not the elements.
  static absl::StatusOr<MappedArray> Open(const std::filesystem::path& path, ArrayKind kind) {
    MappedArray array;
    ASSIGN_OR_RETURN(array.file, MappedFile::Open(path));
    const auto bytes = array.file.bytes();
    ASSIGN_OR_RETURN(array.header, DecodeArrayHeader(bytes, kind, bytes.size(), path.string()));
    return array;
  }

  // Aligned: the mapping is page-aligned and the header has 64 bytes.
  std::span<const std::uint64_t> values() const {
    return {reinterpret_cast<const std::uint64_t*>(file.bytes().data() + sizeof(ArrayHeader)), header.count};
  }
  // Elements [first, first + count) are about to be read; are not needed again soon.
  void WillRead(std::uint64_t first, std::uint64_t count) const {
    file.mapping.WillRead(PlaceOf(first), PlaceOf(first + count));
  }
  void Drop(std::uint64_t first, std::uint64_t count) const { file.Drop(PlaceOf(first), PlaceOf(first + count)); }

  // The byte offset of an element in the file.
  static std::uint64_t PlaceOf(std::uint64_t element) { return sizeof(ArrayHeader) + element * sizeof(std::uint64_t); }

  MappedFile file;
  ArrayHeader header;
};

}  // namespace octavo
