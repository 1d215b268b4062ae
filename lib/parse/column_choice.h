// Columns of an edge list that are chosen by their numbers or titles, from lines that may have more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "parse/input_format.h"

namespace octavo {

// Of head, relation, tail and weight, in this order.
struct ColumnChoice {
  struct Pick {
    std::size_t number = 0;  // from 1; 0: by title
    std::string title = {};  // both empty: not chosen

    bool given() const { return number > 0 || !title.empty(); }
  };
  std::array<Pick, 4> picks{};
  bool by_title = false;  // at least one; then the first data line of each file has the titles

  bool given() const { return picks[0].given(); }
};

// Parses a list of
// - numbers, counted from 1: 2 of them are head,tail, 3 head,relation,tail, 4 head,relation,tail,weight;
// - titles whose meaning is known, such as source,target,weight, or the titles of head and tail, whatever they are;
// - NAME=NUMBER or NAME=TITLE, where NAME is head, relation, tail or weight.
// Empty if it is a list for ParseColumns (parse/input_format.h). A usage error says what is missing or not known.
absl::StatusOr<std::optional<ColumnChoice>> ParseColumnChoice(std::string_view text);

// Returns the fields of the first data line of `text`, "from, to, weight", for messages; empty if there is none.
// REQUIRES: tsv, csv or blank
std::string FirstLineText(std::string_view text, const FileFormat& format);

// Returns the list for ParseColumnChoice that reads a line of titles by the titles, if all that is needed is known, or
// if the third column has `weights` and the titles are plain words: then the first three are head, tail and weight.
std::optional<std::string> ColumnsOfTitles(std::string_view line, InputFormat format, char separator,
                                           bool weights = false);

struct ChosenColumns {
  Columns columns;
  std::size_t header_lines = 0;  // up to the titles; 0 without
};

// Finds the columns in the first data line of `text`, which follows `lines_before` lines of the file `name`. An input
// error if a title or number is missing, or if there is no data line.
// REQUIRES: tsv, csv or blank
absl::StatusOr<ChosenColumns> FindColumns(const ColumnChoice& choice, std::string_view text, const FileFormat& format,
                                          std::uint64_t lines_before, std::string_view name);

}  // namespace octavo
