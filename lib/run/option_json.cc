#include "run/option_json.h"

#include "nlohmann/json.hpp"

namespace octavo {

std::string OptionJson(const OptionField& field, const TrainOptions& options) {
  const std::string value = field.format(options);
  const bool literal = field.type != OptionField::Type::kText && nlohmann::json::accept(value);
  return literal ? value : nlohmann::json(value).dump();
}

}  // namespace octavo
