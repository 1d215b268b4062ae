#include "report/examples.h"

#include <cstddef>
#include <string_view>

#include "base/escape.h"
#include "fmt/format.h"
#include "report/html.h"
#include "report/section.h"

namespace octavo {
namespace {

constexpr std::size_t kNameBytes = 80;

std::string Part(std::string_view title, const std::vector<Example>& examples) {
  if (examples.empty()) return "";
  std::string body;
  for (const Example& example : examples) {
    body +=
        fmt::format("<div><h3>{}</h3>\n<div class=\"scroll\"><table class=\"answers\">\n", HtmlText(example.question));
    for (const Example::Answer& answer : example.answers) {
      body += fmt::format("<tr><td>{}</td><td class=\"words\">{:.3f}</td><td class=\"words\">{}</td></tr>\n",
                          HtmlText(ReadableText(answer.name, kNameBytes)), answer.score, HtmlText(answer.note));
    }
    body += "</table></div></div>\n";
  }
  return Note(title) + fmt::format("<div class=\"tables\">\n{}</div>\n", body);
}

}  // namespace

std::string ExamplesSection(const Examples& examples) {
  const std::string body = Part("The nearest nodes, by cosine, of the first nodes of the map.", examples.neighbors) +
                           Part("The likeliest tails of some held-out edges.", examples.predictions);
  return body.empty() ? body : Section("examples", "Examples", body);
}

}  // namespace octavo
