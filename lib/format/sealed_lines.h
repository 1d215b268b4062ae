// Logs of one JSON object per line, each with its own checksum as the last key (format/sealed_json.h). The checksum's
// seed is the line's offset in the file, so it does not match a line that was changed or moved, or that follows a
// removed one. Appending needs nothing of the earlier lines. Lines from before there were checksums come first and have
// only keys that are known.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace octavo {

// Returns the line of `object`, "{...}" with at least one key, for byte `offset` of a log: with a checksum and a line
// end.
std::string SealLine(std::string_view object, std::uint64_t offset);

// Whether text after the last line end is a whole line whose line end is damaged, and not a line that a kill has cut.
bool HasDamagedEnd(std::string_view text);

// The keys of each kind of event: the string "event" of the object.
using EventKeys = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

// Returns the keys of these events, one of each kind.
EventKeys KeysOfEvents(std::initializer_list<std::string> examples);

// Checks the lines of one log, in their order.
class SealedLines {
 public:
  explicit SealedLines(EventKeys keys) : keys_(std::move(keys)) {}

  // Returns a corrupt-file error that begins with `place` if the line at byte `offset`, without its line end, is not a
  // JSON object, if its checksum is wrong, or if it has none and an earlier line has one or a key is unknown.
  absl::Status Check(std::string_view line, std::uint64_t offset, std::string_view place);
  // Whether the first line had a checksum: the log was begun with checksums.
  bool first_sealed() const { return first_sealed_; }

 private:
  const EventKeys keys_;
  bool first_ = true;
  bool first_sealed_ = false;
  bool sealed_ = false;  // a line so far
};

}  // namespace octavo
