// The names that other programs give to options of a training, for messages: lr is learning-rate.
#pragma once

#include <string>
#include <string_view>

namespace octavo {

// Returns a word as options have it: in lower case, with - for _.
std::string PlainWord(std::string_view word);

// Returns the name of the option of TrainOptionFields() that is meant by `name` elsewhere; empty if none is known.
// Letter case does not count, and _ is the same as -.
std::string_view OptionMeantBy(std::string_view name);

}  // namespace octavo
