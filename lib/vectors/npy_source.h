// The rows of a NumPy array, named by the lines of a text file.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "format/npy_header.h"
#include "io/file.h"
#include "io/line_reader.h"
#include "vectors/vector_source.h"

namespace octavo {

class NpySource : public VectorSource {
 public:
  // Line i of `names`, plain or compressed, names row i. Fewer or more lines than rows are an input error when they are
  // reached.
  static absl::StatusOr<std::unique_ptr<NpySource>> Open(const std::filesystem::path& path,
                                                         const std::filesystem::path& names);

  std::size_t columns() const override { return layout_.shape.columns; }
  std::string PlaceOf(std::uint64_t number) const override;

 protected:
  absl::StatusOr<std::optional<NamedVector>> Read() override;

 private:
  NpySource(File file, const NpyLayout& layout, LineReader names)
      : file_(std::move(file)), layout_(layout), names_(std::move(names)) {}
  absl::Status ReadBlock();

  File file_;
  NpyLayout layout_;
  LineReader names_;
  std::uint64_t next_ = 0;
  std::uint64_t first_ = 0;  // first row of the block
  std::uint64_t rows_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<float> block_;  // [rows_, columns]
};

}  // namespace octavo
