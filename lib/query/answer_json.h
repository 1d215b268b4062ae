// Answers as JSON: what octavo query --json prints and octavo serve sends.
#pragma once

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "query/question.h"

namespace octavo {

// Adds an answer to the keys of an object.
void AddAnswer(const Answer& answer, nlohmann::ordered_json& object);

// Returns the double whose shortest decimals are those of the float: printed as a double, 0.1 would be
// 0.10000000149011612.
double ShortestDecimal(float value);

// Returns the text, safe for a terminal, on one line or, with `indent` >= 0, on many. Bytes that are not UTF-8 become
// U+FFFD.
std::string JsonText(const nlohmann::ordered_json& object, int indent = -1);

}  // namespace octavo
