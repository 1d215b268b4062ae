#include "vectors/vector_source.h"

#include <algorithm>
#include <cmath>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {

absl::StatusOr<std::optional<NamedVector>> VectorSource::Next() {
  ASSIGN_OR_RETURN(const std::optional<NamedVector> vector, Read());
  if (!vector) return vector;
  const auto odd = std::ranges::find_if(vector->values, [](float value) { return !std::isfinite(value); });
  if (odd != vector->values.end()) {
    return InputError(fmt::format("{}: value {} of \"{}\" is {}; expected a finite number", PlaceOf(count_),
                                  odd - vector->values.begin() + 1, Escape(vector->name), *odd));
  }
  ++count_;
  return vector;
}

}  // namespace octavo
