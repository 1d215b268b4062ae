// The sections of a page about values that change from epoch to epoch. Pure functions.
#pragma once

#include <string>

#include "report/residency.h"
#include "report/run_history.h"

namespace octavo {

// Loss, validations and learning rate.
std::string LearningSection(const RunHistory& history);

// Edges per second, where the time went, and memory. Empty if no epoch is done.
std::string WorkSection(const RunHistory& history);

// Of a training in lanes: the seconds of the slowest ones, and what several machines moved and waited. Otherwise empty.
std::string LanesSection(const RunHistory& history);

// Data read, written and loaded, compared with the plan, and which partitions were in memory. `residency` may be null.
// Empty if there is nothing to show.
std::string DiskSection(const RunHistory& history, const Residency* residency);

}  // namespace octavo
