// The sections of a page with what changed from epoch to epoch. Pure functions.
#pragma once

#include <string>

#include "report/residency.h"
#include "report/run_history.h"

namespace octavo {

// Loss, validations and learning rate.
std::string LearningSection(const RunHistory& history);

// Edges a second, where the time went, and memory; empty where no epoch is done.
std::string WorkSection(const RunHistory& history);

// What was read, written and loaded, beside what was planned, and which partitions were in memory. `residency` may be
// null; empty where there is nothing of both.
std::string DiskSection(const RunHistory& history, const Residency* residency);

}  // namespace octavo
