#include "serve/run_events.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/json_escape.h"
#include "base/number.h"
#include "base/status.h"
#include "checkpoint/state_file.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "io/file.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;  // read at a time

std::string Event(std::string_view kind, const EventPlace& place, std::string_view data) {
  return fmt::format("event: {}\nid: {}\ndata: {}\n\n", kind, FormatEventPlace(place), data);
}

absl::StatusOr<std::string> ReadText(const File& file, std::uint64_t begin, std::uint64_t end) {
  std::string text(end - begin, '\0');
  RETURN_IF_ERROR(file.ReadAt(begin, std::as_writable_bytes(std::span(text))));
  return text;
}

// The events of whole lines after the place.
absl::StatusOr<std::string> NewLines(const std::filesystem::path& metrics, EventPlace& place) {
  ASSIGN_OR_RETURN(const bool there, FileExists(metrics));
  if (!there) return "";
  ASSIGN_OR_RETURN(const File file, File::OpenRead(metrics));
  ASSIGN_OR_RETURN(const std::uint64_t size, file.Size());
  ASSIGN_OR_RETURN(const std::string text, ReadText(file, place.bytes, std::min(size, place.bytes + kMostBytes)));
  std::string events;
  std::string_view rest = text;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    place.bytes += line.size() + 1;
    const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object() || !object.contains("event") || !object["event"].is_string()) continue;
    const std::string kind = object["event"].get<std::string>();
    if (kind == "epoch" || kind == "validation") {
      events += Event(kind, place, object.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace));
    }
  }
  return events;
}

}  // namespace

std::string FormatEventPlace(const EventPlace& place) {
  return fmt::format("{}-{}-{}", place.bytes, place.generation, place.run);
}

EventPlace ParseEventPlace(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, '-');
  if (parts.size() != 3) return {};
  const std::optional<std::uint64_t> bytes = ParseWholeNumber(parts[0]);
  const std::optional<std::uint64_t> generation = ParseWholeNumber(parts[1]);
  const std::optional<std::uint64_t> run = ParseWholeNumber(parts[2]);
  if (!bytes || !generation || !run) return {};
  return {*bytes, *generation, *run};
}

absl::StatusOr<std::uint64_t> WholeLines(const std::filesystem::path& metrics) {
  ASSIGN_OR_RETURN(const bool there, FileExists(metrics));
  if (!there) return std::uint64_t{0};
  ASSIGN_OR_RETURN(const File file, File::OpenRead(metrics));
  ASSIGN_OR_RETURN(std::uint64_t end, file.Size());
  constexpr std::uint64_t kPiece = 4096;
  while (end > 0) {
    const std::uint64_t begin = end - std::min(end, kPiece);
    ASSIGN_OR_RETURN(const std::string text, ReadText(file, begin, end));
    if (const std::size_t at = text.rfind('\n'); at != std::string::npos) return begin + at + 1;
    end = begin;
  }
  return std::uint64_t{0};
}

absl::StatusOr<std::string> EventsAfter(const std::filesystem::path& run, EventPlace& place) {
  const RunPaths paths(run);
  ASSIGN_OR_RETURN(const std::uint64_t whole, WholeLines(paths.Metrics()));
  ASSIGN_OR_RETURN(const Manifest manifest, ReadNewestManifest(paths.State()));
  const std::uint64_t id = manifest.header.run_id[0];
  const bool replaced = place.run != 0 && place.run != id;
  if (replaced || whole < place.bytes || manifest.header.generation < place.generation) {
    place = {whole, manifest.header.generation, id};
    return Event("reset", place, "{}");
  }
  place.run = id;
  ASSIGN_OR_RETURN(std::string events, NewLines(paths.Metrics(), place));
  if (manifest.header.generation > place.generation) {
    place.generation = manifest.header.generation;
    const Json data = {{"generation", manifest.header.generation},
                       {"epochs_done", manifest.header.progress.epoch},
                       {"batches_done", manifest.header.progress.batch}};
    events += Event("commit", place, data.dump());
  }
  return events;
}

}  // namespace octavo
