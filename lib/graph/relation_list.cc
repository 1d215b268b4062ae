#include "graph/relation_list.h"

#include <optional>

#include "base/escape.h"
#include "base/number.h"
#include "base/status.h"
#include "fmt/format.h"

namespace octavo {

absl::StatusOr<std::vector<RelationEntry>> ParseRelationList(std::string_view text, std::string_view file_name) {
  std::vector<RelationEntry> relations;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t tab = line.rfind('\t');
    const auto count = tab == std::string_view::npos ? std::nullopt : ParseWholeNumber(line.substr(tab + 1));
    if (end == std::string_view::npos || !count) {
      return CorruptError(fmt::format("{}:{}: found \"{}\"; expected a name, a tab, its count and a line end",
                                      file_name, relations.size() + 1, Escape(line)));
    }
    const std::string_view name = line.substr(0, tab);
    if (!relations.empty() && relations.back().name >= name) {
      return CorruptError(fmt::format("{}:{}: \"{}\" after \"{}\"; expected names in ascending order", file_name,
                                      relations.size() + 1, Escape(name), Escape(relations.back().name)));
    }
    relations.push_back({std::string(name), *count});
    text.remove_prefix(end + 1);
  }
  return relations;
}

}  // namespace octavo
