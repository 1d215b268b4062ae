#include "format/graph_description.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>
#include <vector>

#include "base/escape.h"
#include "base/ids.h"
#include "base/status.h"
#include "fmt/format.h"
#include "format/sealed_json.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

// The unordered kind: nlohmann's ordered kind copies its elements as it grows, and uses stack for each level of
// nesting.
using Json = nlohmann::json;

constexpr std::string_view kFormatName = "octavo graph";
constexpr std::uint64_t kFormatVersion = 1;
// All keys; the last but one are the commands that make graphs.
constexpr std::string_view kKeys[] = {
    "format",     "version",       "nodes",          "relations",          "train_edges",      "valid_edges",
    "test_edges", "has_relations", "has_weights",    "undirected",         "keeps_duplicates", "partition_rows",
    "partitions", "fingerprint",   "labelled_nodes", "labelled_relations", "label_checksum",   "import",
    "walk",       "tune",          kSealKey};

// Takes typed values out of the parsed object. status() keeps the first error.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string_view file_name) : object_(object), file_name_(file_name) {}

  std::uint64_t Whole(const char* key, std::uint64_t least, std::uint64_t most) {
    const auto found = object_.find(key);
    if (found == object_.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() < least ||
        found->get<std::uint64_t>() > most) {
      Refuse(key, Found(found), fmt::format("a whole number from {} to {}", least, most));
      return least;
    }
    return found->get<std::uint64_t>();
  }
  bool FlagIfThere(const char* key) { return object_.contains(key) && Flag(key); }
  bool Flag(const char* key) {
    const auto found = object_.find(key);
    if (found == object_.end() || !found->is_boolean()) {
      Refuse(key, Found(found), "true or false");
      return false;
    }
    return found->get<bool>();
  }
  std::string Text(const char* key) {
    const auto found = object_.find(key);
    if (found == object_.end() || !found->is_string()) {
      Refuse(key, Found(found), "a string");
      return {};
    }
    return found->get<std::string>();
  }
  void Refuse(std::string_view key, std::string_view found, std::string_view expected) {
    if (!status_.ok()) return;
    status_ = CorruptError(fmt::format("{}: \"{}\" is {}; expected {}", file_name_, key, Escape(found), expected));
  }
  // Refuses keys that are not in the list.
  void RefuseOthers(std::span<const std::string_view> keys) {
    for (const auto& [key, value] : object_.items()) {
      if (std::ranges::find(keys, key) == keys.end()) Refuse(Escape(key), "unknown", "a key of a graph.json");
    }
  }
  const absl::Status& status() const { return status_; }

 private:
  // Returns only the type of an array or object: printing one uses stack for each level of nesting.
  std::string Found(Json::const_iterator found) const {
    if (found == object_.end()) return "nothing";
    return found->is_structured() ? fmt::format("an {}", found->type_name()) : found->dump();
  }

  const Json& object_;
  std::string_view file_name_;
  absl::Status status_;
};

std::uint64_t ParseFingerprint(const char* key, ObjectReader& reader) {
  const std::string text = reader.Text(key);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.size() != 16) {
    reader.Refuse(key, text, "16 hexadecimal digits");
  }
  return value;
}

}  // namespace

std::uint64_t GraphFingerprint(const std::array<CellsHeader, 3>& cells, const ArrayHeader& hashes,
                               const ArrayHeader& offsets, std::string_view relations) {
  std::vector<std::uint64_t> sums;
  for (const CellsHeader& header : cells) {
    // The checksum as it is on disk; computed here, as callers may hold a header that was never encoded.
    sums.push_back(XXH3_64bits(&header, offsetof(CellsHeader, header_checksum)));
    sums.push_back(header.index_checksum);
  }
  sums.push_back(hashes.data_checksum);
  sums.push_back(hashes.hash_seed);
  sums.push_back(offsets.data_checksum);
  sums.push_back(XXH3_64bits(relations.data(), relations.size()));
  return XXH3_64bits(sums.data(), sums.size() * sizeof(sums[0]));
}

std::uint64_t LabelChecksum(const ArrayHeader& hashes, const ArrayHeader& offsets, const ArrayHeader& order,
                            std::string_view relation_labels) {
  const std::array<std::uint64_t, 4> sums = {hashes.data_checksum, offsets.data_checksum, order.data_checksum,
                                             XXH3_64bits(relation_labels.data(), relation_labels.size())};
  return XXH3_64bits(sums.data(), sizeof(sums));
}

std::string EncodeGraphDescription(const GraphDescription& description, std::string_view origin_json,
                                   std::string_view origin) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  object["format"] = kFormatName;
  object["version"] = kFormatVersion;
  object["nodes"] = description.node_count;
  object["relations"] = description.relation_count;
  object["train_edges"] = description.train_edges;
  object["valid_edges"] = description.valid_edges;
  object["test_edges"] = description.test_edges;
  object["has_relations"] = description.has_relations;
  object["has_weights"] = description.has_weights;
  if (description.undirected) object["undirected"] = true;
  if (description.keeps_duplicates) object["keeps_duplicates"] = true;
  object["partition_rows"] = description.partition_rows;
  object["partitions"] = description.partition_count;
  object["fingerprint"] = fmt::format("{:016x}", description.fingerprint);
  if (description.HasLabels()) {
    object["labelled_nodes"] = description.labelled_nodes;
    object["labelled_relations"] = description.labelled_relations;
    object["label_checksum"] = fmt::format("{:016x}", description.label_checksum);
  }
  object[std::string(origin)] = nlohmann::ordered_json::parse(origin_json);
  object[std::string(kSealKey)] = kNoSeal;
  return SealJson(object.dump(2) + "\n");
}

absl::StatusOr<GraphDescription> DecodeGraphDescription(std::string_view text, std::string_view file_name) {
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return CorruptError(fmt::format("{}: not a JSON object; expected the description of a graph", file_name));
  }
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();
  ObjectReader reader(object, file_name);
  if (const std::string format = reader.Text("format"); format != kFormatName) {
    reader.Refuse("format", format, fmt::format("\"{}\"", kFormatName));
  }
  reader.Whole("version", kFormatVersion, kFormatVersion);
  GraphDescription description;
  description.node_count = reader.Whole("nodes", 1, kMax);
  description.relation_count = static_cast<std::uint32_t>(reader.Whole("relations", 1, kMax32));
  description.train_edges = reader.Whole("train_edges", 0, kMax);
  description.valid_edges = reader.Whole("valid_edges", 0, kMax);
  description.test_edges = reader.Whole("test_edges", 0, kMax);
  description.has_relations = reader.Flag("has_relations");
  description.has_weights = reader.Flag("has_weights");
  description.undirected = reader.FlagIfThere("undirected");
  description.keeps_duplicates = reader.FlagIfThere("keeps_duplicates");
  description.partition_rows = reader.Whole("partition_rows", kPartitionRowQuantum, kMax32 + 1);
  description.partition_count = static_cast<std::uint32_t>(reader.Whole("partitions", 1, kMax32));
  description.fingerprint = ParseFingerprint("fingerprint", reader);
  if (object.contains("label_checksum")) {
    description.labelled_nodes = reader.Whole("labelled_nodes", 0, description.node_count);
    description.labelled_relations =
        static_cast<std::uint32_t>(reader.Whole("labelled_relations", 0, description.relation_count));
    description.label_checksum = ParseFingerprint("label_checksum", reader);
  }
  reader.RefuseOthers(kKeys);
  if (!reader.status().ok()) return reader.status();
  RETURN_IF_ERROR(CheckSeal(text, object.contains(kSealKey), file_name));
  return description;
}

}  // namespace octavo
