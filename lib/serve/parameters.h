// The values that a route accepts: their table checks requests and becomes the description in OpenAPI. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "serve/target.h"

namespace octavo {

struct ParameterSpec {
  enum class Kind { kText, kWhole, kFlag, kChoice };
  std::string_view name = {};
  Kind kind = Kind::kText;
  std::string_view help = {};
  bool required = false;
  bool repeated = false;  // of texts
  // of whole numbers
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::uint64_t fallback = 0;
  std::vector<std::string_view> choices = {};  // the first is the default
};

// The checked values of a request.
class Parameters {
 public:
  // An input error names the value, what was found and what is expected. Unknown names are errors too, as are texts
  // that are repeated where one is expected.
  static absl::StatusOr<Parameters> Check(const std::vector<ParameterSpec>& specs, const Target& target);

  // Whether the request has it. REQUIRES: the specs have `name`, here and below
  bool Has(std::string_view name) const { return texts_.find(name) != texts_.end(); }
  // Empty if the request lacks it.
  std::string Text(std::string_view name) const;
  std::vector<std::string> Texts(std::string_view name) const;
  std::uint64_t Whole(std::string_view name) const { return wholes_.find(name)->second; }
  bool Flag(std::string_view name) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> texts_;  // also of choices, with their defaults
  std::map<std::string, std::uint64_t, std::less<>> wholes_;
};

}  // namespace octavo
