#include "bench/orders.h"

#include "gtest/gtest.h"
#include "plan/bucket_order.h"

namespace octavo {
namespace {

TEST(CountOrders, AreThoseOfThePapersAndNoneIsBelowTheBound) {
  bool found = false;
  for (const OrderLoads& row : CountOrders()) {
    EXPECT_EQ(row.beta, BetaExchanges(row.partitions, row.resident));
    for (const std::uint64_t loads : {row.beta, row.inside_out, row.random, row.row_by_row}) {
      EXPECT_GE(loads, row.least) << row.partitions << " " << row.resident;
    }
    EXPECT_LT(row.beta, row.row_by_row);
    if (row.partitions != 32 || row.resident != 8) continue;
    found = true;
    EXPECT_EQ(row.beta, 78U);
    EXPECT_EQ(row.least, 67U);
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace octavo
