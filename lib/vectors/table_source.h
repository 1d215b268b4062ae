// The rows of a run's table with the names of its graph, in id order, which is the order of the names' hashes.
#pragma once

#include <vector>

#include "graph/node_names.h"
#include "tables/row_checks.h"
#include "tables/table_reader.h"
#include "vectors/vector_source.h"

namespace octavo {

// Reads blocks of kBlockBytes and drops each from the page cache afterwards (Forget of both). Each partition is
// compared with its checksum before the block that ends it is returned.
class TableSource : public VectorSource {
 public:
  // Keeps references to both. REQUIRES: as many names as rows, and a checksum for each partition
  TableSource(const TableReader& table, const NodeNames& names, std::string file)
      : table_(table), names_(names), file_(std::move(file)), checks_(table) {}

  std::size_t columns() const override { return table_.columns(); }
  std::optional<std::uint64_t> order() const override { return names_.hash_seed(); }
  std::string PlaceOf(std::uint64_t number) const override;

  static constexpr std::uint64_t kBlockBytes = std::uint64_t{4} << 20;

 protected:
  absl::StatusOr<std::optional<NamedVector>> Read() override;

 private:
  absl::Status ReadBlock();

  const TableReader& table_;
  const NodeNames& names_;
  const std::string file_;
  RowChecks checks_;
  std::uint64_t first_ = 0;  // first row of the block
  std::uint64_t rows_ = 0;
  std::uint64_t next_ = 0;
  std::vector<float> block_;  // [rows_, columns]
};

}  // namespace octavo
