#include "io/file_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/status.h"
#include "fmt/format.h"

namespace octavo {

absl::StatusOr<FileMapping> FileMapping::Open(const File& file) {
  ASSIGN_OR_RETURN(const std::uint64_t size, file.Size());
  if (size == 0) return FileMapping();
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (data == MAP_FAILED) return ErrnoError(fmt::format("{}: mmap of {} bytes", file.path().string(), size), errno);
  ::madvise(data, size, MADV_RANDOM);
  return FileMapping(data, size, MappedRange(data, size, file.path(), file.descriptor(), 0));
}

FileMapping::~FileMapping() {
  range_ = MappedRange();
  if (data_ != nullptr) ::munmap(data_, size_);
}

void FileMapping::WillRead(std::uint64_t begin, std::uint64_t end) const { Advise(begin, end, MADV_WILLNEED); }

void FileMapping::LetGo(std::uint64_t begin, std::uint64_t end) const { Advise(begin, end, MADV_DONTNEED); }

void FileMapping::Advise(std::uint64_t begin, std::uint64_t end, int advice) const {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  begin = begin / page * page;
  end = std::min<std::uint64_t>(end, size_);
  if (begin < end) ::madvise(static_cast<std::byte*>(data_) + begin, end - begin, advice);
}

}  // namespace octavo
