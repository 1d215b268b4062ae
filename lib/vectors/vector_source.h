// A sequence of vectors with names: those of a run, or of a file that another program wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace octavo {

// Valid until the next one is read.
struct NamedVector {
  std::string_view name;
  std::span<const float> values;  // [columns]
};

// One reader; not for concurrent use.
class VectorSource {
 public:
  virtual ~VectorSource() = default;

  virtual std::size_t columns() const = 0;
  // The seed under which the hashes (HashName) of the names are strictly ascending; empty if the names are in no such
  // order.
  virtual std::optional<std::uint64_t> order() const { return std::nullopt; }
  // The place of vector `number`, counted from 0: "vectors.txt:7".
  virtual std::string PlaceOf(std::uint64_t number) const = 0;

  // Returns the next vector, empty at the end. A value that is not finite is an input error that names its place.
  absl::StatusOr<std::optional<NamedVector>> Next();
  // The number of vectors that Next has returned.
  std::uint64_t count() const { return count_; }

 protected:
  virtual absl::StatusOr<std::optional<NamedVector>> Read() = 0;

 private:
  std::uint64_t count_ = 0;
};

}  // namespace octavo
