// What octavo tune prints of a search: its result, and the candidates of one without a space.
#pragma once

#include <string>

#include "cmd/reporter.h"
#include "tune/search.h"

namespace octavo {

// On standard output, a line for each trial that there was time for, the best first. With a space, there is a column
// for each of its options that varies, otherwise one for what differs from the first candidate.
void PrintTable(const TuneOptions& options, const SearchOutcome& outcome);
// The same as a JSON object.
void PrintJson(const TuneOptions& options, const SearchOutcome& outcome);

// What a search without a space has gained, in a line. REQUIRES: outcome.best
std::string GainText(const SearchOutcome& outcome);

// The first candidate, which is what train would choose, and the note.
void ReportCandidates(Reporter& reporter, const LoggedCandidates& candidates);

}  // namespace octavo
