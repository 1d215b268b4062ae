#include "evaluate/node_labels.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/byte_size.h"
#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/line_reader.h"

namespace octavo {
namespace {

constexpr std::size_t kMaxLabelBytes = 1024;  // a label is a word or a number
// Memory of a label name apart from its characters: a key of the hash map, which may be half empty or being copied to a
// larger one, and a string in the sorted list.
constexpr std::uint64_t kLabelBytes = 192;

struct LabelledNode {
  std::uint64_t node = 0;
  std::uint32_t label = 0;

  friend auto operator<=>(const LabelledNode&, const LabelledNode&) = default;
};

// Memory of a pair while their vector doubles, which is more than the pair and its entry in the result.
constexpr std::uint64_t kPairBytes = 3 * sizeof(LabelledNode);

InputLimits LimitsOf(std::uint64_t max_bytes) {
  // Half of the memory is for the window of a zstd frame, which is freed before the labels are sorted.
  return {std::clamp<std::uint64_t>(max_bytes / 2, std::uint64_t{1} << 20, std::uint64_t{128} << 20), 0};
}

// Finds nodes by their names and counts names that are not found.
class NodeFinder {
 public:
  explicit NodeFinder(const NodeNames& names) : names_(names) {}

  std::optional<std::uint64_t> Find(std::string_view name) {
    constexpr std::uint64_t kReadings = 4096;  // between two drops of the pages they touch from the cache
    if (++readings_ % kReadings == 0) names_.Forget(0, names_.size());
    if (const std::optional<NodeId> node = names_.Find(name)) return Value(*node);
    if (unknown_.lines++ == 0) unknown_.first = std::string(name);
    return std::nullopt;
  }

  UnknownNames unknown() const { return unknown_; }

 private:
  const NodeNames& names_;
  UnknownNames unknown_;
  std::uint64_t readings_ = 0;
};

absl::Status TooManyError(const LineReader& reader, std::string_view what, std::uint64_t max_bytes) {
  return UsageError(
      fmt::format("{}: the {} up to here take more than the {} that --memory leaves for them; expected a "
                  "larger --memory",
                  reader.Place(), what, FormatByteSize(max_bytes)));
}

absl::Status NobodyKnownError(const std::string& path, const Graph& graph, const UnknownNames& unknown) {
  if (unknown.lines == 0) {
    return InputError(fmt::format("{}: found no line with a name; expected names of nodes, one per line", path));
  }
  return InputError(fmt::format(
      "{}: found no name of the graph in {} line{}, the first \"{}\"; expected names that "
      "stand in {}",
      path, unknown.lines, unknown.lines == 1 ? "" : "s", Escape(unknown.first), graph.paths().NodeNames().string()));
}

// Removes the next word from `text` and returns it; empty at the end.
std::string_view TakeWord(std::string_view& text) {
  constexpr std::string_view kBlanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

// Collects the labels line by line.
class LabelCollector {
 public:
  LabelCollector(const Graph& graph, std::uint64_t max_bytes) : finder_(graph.nodes()), max_bytes_(max_bytes) {}

  absl::Status AddLine(const LineReader& reader, std::string_view line) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      return InputError(
          fmt::format("{}: found no tab in \"{}\"; expected NODE<TAB>CLASS [CLASS ...]", reader.Place(), Escape(line)));
    }
    if (tab == 0) {
      return InputError(fmt::format("{}: found an empty name in \"{}\"; expected NODE<TAB>CLASS [CLASS ...]",
                                    reader.Place(), Escape(line)));
    }
    std::string_view rest = line.substr(tab);
    std::string_view label = TakeWord(rest);
    if (label.empty()) {
      return InputError(fmt::format("{}: found no class after the tab in \"{}\"; expected NODE<TAB>CLASS [CLASS ...]",
                                    reader.Place(), Escape(line)));
    }
    const std::optional<std::uint64_t> node = finder_.Find(line.substr(0, tab));
    for (; !label.empty(); label = TakeWord(rest)) {
      if (label.size() > kMaxLabelBytes) {
        return InputError(fmt::format("{}: found a class of {} bytes, \"{}\"; expected at most {}", reader.Place(),
                                      label.size(), Escape(label, 40), kMaxLabelBytes));
      }
      if (!node) continue;
      pairs_.push_back({*node, LabelOf(label)});
      if (pairs_.size() * kPairBytes + label_bytes_ > max_bytes_) return TooManyError(reader, "classes", max_bytes_);
    }
    return absl::OkStatus();
  }

  bool empty() const { return pairs_.empty(); }
  UnknownNames unknown() const { return finder_.unknown(); }

  // Labels are numbered by their names, so that the order of the lines does not matter.
  NodeLabels Finish() && {
    NodeLabels labels;
    std::vector<std::pair<std::string, std::uint32_t>> found(ids_.begin(), ids_.end());
    ids_ = {};
    std::sort(found.begin(), found.end());
    std::vector<std::uint32_t> order(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      order[found[i].second] = static_cast<std::uint32_t>(i);
      labels.names.push_back(std::move(found[i].first));
    }
    for (LabelledNode& pair : pairs_) pair.label = order[pair.label];
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    labels.labels.reserve(pairs_.size());
    for (const LabelledNode& pair : pairs_) {
      if (labels.nodes.empty() || labels.nodes.back() != pair.node) {
        labels.nodes.push_back(pair.node);
        labels.offsets.push_back(labels.labels.size());
      }
      labels.labels.push_back(pair.label);
    }
    labels.offsets.push_back(labels.labels.size());
    labels.unknown = finder_.unknown();
    return labels;
  }

 private:
  std::uint32_t LabelOf(std::string_view label) {
    const auto [found, is_new] = ids_.try_emplace(std::string(label), static_cast<std::uint32_t>(ids_.size()));
    if (is_new) label_bytes_ += kLabelBytes + 2 * label.size();
    return found->second;
  }

  NodeFinder finder_;
  const std::uint64_t max_bytes_;
  absl::flat_hash_map<std::string, std::uint32_t> ids_;
  std::vector<LabelledNode> pairs_;
  std::uint64_t label_bytes_ = 0;
};

}  // namespace

bool NodeLabels::NearlyAllDiffer() const {
  constexpr std::size_t kLeastNodes = 10;  // fewer may be a trial
  return nodes.size() >= kLeastNodes && names.size() >= nodes.size() / 2;
}

std::optional<std::string_view> NodeLabels::LabelOfAll() const {
  if (names.size() < 2) return std::nullopt;
  std::vector<std::uint64_t> counts(names.size());
  for (const std::uint32_t label : labels) ++counts[label];
  const auto all = std::ranges::find(counts, nodes.size());
  if (all == counts.end()) return std::nullopt;
  return names[static_cast<std::size_t>(all - counts.begin())];
}

std::uint64_t NodeLabels::Bytes() const {
  std::uint64_t bytes = nodes.capacity() * sizeof(nodes[0]) + offsets.capacity() * sizeof(offsets[0]) +
                        labels.capacity() * sizeof(labels[0]);
  for (const std::string& name : names) bytes += sizeof(name) + name.capacity();
  return bytes;
}

absl::StatusOr<NodeLabels> ReadNodeLabels(const Graph& graph, const std::string& path, std::uint64_t max_bytes) {
  ASSIGN_OR_RETURN(LineReader reader, LineReader::Open(path, LimitsOf(max_bytes)));
  LabelCollector collector(graph, max_bytes / 2);
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<std::string_view> line, reader.Next());
    if (!line) break;
    RETURN_IF_ERROR(collector.AddLine(reader, *line));
  }
  RETURN_IF_ERROR(graph.nodes().status());
  if (collector.empty()) return NobodyKnownError(path, graph, collector.unknown());
  return std::move(collector).Finish();
}

absl::StatusOr<NodeList> ReadNodeList(const Graph& graph, const std::string& path, std::uint64_t max_bytes) {
  ASSIGN_OR_RETURN(LineReader reader, LineReader::Open(path, LimitsOf(max_bytes)));
  NodeFinder finder(graph.nodes());
  NodeList list;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<std::string_view> line, reader.Next());
    if (!line) break;
    const std::optional<std::uint64_t> node = finder.Find(*line);
    if (!node) continue;
    list.nodes.push_back(*node);
    if (list.nodes.size() * 3 * sizeof(std::uint64_t) > max_bytes / 2) {
      return TooManyError(reader, "names", max_bytes / 2);
    }
  }
  RETURN_IF_ERROR(graph.nodes().status());
  list.unknown = finder.unknown();
  if (list.nodes.empty()) return NobodyKnownError(path, graph, list.unknown);
  std::sort(list.nodes.begin(), list.nodes.end());
  list.nodes.erase(std::unique(list.nodes.begin(), list.nodes.end()), list.nodes.end());
  return list;
}

}  // namespace octavo
