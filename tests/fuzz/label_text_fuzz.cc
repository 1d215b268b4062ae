// Files of labels, for a graph of the nodes "a", "b" and "New York". The input is the file.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "evaluate/node_labels.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/small_graph.h"

namespace octavo {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 20;
using Named = std::map<std::string, std::set<std::string>>;

const Graph& TheGraph() {
  static const std::unique_ptr<Graph> graph = [] {
    SmallGraph small;
    small.names = {"a", "b", "New York"};
    return WriteGraph(small, ScratchFolder() / "graph");
  }();
  return *graph;
}

// An independent reader of plain text; empty if a line is malformed.
std::optional<Named> ReadNaively(std::string text, std::uint64_t& unknown) {
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  Named named;
  while (!text.empty()) {
    std::string line = text.substr(0, text.find('\n'));
    text.erase(0, line.size() + 1);
    if (line.ends_with('\r')) line.pop_back();
    if (line.find('\0') != std::string::npos) return std::nullopt;
    if (line.find_first_not_of(" \t") == std::string::npos || line[0] == '#' || line[0] == '%') continue;
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos || tab == 0) return std::nullopt;
    const std::string name = line.substr(0, tab);
    std::set<std::string> labels;
    std::string word;
    for (const char c : line.substr(tab) + " ") {
      if (c != ' ' && c != '\t') {
        word += c;
      } else if (!word.empty()) {
        if (word.size() > 1024) return std::nullopt;
        labels.insert(std::exchange(word, {}));
      }
    }
    if (labels.empty()) return std::nullopt;
    const bool known = name == "a" || name == "b" || name == "New York";
    unknown += known ? 0 : 1;
    if (known) named[name].merge(labels);
  }
  if (named.empty()) return std::nullopt;
  return named;
}

void CheckLabels(const NodeLabels& labels) {
  MUST(labels.offsets.size() == labels.nodes.size() + 1 && labels.offsets.front() == 0);
  MUST(labels.offsets.back() == labels.labels.size());
  MUST(std::is_sorted(labels.names.begin(), labels.names.end()));
  std::set<std::uint32_t> used(labels.labels.begin(), labels.labels.end());
  MUST(used.size() == labels.names.size() && *used.rbegin() + 1 == labels.names.size());
}

}  // namespace
}  // namespace octavo

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace octavo;
  static MemoryFile file;
  const std::string text(reinterpret_cast<const char*>(data), size);
  file.Fill(text);
  const absl::StatusOr<NodeLabels> labels = ReadNodeLabels(TheGraph(), file.path(), kMaxBytes);
  if (!labels.ok()) CheckError(labels.status(), {ErrorKind::kInput, ErrorKind::kUsage});
  if (labels.ok()) CheckLabels(*labels);
  const absl::StatusOr<NodeList> list = ReadNodeList(TheGraph(), file.path(), kMaxBytes);
  if (!list.ok()) CheckError(list.status(), {ErrorKind::kInput, ErrorKind::kUsage});

  const bool compressed = text.starts_with("\x1f\x8b") || text.starts_with("\x28\xb5\x2f\xfd") ||
                          (text.size() > 3 && (text[0] & 0xF0) == 0x50 && text.compare(1, 3, "\x2a\x4d\x18") == 0);
  if (compressed) return 0;
  std::uint64_t unknown = 0;
  const std::optional<Named> expected = ReadNaively(text, unknown);
  MUST(labels.ok() == expected.has_value());
  if (!expected) return 0;
  Named found;
  for (std::size_t i = 0; i < labels->nodes.size(); ++i) {
    std::set<std::string>& own = found[std::string(TheGraph().nodes().Name(NodeId{labels->nodes[i]}))];
    for (const std::uint32_t label : labels->Of(i)) own.insert(labels->names[label]);
  }
  MUST(found == *expected);
  MUST(labels->unknown.lines == unknown);
  return 0;
}
