// The measurements of this folder as charts. Pure functions; the caller adds a note about machine and time.
#pragma once

#include <vector>

#include "bench/kernels.h"
#include "bench/locks.h"
#include "bench/machine.h"
#include "bench/orders.h"
#include "bench/prefetch.h"
#include "bench/scaling.h"
#include "bench/tables.h"
#include "chart/svg_chart.h"

namespace octavo {

ChartPage MachineCharts(const MachineReport& report);
ChartPage KernelCharts(const KernelShape& shape, const KernelReport& report);
ChartPage PrefetchCharts(const std::vector<PrefetchRow>& rows);
ChartPage LockCharts(const LockReport& report);
ChartPage OrderCharts(const std::vector<OrderLoads>& rows);
ChartPage TableCharts(const TableReport& report);
ChartPage ScalingCharts(const ScalingReport& report);

}  // namespace octavo
