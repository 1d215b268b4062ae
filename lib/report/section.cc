#include "report/section.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "fmt/format.h"
#include "report/html.h"

namespace octavo {
namespace {

// Longer words, such as paths, may break anywhere to fit a narrow screen; numbers may not.
constexpr std::size_t kMostWholeLetters = 20;

bool HasLongWord(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > kMostWholeLetters) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace

std::string Whole(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string Plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", Whole(count), noun, count == 1 ? "" : noun.ends_with("tch") ? "es" : "s");
}

std::string Note(std::string_view text) { return fmt::format("<p class=\"note\">{}</p>\n", HtmlText(text)); }

std::string Section(std::string_view id, std::string_view title, std::string_view body) {
  return fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id, HtmlText(title), body);
}

std::string Figures(std::vector<Figure> figures) {
  std::string body;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const auto draw = [&](auto& figure) {
      if constexpr (requires { figure.wide; }) figure.wide = i == 0 && figures.size() % 2 == 1;
      body += ToHtml(figure);
    };
    std::visit(draw, figures[i]);
  }
  return fmt::format("<div class=\"figures\">\n{}</div>\n", body);
}

std::string Table(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::string body;
  for (const auto& [name, value] : rows) {
    fmt::format_to(std::back_inserter(body), "<tr><th scope=\"row\">{}</th><td{}>{}</td></tr>\n", HtmlText(name),
                   HasLongWord(value) ? "" : " class=\"words\"", HtmlText(value));
  }
  return fmt::format("<table>\n{}</table>\n", body);
}

}  // namespace octavo
