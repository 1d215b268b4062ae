#include "report/figure.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include "base/escape.h"
#include "chart/ticks.h"
#include "fmt/format.h"
#include "report/html.h"

namespace octavo {
namespace {

// In units of the drawing, about one pixel each. The name of y is above a plot, the ticks and name of x are below it.
constexpr double kNarrow = 520;
constexpr double kWide = 1080;
constexpr double kTop = 26;
constexpr double kBottom = 44;
constexpr double kRight = 16;
constexpr double kPlotHeight = 190;
constexpr double kLetter = 6.6;  // upper bound for the average width of a 12-unit letter
constexpr int kTicksY = 6;
constexpr int kTicksX = 8;
constexpr std::size_t kMostPoints = 600;    // points of a line
constexpr std::size_t kMostMarks = 60;      // lines with more points have no dots
constexpr std::size_t kMostBars = 80;       // bars of a stack
constexpr std::size_t kNameBytes = 40;      // of the name of a row; the <title> has the whole name
constexpr std::size_t kBarNameBytes = 160;  // the same of a bar, which may take several lines
constexpr int kShades = 7;                  // of a heat map, classes h1 to h7

using Sink = std::back_insert_iterator<std::string>;

double TextWidth(std::string_view text) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return kLetter * static_cast<double>(letters);
}

double Widest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, TextWidth(text));
  return width;
}

void Text(Sink out, double x, double y, std::string_view anchor, std::string_view text, std::string_view kind = "") {
  fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor,
                 kind.empty() ? std::string() : fmt::format(" class=\"{}\"", kind), HtmlText(text));
}

void Line(Sink out, double x1, double y1, double x2, double y2, std::string_view kind) {
  fmt::format_to(out, "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2,
                 kind);
}

// Draws a rectangle with its meaning as <title>.
void Box(Sink out, double x, double y, double width, double height, std::string_view kind, std::string_view title) {
  fmt::format_to(out, "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\">", x, y, width,
                 height, kind);
  fmt::format_to(out, "<title>{}</title></rect>\n", HtmlText(title));
}

struct Key {
  std::string name;
  std::string kind;  // class of its mark: the colour, and "band" or "dashed"
};

std::string Legend(const std::vector<Key>& keys) {
  std::string legend;
  for (const Key& key : keys) {
    fmt::format_to(std::back_inserter(legend), "<li><span class=\"key {}\"></span>{}</li>", key.kind,
                   HtmlText(key.name));
  }
  return legend.empty() ? legend : fmt::format("<ul class=\"legend\">{}</ul>", legend);
}

std::string Framed(std::string_view title, const std::vector<Key>& keys, double width, double height,
                   std::string_view drawing) {
  return fmt::format(
      "<figure{5}><figcaption>{0}</figcaption>{1}\n<svg viewBox=\"0 0 {2:.0f} {3:.0f}\" role=\"img\" "
      "aria-label=\"{0}\">\n{4}</svg></figure>\n",
      HtmlText(title), Legend(keys), width, height, drawing, width > kNarrow ? " class=\"wide\"" : "");
}

std::string Empty(std::string_view title) {
  return fmt::format("<figure><figcaption>{}</figcaption><p class=\"note\">no values</p></figure>\n", HtmlText(title));
}

// Linear axes of a plot over whole-numbered x.
class Plot {
 public:
  Plot(double width, double x_low, double x_high, double y_low, double y_high)
      : right_(width - kRight),
        x_low_(x_low),
        x_high_(x_high),
        y_ticks_(TicksBetween(y_low, y_high, kTicksY)),
        y_low_(y_low),
        y_high_(y_high) {
    y_texts_ = TickTexts(y_ticks_);
    left_ = 14 + Widest(y_texts_);
  }

  double X(double x) const {
    return x_high_ > x_low_ ? left_ + 8 + (x - x_low_) / (x_high_ - x_low_) * (right_ - left_ - 16)
                            : (left_ + right_) / 2;
  }
  double Y(double y) const { return kTop + kPlotHeight * (1 - (y - y_low_) / (y_high_ - y_low_)); }
  double Width() const { return right_ - left_; }

  void Draw(Sink out, std::string_view x_axis, std::string_view y_axis) const {
    Text(out, 2, 12, "start", y_axis, "axis");
    for (std::size_t i = 0; i < y_ticks_.size(); ++i) {
      Line(out, left_, Y(y_ticks_[i]), right_, Y(y_ticks_[i]), "grid");
      Text(out, left_ - 6, Y(y_ticks_[i]) + 4, "end", y_texts_[i]);
    }
    Line(out, left_, kTop + kPlotHeight, right_, kTop + kPlotHeight, "base");
    std::vector<double> ticks = TicksBetween(x_low_, x_high_, kTicksX, /*whole=*/true);
    if (ticks.empty()) ticks = {x_low_};
    const std::vector<std::string> texts = TickTexts(ticks);
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      Line(out, X(ticks[i]), kTop + kPlotHeight, X(ticks[i]), kTop + kPlotHeight + 4, "base");
      Text(out, X(ticks[i]), kTop + kPlotHeight + 18, "middle", texts[i]);
    }
    Text(out, right_, kTop + kPlotHeight + 36, "end", x_axis, "axis");
  }

 private:
  double right_;  // right end
  double x_low_;
  double x_high_;
  std::vector<double> y_ticks_;
  std::vector<std::string> y_texts_;
  double y_low_;
  double y_high_;
  double left_ = 0;
};

using Points = std::vector<std::pair<double, double>>;

// Returns the finite points, thinned out: of each group of points that becomes one, the last is kept.
Points Shown(const Points& points) {
  Points finite;
  for (const auto& point : points) {
    if (std::isfinite(point.second)) finite.push_back(point);
  }
  const std::size_t step = (finite.size() + kMostPoints - 1) / kMostPoints;
  if (step < 2) return finite;
  Points thin = {finite.front()};
  for (std::size_t i = step; i < finite.size() - 1; i += step) thin.push_back(finite[i]);
  thin.push_back(finite.back());
  return thin;
}

// Draws a line and its dots with the class `kind`.
void DrawLine(Sink out, const Plot& plot, const Points& points, std::string_view name, const std::string& kind,
              LineFigure::Style style) {
  std::string places;
  for (const auto& [x, y] : points) {
    fmt::format_to(std::back_inserter(places), "{:.1f},{:.1f} ", plot.X(x), plot.Y(y));
  }
  if (places.empty()) return;
  places.pop_back();
  fmt::format_to(out, "<polyline points=\"{}\" class=\"{}\"/>\n", places, kind);
  if (points.size() > kMostMarks || (style == LineFigure::Style::kDashed && points.size() > 1)) return;
  for (const auto& [x, y] : points) {
    fmt::format_to(out, "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" class=\"{}\"><title>{} {}: {}</title></circle>\n",
                   plot.X(x), plot.Y(y), style == LineFigure::Style::kBand ? 5 : 3, kind, HtmlText(name),
                   ShortNumber(x), fmt::format("{:.6g}", y));
  }
}

std::string KindOf(std::size_t colour, LineFigure::Style style) {
  return fmt::format("c{}{}", colour % 7,
                     style == LineFigure::Style::kBand     ? " band"
                     : style == LineFigure::Style::kDashed ? " dashed"
                                                           : "");
}

double WidthOf(bool wide) { return wide ? kWide : kNarrow; }

// Upper end of an axis that starts at 0 and whose largest value is `largest`.
double Above(double largest) { return largest > 0 ? 1.04 * largest : 1; }

}  // namespace

std::string ToHtml(const LineFigure& figure) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double x_low = kInfinity, x_high = -kInfinity, y_low = kInfinity, y_high = -kInfinity;
  std::vector<Points> shown;
  for (const LineFigure::Line& line : figure.lines) {
    shown.push_back(Shown(line.points));
    for (const auto& [x, y] : shown.back()) {
      x_low = std::min(x_low, x);
      x_high = std::max(x_high, x);
      y_low = std::min(y_low, y);
      y_high = std::max(y_high, y);
    }
  }
  if (x_low > x_high) return Empty(figure.title);
  if (figure.from_zero) {
    y_low = std::min(0.0, y_low);
    y_high = y_high > y_low ? y_low + 1.04 * (y_high - y_low) : y_low + 1;
  } else {
    const double margin = y_high > y_low ? 0.05 * (y_high - y_low) : std::max(0.5 * std::abs(y_high), 1e-9);
    y_low -= margin;
    y_high += margin;
  }
  const Plot plot(WidthOf(figure.wide), x_low, x_high, y_low, y_high);
  std::string drawing;
  const Sink out = std::back_inserter(drawing);
  plot.Draw(out, figure.x_axis, figure.y_axis);
  std::vector<Key> keys;
  for (const bool bands : {true, false}) {  // bands are drawn below the lines
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const LineFigure::Line& line = figure.lines[i];
      if ((line.style == LineFigure::Style::kBand) == bands) {
        DrawLine(out, plot, shown[i], line.name, KindOf(i, line.style), line.style);
      }
    }
  }
  for (std::size_t i = 0; i < shown.size() && shown.size() > 1; ++i) {
    keys.push_back({figure.lines[i].name, KindOf(i, figure.lines[i].style)});
  }
  return Framed(figure.title, keys, WidthOf(figure.wide), kTop + kPlotHeight + kBottom, drawing);
}

std::string ToHtml(const StackFigure& figure) {
  if (figure.x.empty()) return Empty(figure.title);
  const std::size_t together = (figure.x.size() + kMostBars - 1) / kMostBars;
  const std::size_t bars = (figure.x.size() + together - 1) / together;
  // The mean over the values of bar `bar`; a value that is not finite counts as 0.
  const auto mean = [&](const StackFigure::Layer& layer, std::size_t bar) {
    double sum = 0;
    const std::size_t end = std::min((bar + 1) * together, figure.x.size());
    for (std::size_t i = bar * together; i < end; ++i) {
      if (i < layer.values.size() && std::isfinite(layer.values[i])) sum += std::max(0.0, layer.values[i]);
    }
    return sum / static_cast<double>(end - bar * together);
  };
  double highest = 0;
  for (std::size_t bar = 0; bar < bars; ++bar) {
    double sum = 0;
    for (const StackFigure::Layer& layer : figure.layers) sum += mean(layer, bar);
    highest = std::max(highest, sum);
    for (const StackFigure::Layer& line : figure.lines) highest = std::max(highest, mean(line, bar));
  }
  const Plot plot(WidthOf(figure.wide), figure.x.front() - 0.5, figure.x.back() + 0.5, 0, Above(highest));
  const double width = plot.Width() / static_cast<double>(bars);
  const double gap = std::min(0.25 * width, 6.0);
  std::string drawing;
  const Sink out = std::back_inserter(drawing);
  plot.Draw(out, figure.x_axis, figure.y_axis);
  std::vector<Key> keys;
  std::vector<Points> lines(figure.lines.size());
  for (std::size_t bar = 0; bar < bars; ++bar) {
    const double first = figure.x[bar * together];
    const double last = figure.x[std::min((bar + 1) * together, figure.x.size()) - 1];
    const std::string when = first == last ? ShortNumber(first) : ShortNumber(first) + " to " + ShortNumber(last);
    const double left = plot.X(first - 0.5);
    const double right = plot.X(last + 0.5);
    double sum = 0;
    for (std::size_t i = 0; i < figure.layers.size(); ++i) {
      const double value = mean(figure.layers[i], bar);
      if (value <= 0) continue;
      Box(out, left + gap / 2, plot.Y(sum + value), right - left - gap, plot.Y(sum) - plot.Y(sum + value),
          fmt::format("c{} fill", i % 7), fmt::format("{} {}: {:.4g}", figure.layers[i].name, when, value));
      sum += value;
    }
    for (std::size_t i = 0; i < lines.size(); ++i)
      lines[i].emplace_back((first + last) / 2, mean(figure.lines[i], bar));
  }
  for (std::size_t i = 0; i < figure.layers.size(); ++i) {
    keys.push_back({figure.layers[i].name, fmt::format("c{} fill", i % 7)});
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string kind = KindOf(figure.layers.size() + i, LineFigure::Style::kDashed);
    DrawLine(out, plot, lines[i], figure.lines[i].name, kind, LineFigure::Style::kDashed);
    keys.push_back({figure.lines[i].name, kind});
  }
  return Framed(figure.title, keys, WidthOf(figure.wide), kTop + kPlotHeight + kBottom, drawing);
}

// Elements and not a drawing: a drawing of the width that names, bars and values need is too wide for a phone.
std::string ToHtml(const BarFigure& figure) {
  if (figure.bars.empty()) return Empty(figure.title);
  std::string rows;
  const Sink out = std::back_inserter(rows);
  for (const BarFigure::Bar& bar : figure.bars) {
    fmt::format_to(out, "<li><div>{}{}</div><div>", HtmlText(ReadableText(bar.name, kBarNameBytes)),
                   bar.note.empty() ? "" : fmt::format(" <span>{}</span>", HtmlText(bar.note)));
    for (std::size_t i = 0; i < bar.values.size(); ++i) {
      const std::string series = i < figure.series.size() ? ", " + figure.series[i] : std::string();
      fmt::format_to(out, "<p title=\"{}\"><i class=\"c{} fill\" style=\"--length:{:.3f}\"></i>{:.3f}</p>",
                     HtmlText(fmt::format("{}{}: {:.3f}", bar.name, series, bar.values[i])), i % 7,
                     std::clamp(bar.values[i] / figure.most, 0.0, 1.0), bar.values[i]);
    }
    rows += "</div></li>\n";
  }
  std::vector<Key> keys;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    keys.push_back({figure.series[i], fmt::format("c{} fill", i % 7)});
  }
  return fmt::format(
      "<figure class=\"wide\"><figcaption>{}</figcaption>{}\n<p class=\"note\">{}; the longest bar that is possible is "
      "{}.</p>\n<ul class=\"bars\">\n{}</ul></figure>\n",
      HtmlText(figure.title), Legend(keys), HtmlText(figure.axis), ShortNumber(figure.most), rows);
}

std::string ToHtml(const HeatFigure& figure) {
  if (figure.cells.empty()) return Empty(figure.title);
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  std::uint64_t most = 1;
  for (const HeatFigure::Cell& cell : figure.cells) {
    low = std::min(low, cell.from);
    high = std::max(high, cell.to);
    most = std::max(most, cell.count);
  }
  // As many ticks as fit: 1, 2 and 5 times powers of ten, or those of a linear scale if there are too few.
  std::vector<double> ticks;
  for (double power = std::pow(10.0, std::floor(std::log10(low))); power <= high; power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor * power >= low && factor * power <= high) ticks.push_back(factor * power);
    }
  }
  if (ticks.size() < 3) ticks = TicksBetween(low, high, kTicksY);
  if (ticks.size() > 9)
    std::erase_if(ticks, [](double t) { return std::abs(std::remainder(std::log10(t), 1.0)) > 1e-9; });
  std::vector<std::string> texts;
  for (const double tick : ticks) texts.push_back(ShortNumber(tick));
  constexpr double kHeight = 250;
  const double left = 14 + Widest(texts);
  const double right = WidthOf(figure.wide) - kRight;
  const double width = (right - left) / static_cast<double>(std::max<std::size_t>(1, figure.columns.size()));
  const auto y_of = [&](double y) { return kTop + kHeight * (1 - std::log(y / low) / std::log(high / low)); };
  std::string drawing;
  const Sink out = std::back_inserter(drawing);
  Text(out, 2, 12, "start", figure.y_axis, "axis");
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    Line(out, left, y_of(ticks[i]), right, y_of(ticks[i]), "grid");
    Text(out, left - 6, y_of(ticks[i]) + 4, "end", texts[i]);
  }
  for (const HeatFigure::Cell& cell : figure.cells) {
    const double share = most > 1 ? std::log(static_cast<double>(cell.count)) / std::log(static_cast<double>(most)) : 1;
    const int shade = 1 + static_cast<int>(share * (kShades - 1) + 0.5);
    Box(out, left + width * static_cast<double>(cell.column), y_of(cell.to), width, y_of(cell.from) - y_of(cell.to),
        fmt::format("h{}", shade),
        fmt::format("{} {}, {} {:.3g} to {:.3g}: {} {}", figure.x_axis, figure.columns[cell.column], figure.y_axis,
                    cell.from, cell.to, ShortNumber(static_cast<double>(cell.count)), figure.counted));
  }
  Line(out, left, kTop + kHeight, right, kTop + kHeight, "base");
  double free = 0;  // right end of the last text
  for (std::size_t i = 0; i < figure.columns.size(); ++i) {
    const double middle = left + width * (static_cast<double>(i) + 0.5);
    const double half = TextWidth(figure.columns[i]) / 2;
    if (middle - half < free || middle + half > right + kRight) continue;
    Text(out, middle, kTop + kHeight + 18, "middle", figure.columns[i]);
    free = middle + half + 6;
  }
  Text(out, right, kTop + kHeight + 36, "end", figure.x_axis, "axis");
  const std::vector<Key> keys = {
      {"1", "h1"},
      {fmt::format("{} {}", ShortNumber(static_cast<double>(most)), figure.counted), fmt::format("h{}", kShades)}};
  return Framed(figure.title, keys, right + kRight, kTop + kHeight + kBottom, drawing);
}

std::string ToHtml(const SpanFigure& figure) {
  if (figure.rows.empty()) return Empty(figure.title);
  const double row = std::clamp(360.0 / static_cast<double>(figure.rows.size()), 5.0, 18.0);
  std::vector<std::string> names;
  for (const SpanFigure::Row& each : figure.rows) names.push_back(ReadableText(each.name, kNameBytes));
  const double left = 14 + Widest(names);
  const double width = kWide - kRight - left - 10;
  const double bottom = kTop + row * static_cast<double>(names.size());
  std::string drawing;
  const Sink out = std::back_inserter(drawing);
  Text(out, 2, 12, "start", figure.y_axis, "axis");
  for (int percent = 0; percent <= 100; percent += 10) {
    const double x = left + width * percent / 100;
    Line(out, x, kTop, x, bottom, "grid");
    Text(out, x, bottom + 18, "middle", fmt::format("{}", percent));
  }
  double free = 0;  // lower end of the last name
  for (std::size_t i = 0; i < figure.rows.size(); ++i) {
    const double y = kTop + row * static_cast<double>(i);
    if (const double baseline = y + row / 2 + 4; baseline - 11 >= free) {
      Text(out, left - 6, baseline, "end", names[i]);
      free = baseline;
    }
    for (const auto& [from, to] : figure.rows[i].spans) {
      Box(out, left + width * from, y + 0.5, width * (to - from), row - 1, "c0 fill",
          fmt::format("{}: {:.1f} to {:.1f} %", figure.rows[i].name, 100 * from, 100 * to));
    }
  }
  Line(out, left, bottom, left + width, bottom, "base");
  Text(out, left + width, bottom + 36, "end", figure.x_axis, "axis");
  return Framed(figure.title, {}, kWide, bottom + kBottom, drawing);
}

}  // namespace octavo
