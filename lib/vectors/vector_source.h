// Vectors with names, one behind the other: those of a run, or of a file of another program.
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
  // The seed by whose HashName the names ascend strictly; empty where they stand in any order.
  virtual std::optional<std::uint64_t> order() const { return std::nullopt; }
  // Where vector `number`, from 0, stands: "vectors.txt:7".
  virtual std::string PlaceOf(std::uint64_t number) const = 0;

  // Returns the next vector, empty at the end. A value that is not finite is an input error with its place.
  absl::StatusOr<std::optional<NamedVector>> Next();
  // Vectors that Next has returned.
  std::uint64_t count() const { return count_; }

 protected:
  virtual absl::StatusOr<std::optional<NamedVector>> Read() = 0;

 private:
  std::uint64_t count_ = 0;
};

}  // namespace octavo
