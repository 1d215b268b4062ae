#include "tables/stripe_locks.h"

#include <bit>

namespace octavo {

StripeLocks::StripeLocks(std::size_t stripes)
    : shift_(stripes > 1 ? 64U - static_cast<unsigned>(std::countr_zero(stripes)) : 63U),
      mask_(stripes - 1),
      stripes_(stripes) {}

}  // namespace octavo
