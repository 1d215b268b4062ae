#include "format/sealed_lines.h"

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "format/sealed_json.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::json;

// Returns the value of "event"; empty if there is none, which no event has.
std::string EventKind(const Json& object) {
  const auto kind = object.find("event");
  return kind != object.end() && kind->is_string() ? kind->get<std::string>() : std::string();
}

}  // namespace

std::string SealLine(std::string_view object, std::uint64_t offset) {
  object.remove_suffix(1);
  return SealJson(fmt::format("{},\"{}\":\"{}\"}}", object, kSealKey, kNoSeal), offset) + "\n";
}

bool HasDamagedEnd(std::string_view text) {
  const std::size_t end = EndOfSealed(text);
  // After a power cut zeros can stand for what was not written.
  return end != std::string_view::npos && end < text.size() && text[end] != '\0';
}

EventKeys KeysOfEvents(const std::vector<std::string>& examples) {
  EventKeys keys;
  for (const std::string& example : examples) {
    const Json event = Json::parse(example);
    for (const auto& [key, value] : event.items()) keys[EventKind(event)].insert(key);
  }
  return keys;
}

absl::Status SealedLines::Check(std::string_view line, std::uint64_t offset, std::string_view place) {
  const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return CorruptError(fmt::format("{}: \"{}\"; expected a JSON object", place, Escape(line)));
  const bool sealed = object.contains(kSealKey);
  first_sealed_ = first_ ? sealed : first_sealed_;
  first_ = false;
  if (sealed) {
    sealed_ = true;
    return CheckSeal(line, /*has_key=*/true, place, offset);
  }
  if (sealed_) {
    return CorruptError(fmt::format("{}: no \"{}\"; expected one, as in an earlier line", place, kSealKey));
  }
  const std::string kind = EventKind(object);
  const auto known = keys_.find(kind);
  if (known == keys_.end()) {
    return CorruptError(fmt::format("{}: an event \"{}\" without \"{}\"; expected a kind that is known", place,
                                    Escape(kind), kSealKey));
  }
  for (const auto& [key, value] : object.items()) {
    if (known->second.contains(key)) continue;
    return CorruptError(
        fmt::format("{}: unknown key \"{}\"; expected a key of an event \"{}\"", place, Escape(key), kind));
  }
  return absl::OkStatus();
}

}  // namespace octavo
