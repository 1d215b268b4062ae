#include "parse/column_choice.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/status.h"
#include "fmt/format.h"
#include "parse/field_splitter.h"

namespace octavo {
namespace {

constexpr std::array<std::string_view, 4> kRoles = {"head", "relation", "tail", "weight"};
constexpr std::array<int Columns::*, 4> kMembers = {&Columns::head, &Columns::relation, &Columns::tail,
                                                    &Columns::weight};

// Titles in lower case, and the index of their role.
constexpr std::pair<std::string_view, std::size_t> kTitles[] = {
    {"head", 0},      {"source", 0},    {"src", 0},        {"from", 0},      {"subject", 0},     {"head_id", 0},
    {"source_id", 0}, {"from_id", 0},   {"fromnodeid", 0}, {"start", 0},     {":start_id", 0},   {"relation", 1},
    {"rel", 1},       {"predicate", 1}, {"type", 1},       {"edge_type", 1}, {"relation_id", 1}, {":type", 1},
    {"tail", 2},      {"target", 2},    {"dst", 2},        {"to", 2},        {"object", 2},      {"destination", 2},
    {"dest", 2},      {"tgt", 2},       {"tail_id", 2},    {"target_id", 2}, {"to_id", 2},       {"tonodeid", 2},
    {"end", 2},       {":end_id", 2},   {"weight", 3},     {"count", 3},     {"score", 3},       {"strength", 3},
    {"user", 0},      {"user_id", 0},   {"userid", 0},     {"item", 2},      {"item_id", 2},     {"itemid", 2},
    {"movie", 2},     {"movie_id", 2},  {"movieid", 2},    {"product", 2},   {"product_id", 2},  {"productid", 2},
    {"rating", 3}};

std::string Lower(std::string_view text) { return absl::AsciiStrToLower(absl::string_view(text.data(), text.size())); }

std::optional<std::size_t> RoleOf(std::string_view title) {
  const std::string lower = Lower(title);
  for (const auto& [known, role] : kTitles) {
    if (known == lower) return role;
  }
  return std::nullopt;
}

bool IsDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> Items(std::string_view text) {
  return absl::StrSplit(absl::string_view(text.data(), text.size()), ',');
}

absl::Status Refuse(std::string_view text, std::string_view why) {
  return UsageError(fmt::format("--columns: found \"{}\", {}", Escape(text), why));
}

bool AreTitles(const std::vector<std::string>& items) {
  return std::ranges::all_of(items, [](const std::string& item) {
    return !item.empty() && item != "-" && item.find('=') == std::string::npos && !IsDigits(item);
  });
}

// Whether two titles can only be those of head and tail, though not both words are known.
bool AreHeadAndTail(const std::vector<std::string>& items) {
  return items.size() == 2 && AreTitles(items) && RoleOf(items[0]).value_or(0) == 0 &&
         RoleOf(items[1]).value_or(2) == 2;
}

// How the list could be said of three titles whose meaning is not known.
std::string WithRoles(const std::vector<std::string>& items) {
  if (items.size() != 3 || !AreTitles(items)) return "";
  return fmt::format("; that is head={0},relation={1},tail={2} or head={0},tail={1},weight={2}", items[0], items[1],
                     items[2]);
}

// Fills a pick from a number or title.
bool SetPick(ColumnChoice::Pick& pick, const std::string& value) {
  if (pick.given() || value.empty()) return false;
  if (!IsDigits(value)) {
    pick.title = value;
    return true;
  }
  const std::optional<std::uint64_t> number = ParseWholeNumber(value);
  if (!number || *number < 1 || *number > kMaxColumns) return false;
  pick.number = *number;
  return true;
}

absl::Status Check(const ColumnChoice& choice, std::string_view text) {
  if (!choice.picks[0].given() || !choice.picks[2].given()) {
    return Refuse(text, "expected a column for head and one for tail, such as head=source,tail=target");
  }
  for (std::size_t i = 0; i < choice.picks.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (choice.picks[i].number == 0 || choice.picks[i].number != choice.picks[j].number) continue;
      return Refuse(text, "expected each column once");
    }
  }
  return absl::OkStatus();
}

// The first data line as fields, and its number from 1 in `text`; 0 if there is none.
std::size_t FirstFields(std::string_view text, InputFormat format, char separator, Fields& fields,
                        std::deque<std::string>& unescaped) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view data = TakeLine(text);
    if (KindOfLine(data) != LineKind::kData) continue;
    SplitFields(data, format, fields, unescaped, separator);
    return line;
  }
  return 0;
}

std::optional<int> FindTitle(const Fields& fields, const std::string& title) {
  const auto* const end = fields.values.begin() + static_cast<std::ptrdiff_t>(std::min(fields.count, kMaxColumns));
  const auto* at = std::find(fields.values.begin(), end, title);
  if (at == end) {
    at = std::find_if(fields.values.begin(), end, [&](std::string_view field) { return Lower(field) == Lower(title); });
  }
  return at == end ? std::nullopt : std::optional(static_cast<int>(at - fields.values.begin()));
}

std::string TitleList(const Fields& fields) {
  std::string list;
  for (std::size_t i = 0; i < std::min(fields.count, kMaxColumns); ++i) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", Escape(fields.values[i], 40));
  }
  return list;
}

}  // namespace

absl::StatusOr<std::optional<ColumnChoice>> ParseColumnChoice(std::string_view text) {
  const std::vector<std::string> items = Items(text);
  const auto is_role = [](const std::string& item) { return item == "-" || std::ranges::count(kRoles, item) > 0; };
  if (std::ranges::all_of(items, is_role)) return std::optional<ColumnChoice>();
  ColumnChoice choice;
  if (std::ranges::all_of(items, IsDigits)) {
    if (items.size() < 2 || items.size() > 4) return Refuse(text, "expected 2, 3 or 4 numbers of columns");
    constexpr std::size_t kOfTwo[] = {0, 2};
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!SetPick(choice.picks[items.size() == 2 ? kOfTwo[i] : i], items[i])) {
        return Refuse(text, fmt::format("expected numbers of columns from 1 to {}", kMaxColumns));
      }
    }
    RETURN_IF_ERROR(Check(choice, text));
    return choice;
  }
  if (AreHeadAndTail(items)) {
    choice.picks[0].title = items[0];
    choice.picks[2].title = items[1];
    choice.by_title = true;
    return choice;
  }
  for (const std::string& item : items) {
    const std::size_t equals = item.find('=');
    const std::string name = item.substr(0, equals);
    const std::optional<std::size_t> role =
        equals == std::string::npos ? RoleOf(item)
        : std::ranges::count(kRoles, name) > 0
            ? std::optional(static_cast<std::size_t>(std::ranges::find(kRoles, name) - kRoles.begin()))
            : std::nullopt;
    if (!role) {
      return Refuse(text,
                    fmt::format("expected a list such as head,relation,tail,weight (- skips a column), or columns "
                                "by number or title: head=1,tail=3,weight={}{}",
                                equals == std::string::npos ? "TITLE" : "4", WithRoles(items)));
    }
    if (!SetPick(choice.picks[*role], equals == std::string::npos ? item : item.substr(equals + 1))) {
      return Refuse(text, fmt::format("expected one column for {}, by its number or title", kRoles[*role]));
    }
    choice.by_title = choice.by_title || choice.picks[*role].number == 0;
  }
  RETURN_IF_ERROR(Check(choice, text));
  return choice;
}

std::string FirstLineText(std::string_view text, const FileFormat& format) {
  Fields fields;
  std::deque<std::string> unescaped;
  const std::size_t line = FirstFields(text, format.format, format.separator, fields, unescaped);
  return line == 0 || !fields.complaint.empty() ? "" : TitleList(fields);
}

std::optional<std::string> ColumnsOfTitles(std::string_view line, InputFormat format, char separator, bool weights) {
  Fields fields;
  std::deque<std::string> unescaped;
  SplitFields(line, format, fields, unescaped, separator);
  if (!fields.complaint.empty() || fields.count > kMaxColumns) return std::nullopt;
  std::array<std::string_view, 4> titles;
  for (std::size_t i = 0; i < fields.count; ++i) {
    const std::optional<std::size_t> role = RoleOf(fields.values[i]);
    if (role && titles[*role].empty()) titles[*role] = fields.values[i];
  }
  std::string list;
  if (!titles[0].empty() && !titles[2].empty()) {
    for (const std::string_view title : titles) {
      if (!title.empty()) list += fmt::format("{}{}", list.empty() ? "" : ",", title);
    }
  } else if (weights && fields.count >= 3) {
    list = fmt::format("head={},tail={},weight={}", fields.values[0], fields.values[1], fields.values[2]);
  }
  // head,tail is a list of ParseColumns and says nothing of titles; a title with a comma is none of the list.
  const absl::StatusOr<std::optional<ColumnChoice>> choice = ParseColumnChoice(list);
  return !list.empty() && choice.ok() && *choice ? std::optional(list) : std::nullopt;
}

absl::StatusOr<ChosenColumns> FindColumns(const ColumnChoice& choice, std::string_view text, const FileFormat& format,
                                          std::uint64_t lines_before, std::string_view name) {
  Fields fields;
  std::deque<std::string> unescaped;
  const std::size_t line = FirstFields(text, format.format, format.separator, fields, unescaped);
  const auto fail = [&](const std::string& message) {
    return InputError(fmt::format("{}:{}: {}", name, lines_before + line, message));
  };
  if (line == 0) return InputError(fmt::format("{}: found no line of columns so far, expected one", name));
  if (!fields.complaint.empty()) return fail(fmt::format("found {}, expected columns", fields.complaint));
  if (fields.count > kMaxColumns) return fail(fmt::format("found more than {} columns", kMaxColumns));
  ChosenColumns chosen;
  chosen.columns.count = fields.count;
  for (std::size_t role = 0; role < choice.picks.size(); ++role) {
    const ColumnChoice::Pick& pick = choice.picks[role];
    if (!pick.given()) continue;
    const std::optional<int> position =
        pick.number > 0 ? std::optional(static_cast<int>(pick.number) - 1) : FindTitle(fields, pick.title);
    if (!position) {
      return fail(
          fmt::format("found the titles {}, expected \"{}\" of --columns", TitleList(fields), Escape(pick.title)));
    }
    if (*position >= static_cast<int>(fields.count)) {
      return fail(
          fmt::format("found {} columns, expected at least {}, as --columns names that", fields.count, pick.number));
    }
    for (std::size_t other = 0; other < role; ++other) {
      if (chosen.columns.*kMembers[other] != *position) continue;
      return fail(fmt::format("--columns takes column {} twice, expected each column once", *position + 1));
    }
    chosen.columns.*kMembers[role] = *position;
  }
  chosen.header_lines = choice.by_title ? line : 0;
  return chosen;
}

}  // namespace octavo
