#include "chart/svg_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>

#include "base/escape.h"
#include "chart/ticks.h"
#include "fmt/format.h"

namespace octavo {
namespace {

// In pixels. The y axis is left of a plot, the legend right of it.
constexpr double kWidth = 880;
constexpr double kMargin = 24;
constexpr double kPlotLeft = 96;
constexpr double kPlotWidth = 560;
constexpr double kPlotHeight = 240;
constexpr double kLegendLeft = kPlotLeft + kPlotWidth + 20;
constexpr double kHead = 40;    // of a chart: space for its title
constexpr double kFoot = 64;    // of a chart: space for the ticks and the name of x
constexpr double kSide = 24;    // margin beside the first and the last x
constexpr double kLetter = 7;   // upper bound for the average width of a 12-pixel letter
constexpr double kRoom = 1.25;  // of the largest value: room for the numbers above bars, upright
constexpr int kSteps = 6;

// The palette of Okabe and Ito, which is distinguishable with colour-vision deficiency and on white.
constexpr std::array<std::string_view, 7> kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                      "#56B4E9", "#E69F00", "#444444"};
std::string_view Colour(std::size_t i) { return kColours[i % kColours.size()]; }

double Finite(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

using Sink = std::back_insert_iterator<std::string>;

struct TextStyle {
  std::string_view anchor = "start";
  int size = 12;
  bool bold = false;
  bool upright = false;  // rotated, read upwards
};

void Text(Sink out, double x, double y, std::string_view text, const TextStyle& style = {}) {
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\"{}{}>{}</text>\n", x, y,
                 style.size, style.anchor, style.bold ? " font-weight=\"bold\"" : "",
                 style.upright ? fmt::format(" transform=\"rotate(-90 {:.1f} {:.1f})\"", x, y) : "", XmlText(text));
}

void Line(Sink out, double x1, double y1, double x2, double y2, std::string_view colour) {
  fmt::format_to(out, "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2,
                 colour);
}

std::vector<std::string> Wrapped(std::string_view text, std::size_t letters) {
  std::vector<std::string> lines;
  while (text.size() > letters) {
    std::size_t end = text.rfind(' ', letters);
    if (end == std::string_view::npos || end == 0) end = letters;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + (text[end] == ' ' ? 1 : 0));
  }
  lines.emplace_back(text);
  return lines;
}

// The y axis of a plot whose upper edge is at `top`, from 0 to slightly above the largest value.
class Scale {
 public:
  Scale(double top, double largest) : top_(top), high_(largest > 0 ? kRoom * largest : 1) {}

  double Y(double value) const { return top_ + kPlotHeight * (1 - Finite(value) / high_); }
  double bottom() const { return top_ + kPlotHeight; }

  void Draw(Sink out, std::string_view title, std::string_view name) const {
    Text(out, kPlotLeft, top_ - 14, title, {.size = 14, .bold = true});
    for (const double tick : NiceTicks(high_, kSteps)) {
      Line(out, kPlotLeft, Y(tick), kPlotLeft + kPlotWidth, Y(tick), tick == 0 ? "#444444" : "#dddddd");
      Text(out, kPlotLeft - 8, Y(tick) + 4, ShortNumber(tick), {.anchor = "end"});
    }
    Text(out, kMargin + 4, top_ + kPlotHeight / 2, name, {.anchor = "middle", .upright = true});
  }

 private:
  double top_;
  double high_;
};

void Legend(Sink out, double top, std::size_t i, std::string_view name) {
  const double y = top + 12 + 20 * static_cast<double>(i);
  fmt::format_to(out, "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"10\" fill=\"{}\"/>\n", kLegendLeft, y - 9,
                 Colour(i));
  Text(out, kLegendLeft + 20, y, name);
}

void Draw(Sink out, double top, const LineChart& chart) {
  std::set<double> ticks;
  double largest = 0;
  for (const LineChart::Line& line : chart.lines) {
    for (const auto& [x, y] : line.points) {
      if (Finite(x) > 0) ticks.insert(x);
      largest = std::max(largest, Finite(y));
    }
  }
  const Scale scale(top, largest);
  scale.Draw(out, chart.title, chart.y_axis);
  const auto x_of = [&](double x) {
    if (ticks.size() < 2) return kPlotLeft + kPlotWidth / 2;
    const double low = std::log(*ticks.begin());
    const double share = (std::log(x) - low) / (std::log(*ticks.rbegin()) - low);
    return kPlotLeft + kSide + share * (kPlotWidth - 2 * kSide);
  };
  for (const double x : ticks) {
    Line(out, x_of(x), scale.bottom(), x_of(x), scale.bottom() + 5, "#444444");
    Text(out, x_of(x), scale.bottom() + 20, ShortNumber(x), {.anchor = "middle"});
  }
  Text(out, kPlotLeft + kPlotWidth / 2, scale.bottom() + 42, chart.x_axis, {.anchor = "middle"});
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const LineChart::Line& line = chart.lines[i];
    std::string points;
    for (const auto& [x, y] : line.points) {
      if (Finite(x) > 0) fmt::format_to(std::back_inserter(points), "{:.1f},{:.1f} ", x_of(x), scale.Y(y));
    }
    if (!points.empty()) points.pop_back();
    fmt::format_to(out, "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", points,
                   Colour(i), line.dashed ? " stroke-dasharray=\"6 4\"" : "");
    for (const auto& [x, y] : line.points) {
      if (line.dashed || Finite(x) == 0) continue;
      fmt::format_to(out, "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", x_of(x), scale.Y(y),
                     Colour(i));
    }
    Legend(out, top, i, line.name);
  }
}

// Draws the value above a bar: horizontally if it fits, upright if that fits, otherwise not at all.
void BarValue(Sink out, double middle, double top, double room, double value) {
  const std::string text = ShortNumber(value);
  if (static_cast<double>(text.size()) * kLetter <= room) {
    Text(out, middle, top - 4, text, {.anchor = "middle", .size = 11});
  } else if (room >= 12) {
    Text(out, middle + 4, top - 4, text, {.size = 11, .upright = true});
  }
}

void Draw(Sink out, double top, const BarChart& chart) {
  double largest = 0;
  for (const BarChart::Bars& bars : chart.bars) {
    for (const double value : bars.values) largest = std::max(largest, Finite(value));
  }
  const Scale scale(top, largest);
  scale.Draw(out, chart.title, chart.y_axis);
  const double group = kPlotWidth / static_cast<double>(std::max<std::size_t>(1, chart.groups.size()));
  const double width = 0.84 * group / static_cast<double>(std::max<std::size_t>(1, chart.bars.size()));
  const auto letters = std::max<std::size_t>(1, static_cast<std::size_t>(group / kLetter));
  for (std::size_t g = 0; g < chart.groups.size(); ++g) {
    const double left = kPlotLeft + group * (static_cast<double>(g) + 0.08);
    double y = scale.bottom() + 20;
    for (const std::string& line : Wrapped(chart.groups[g], letters)) {
      Text(out, left + 0.42 * group, y, line, {.anchor = "middle"});
      y += 15;
    }
    for (std::size_t i = 0; i < chart.bars.size(); ++i) {
      if (g >= chart.bars[i].values.size()) continue;
      const double value = Finite(chart.bars[i].values[g]);
      const double x = left + width * static_cast<double>(i);
      fmt::format_to(out,
                     "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
                     "class=\"bar\"/>\n",
                     x, scale.Y(value), 0.94 * width, scale.bottom() - scale.Y(value), Colour(i));
      BarValue(out, x + 0.47 * width, scale.Y(value), width, value);
    }
  }
  if (chart.bars.size() < 2) return;
  for (std::size_t i = 0; i < chart.bars.size(); ++i) Legend(out, top, i, chart.bars[i].name);
}

}  // namespace

std::string XmlText(std::string_view text) {
  std::string out;
  const std::string escaped = Escape(text, 4096);
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    const std::string_view rest = std::string_view(escaped).substr(i);
    if (rest.starts_with('&')) {
      out += "&amp;";
    } else if (rest.starts_with('<')) {
      out += "&lt;";
    } else if (rest.starts_with('>')) {
      out += "&gt;";
    } else if (rest.starts_with('"')) {
      out += "&quot;";
    } else if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      out += "\xEF\xBF\xBD";  // U+FFFE and U+FFFF are valid UTF-8 but not XML characters
      i += 2;
    } else {
      out += rest.front();
    }
  }
  return out;
}

std::string ToSvg(const ChartPage& page) {
  std::string body;
  const Sink out = std::back_inserter(body);
  double y = kMargin + 16;
  Text(out, kMargin, y, page.title, {.size = 18, .bold = true});
  constexpr auto kNoteLetters = static_cast<std::size_t>((kWidth - 2 * kMargin) / kLetter);
  for (const std::string& note : page.notes) {
    for (const std::string& line : Wrapped(note, kNoteLetters)) Text(out, kMargin, y += 20, line);
  }
  for (const LineChart& chart : page.line_charts) {
    Draw(out, y + kHead, chart);
    y += kHead + kPlotHeight + kFoot;
  }
  for (const BarChart& chart : page.bar_charts) {
    Draw(out, y + kHead, chart);
    y += kHead + kPlotHeight + kFoot;
  }
  const double height = std::ceil(y + kMargin);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\" fill=\"#222222\">\n<title>{2}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n{3}</svg>\n",
      kWidth, height, XmlText(page.title), body);
}

}  // namespace octavo
